//! The rank from a file's name: a dump does not say whose it is.

/// The global rank that a dump's file name says, or `None`.
///
/// The rules, from what recorders and people are known to write: only the last part of the path counts. Archive and data suffixes
/// (`.json`, `.pkl`, `.pickle`, `.gz`, …) fall away. The digits at the end are the rank (`nccl_trace_rank_5`, `_dump_7`, `trace_007`);
/// when the name does not end in digits, the digits after its last `rank` are (`rank3_final`, `rank_12.host4.old`).
pub fn rank_of_file_name(path: &str) -> Option<u32> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = without_suffixes(name);
    let digits_at = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
    if digits_at < name.len() {
        return name[digits_at..].parse().ok();
    }
    let lower = name.to_ascii_lowercase();
    let (at, word) = lower.rmatch_indices("rank").next()?;
    let rest = lower[at + word.len()..].trim_start_matches(['_', '-', '=', '.', ' ']);
    let end = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..end].parse().ok()
}

/// The rank whose dump a file would be in which no dump was found. A number behind some other word (`step_100000.json`) is none.
pub fn rank_of_broken_file(path: &str) -> Option<u32> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase();
    let is_number = without_suffixes(&name).bytes().all(|byte| byte.is_ascii_digit());
    let says_so = ["rank", "trace", "dump"].iter().any(|word| name.contains(word));
    if is_number || says_so { rank_of_file_name(&name) } else { None }
}

/// Whether a file that lies in a folder of dumps is there for another reason: what file managers and interrupted writers leave
/// behind (names with a dot in front), and the file by which people ask the recorder for dumps. Whoever names such a file himself
/// means it.
pub fn is_bystander(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.starts_with('.') || name == "dump-now"
}

const SUFFIXES: [&str; 12] =
    [".json", ".pkl", ".pickle", ".gz", ".bin", ".dump", ".trace", ".txt", ".dat", ".p", ".fr", ".tmp"];

fn without_suffixes(mut name: &str) -> &str {
    while let Some(shorter) = SUFFIXES.iter().find_map(|suffix| {
        let at = name.len().checked_sub(suffix.len())?;
        (name.is_char_boundary(at) && name[at..].eq_ignore_ascii_case(suffix)).then(|| &name[..at])
    }) {
        name = shorter;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beside_dumps_is_no_dump() {
        for name in ["dumps/.DS_Store", "a/b/dump-now", ".node-1.77.0.partial", "dump-now"] {
            assert!(is_bystander(name), "{name}");
        }
        for name in ["rank_0", ".dumps/rank_0", "dump-now_3", ""] {
            assert!(!is_bystander(name), "{name}");
        }
    }

    #[test]
    fn a_file_without_a_dump_is_a_ranks_only_by_its_name() {
        for (name, rank) in [
            ("nccl_trace_rank_5", Some(5)),
            ("node_7/_dump_7.GZ", Some(7)),
            ("TRACE_3", Some(3)),
            ("12.json", Some(12)),
            ("step_100000.json", None),
            ("dumps/events_3", None),
            ("model-00001-of-00008", None),
        ] {
            assert_eq!(rank_of_broken_file(name), rank, "{name}");
        }
    }

    #[test]
    fn names_seen_in_the_wild() {
        for (name, rank) in [
            ("nccl_trace_rank_container-node02_5", Some(5)),
            ("host1.pci3_rank_3", Some(3)),
            ("_dump_7", Some(7)),
            ("rank_3.json", Some(3)),
            ("comm_lib_trace_rank_12", Some(12)),
            ("nccl_trace_rank_007", Some(7)),
            ("jobs/9/nccl_trace_rank_2.pkl.gz", Some(2)),
            ("rank3_final", Some(3)),
            ("Rank-14.host2.old", Some(14)),
            ("trace_0", Some(0)),
            ("8", Some(8)),
            ("README.txt", None),
            ("", None),
            ("rank_", None),
            ("rank_99999999999", None),
            ("fünf_4", Some(4)),
        ] {
            assert_eq!(rank_of_file_name(name), rank, "{name}");
        }
    }
}
