#!/usr/bin/env bash
# Tries the recorder on real GPUs: the plugin under NCCL, healthy and hung, and what it costs. Prints a table, in under ten
# minutes, most of it the limits of what does not end.
#
#   gpu-check.sh pack FOLDER      builds everything and puts it into FOLDER, with this script: FOLDER alone is what a machine
#                                 with GPUs needs, and NCCL
#   gpu-check.sh [run]            runs the checks with what lies beside the script, else with what is built in target/release
#
# Variables: NCCL_LIBRARY (folder or file of libnccl.so.2; else it is looked for), GPU_CHECK_PROGRAM, GPU_CHECK_PLUGIN and
# GPU_CHECK_HANGSCOPE (other files than the usual ones), GPU_CHECK_COUNT (elements of what has to hang: small messages and
# small calls that do not fit can end), GPU_CHECK_LIMIT (seconds for each check).
#
# Ends with 0 if all checks passed, 1 if one failed, 77 if there is no GPU or no NCCL to check with.

set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
limit=${GPU_CHECK_LIMIT:-40}
failed=0

pack() {
    local folder=$1 root
    root=$(dirname "$here")
    cargo build --release --manifest-path "$root/Cargo.toml" \
        --package hangscope --package hangscope-nccl-plugin --package hangscope-nccl-workload || exit 1
    local built=${CARGO_TARGET_DIR:-$root/target}/release
    mkdir -p "$folder" || exit 1
    cp "$built/hangscope" "$built/hangscope-nccl-workload" "${BASH_SOURCE[0]}" "$folder/" || exit 1
    cp "$built/libnccl_profiler_hangscope.so" "$folder/libnccl-profiler-hangscope.so" || exit 1
    echo "packed into $folder; on the machine with GPUs: $(basename "$folder")/gpu-check.sh"
}

# The first of these files that is there.
first_of() {
    local file
    for file in "$@"; do
        if [ -e "$file" ]; then
            echo "$file"
            return
        fi
    done
}

# check | result | what was seen
row() {
    printf '%-34s | %-6s | %s\n' "$1" "$2" "$3"
    if [ "$2" = FAILED ]; then failed=1; fi
}

rows_without_gpu() {
    local name
    for name in "NCCL" "plugin, one rank" "two ranks, 20 all_reduces" "messages in groups" "a skipped collective" \
        "a rank that sleeps" "a receive left out" "graph capture" "cost of 1,000 small all_reduces"; do
        row "$name" "no GPU" "not run"
    done
}

# Runs the program in a fresh folder: job NAME VARIABLES... -- ARGUMENTS...; sets folder, output and status.
job() {
    local name=$1 variables=()
    shift
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    shift
    folder=$work/$name
    mkdir -p "$folder"
    output=$folder.log
    env NCCL_PROFILER_PLUGIN="$plugin" HANGSCOPE_OUT="$folder" HANGSCOPE_TIMEOUT=5s "${variables[@]}" \
        "$program" --limit "$limit" ${nccl:+--nccl "$nccl"} "$@" >"$output" 2>&1
    status=$?
}

dumps() {
    find "$folder" -name 'comm_lib_trace_rank_*' | wc -l
}

last_line() {
    grep -v '^$' "$output" | tail -1 | cut -c1-120
}

# The verdict and whom the first finding blames.
verdict() {
    "$hangscope" analyze --format json "$folder" 2>/dev/null |
        tr ',{' '\n\n' | sed -n 's/^ *"\(verdict\|suspects\)": *"\([^"]*\)".*/\2/p' | head -2 | paste -sd' '
}

# A job that ends: it must, and leave so many dumps in which nothing is wrong.
expect_end() {
    local name=$1 count=$2 said
    said=$(verdict)
    if [ $status -eq 0 ] && [ "$(dumps)" -eq "$count" ] && [[ $said == no_fault* || $said == nothing_pending* ]]; then
        row "$name" ok "$count dumps, $said"
    else
        row "$name" FAILED "status $status, $(dumps) dumps, ${said:-no verdict}: $(last_line)"
    fi
}

# A job that hangs: all ranks must dump, and the verdict be right.
expect_verdict() {
    local name=$1 count=$2 wanted=$3 said
    said=$(verdict)
    if [ "$(dumps)" -eq "$count" ] && [ "$said" = "$wanted" ]; then
        row "$name" ok "$count dumps, $said"
    else
        row "$name" FAILED "status $status, $(dumps) dumps, ${said:-no verdict}, expected $wanted: $(last_line)"
    fi
}

