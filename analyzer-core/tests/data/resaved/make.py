"""Writes the files of this folder: one dump, saved by Python's pickle in every protocol, and the same values as JSON.

    python3 make.py

The dump is made up. Frames, texts and lists are shared between entries as they are in a dump that was loaded and saved again.
"""
import gzip
import json
import os
import pickle

HERE = os.path.dirname(os.path.abspath(__file__))
WORLD = 1100  # more than the 1,000 items that Python writes at a time


def frame(name, filename, line):
    return {"name": name, "filename": filename, "line": line}


def dump(entries):
    outer = [frame("train", "/opt/train/main.py", 41), frame("<module>", "/opt/train/main.py", 90)]
    inner = [frame("all_reduce", "/venv/torch/distributed/distributed_c10d.py", 2810)]
    inner.append(frame("forward", "/opt/train/modèle.py", 12))
    made = []
    for at in range(entries):
        entry = {
            "frames": [inner[at % 2]] + outer,
            "record_id": 7 + at,
            "pg_id": 0,
            "process_group": ("0", "default_pg"),
            "thread_name": "python",
            "thread_id": "139930642675392",
            "collective_seq_id": 300 + at,
            "p2p_seq_id": 0,
            "op_id": 70000 + at,
            "profiling_name": "nccl:all_to_all" if at % 3 == 2 else "nccl:all_reduce",
            "time_created_ns": 1795976860191356753 + at,
            "duration_ms": 2.74912691116333,
            "input_sizes": [[32, 128]] if at % 2 else [[], [4]],
            "input_dtypes": ["Float"] if at % 2 else ["Float", "Half"],
            "output_sizes": [[32, 128]],
            "output_dtypes": ["Float"],
            "state": "completed",
            "time_discovered_started_ns": None,
            "time_discovered_completed_ns": 1795976860194326216 + at,
            "retired": True,
            "timeout_ms": 600000,
            "is_p2p": False,
        }
        made.append(entry)
    return {
        "version": "2.10",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}},
        "comm_lib_version": "2.27.3",
        "pg_status": {
            "0": {"last_enqueued_collective": 302, "last_started_collective": -1, "last_completed_collective": 301}
        },
        "entries": made,
    }


def as_json(tree):
    """The JSON form of the recorder: status numbers as text, no frames."""
    tree = json.loads(json.dumps(tree))
    for status in tree["pg_status"].values():
        for key in status:
            status[key] = str(status[key])
    for entry in tree["entries"]:
        entry.pop("frames")
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=False).encode()


def write(name, data):
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(data)


small = dump(3)
write("small.json", as_json(small))
for protocol in range(6):
    write(f"small_protocol{protocol}.pickle", pickle.dumps(small, protocol))

one = dump(1)
write("one_entry.json", as_json(one))
for protocol in range(6):
    write(f"one_entry_protocol{protocol}.pickle", pickle.dumps(one, protocol))

# Lists of more than 1,000 items come in several parts.
large = dump(WORLD)
large["entries"][0]["input_split_sizes"] = list(range(WORLD))
large["entries"][0]["output_sizes"] = [[rank % 5] for rank in range(WORLD)]
large["entries"][0]["frames"] = [frame("recurse", "/opt/train/deep.py", line % 7) for line in range(WORLD)]
for protocol in (0, 5):
    write(f"large_protocol{protocol}.pickle.gz", gzip.compress(pickle.dumps(large, protocol), 9, mtime=0))

bundle = {rank: dict(dump(2), rank=rank) for rank in range(3)}
write("bundle_protocol4.pickle", pickle.dumps(bundle, 4))