# As above, where several kinds say the same.
expect_kind() {
    local name=$1 count=$2 wanted=$3 said
    said=$(verdict)
    if [ "$(dumps)" -eq "$count" ] && echo "$said" | grep -q "^\($wanted\)"; then
        row "$name" ok "$count dumps, $said"
    else
        row "$name" FAILED "status $status, $(dumps) dumps, ${said:-no verdict}: $(last_line)"
    fi
}

nanoseconds() {
    sed -n 's/^small all_reduces: .* of \([0-9]*\) ns$/\1/p' "$output"
}

checks() {
    local found
    found=$("$program" --check ${nccl:+--nccl "$nccl"} 2>&1)
    status=$?
    if [ $status -eq 77 ]; then
        rows_without_gpu
        echo "$found" | tail -1
        exit 77
    fi
    row "NCCL" "$([ $status -eq 0 ] && echo ok || echo FAILED)" "$(echo "$found" | paste -sd' ')"

    local at_exit=HANGSCOPE_DUMP_AT_EXIT=1
    job one $at_exit -- --ranks 1
    expect_end "plugin, one rank" 1

    job two $at_exit -- --ranks 2 --rounds 10
    local shared=()
    if [ $status -ne 0 ] && [ -z "${NCCL_HOSTID:-}" ]; then
        # From 2.30 several ranks may share a GPU as what they are.
        row "two ranks as two hosts" "no" "$(last_line)"
        shared=(NCCL_MULTI_RANK_GPU_ENABLE=1)
        job two-shared $at_exit "${shared[@]}" -- --ranks 2 --rounds 10
    fi
    expect_end "two ranks, 20 all_reduces" 2
    if grep -rqs 'send 0->1' "$folder" && grep -rqs 'recv 0<-1' "$folder"; then
        row "messages in groups" ok "with their peers"
    else
        row "messages in groups" FAILED "no message with its peer in the dumps"
    fi

    # Calls that do not fit can end with nonsense where all of them are small. Of two ranks that do different things, the
    # dumps tell that they do, not which of them is right.
    local large=(--synchronous --count "${GPU_CHECK_COUNT:-16777216}")
    job skip "${shared[@]}" -- --ranks 2 --skip 1:8 "${large[@]}"
    expect_kind "a skipped collective" 2 'skipped_collective\|op_mismatch\|order_mismatch\|extra_collective'

    job sleep "${shared[@]}" -- --ranks 2 --sleep 1:8
    expect_verdict "a rank that sleeps" 2 "missing_rank 1"

    job no-recv "${shared[@]}" -- --ranks 2 --no-recv 0:5 "${large[@]}"
    expect_verdict "a receive left out" 2 "p2p_unmatched 0"

    job graph $at_exit "${shared[@]}" -- --ranks 2 --rounds 1 --replays 3
    expect_end "graph capture" 2

    local off on channels
    job cost-off NCCL_PROFILER_PLUGIN=none "${shared[@]}" -- --ranks 2 --rounds 1 --small 1000
    off=$(nanoseconds)
    job cost-on "${shared[@]}" -- --ranks 2 --rounds 1 --small 1000
    on=$(nanoseconds)
    job cost-channels HANGSCOPE_NCCL_KERNELCH=1 "${shared[@]}" -- --ranks 2 --rounds 1 --small 1000
    channels=$(nanoseconds)
    local result=FAILED
    if [ -n "$off" ] && [ -n "$on" ] && [ -n "$channels" ]; then result=ok; fi
    row "cost of 1,000 small all_reduces" $result "ns each: without ${off:-?}, plugin ${on:-?}, with channels ${channels:-?}"
}

case ${1:-run} in
pack)
    pack "${2:?gpu-check.sh pack FOLDER}"
    exit
    ;;
run) ;;
*)
    echo "gpu-check.sh [run | pack FOLDER]" >&2
    exit 2
    ;;
esac

built=${CARGO_TARGET_DIR:-$(dirname "$here")/target}/release
program=${GPU_CHECK_PROGRAM:-$(first_of "$here/hangscope-nccl-workload" "$built/hangscope-nccl-workload")}
plugin=${GPU_CHECK_PLUGIN:-$(first_of "$here/libnccl-profiler-hangscope.so" "$built/libnccl_profiler_hangscope.so")}
hangscope=${GPU_CHECK_HANGSCOPE:-$(first_of "$here/hangscope" "$built/hangscope")}
nccl=${NCCL_LIBRARY:-}
if [ -z "$program" ] || [ -z "$plugin" ] || [ -z "$hangscope" ]; then
    echo "something is not built: gpu-check.sh pack FOLDER builds everything" >&2
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
row "check" "result" "seen"
checks
exit $failed
