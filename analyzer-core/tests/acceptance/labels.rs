//! What groups are called.

use hangscope_analyzer_core::job::GroupIdx;
use hangscope_analyzer_core::job::Job;

use crate::fake::{Fake, op};

/// Sixteen ranks: two stages of two replicas of four; groups are named by counters alone.
fn mesh(desc: &str) -> Fake {
    let mut job = Fake::new(16);
    let mut name = 0;
    for (stride, size) in [(1, 4), (4, 2), (8, 2), (4, 4)] {
        for first in (0..16_u32).filter(|first| (first / stride) % size == 0) {
            name += 1;
            let members: Vec<u32> = (0..size).map(|at| first + at * stride).collect();
            job = job.group(&name.to_string(), desc, &members);
        }
    }
    job
}

fn labels(job: &Fake) -> Vec<String> {
    let job = Job::assemble(job.readings());
    (0..job.groups.len()).map(|at| job.label(GroupIdx(at as u32))).collect()
}

#[test]
fn dimensions_are_found_without_descriptions() {
    for desc in ["undefined", ""] {
        let mut job = mesh(desc);
        for name in 1..=4 {
            job.all(op("all_reduce").on(&name.to_string()).size(&[8, 512]));
        }
        for name in 5..=12 {
            job.all(op("all_reduce").on(&name.to_string()).size(&[4096]));
        }
        // Ranks 0 and 8 are the two stages of group 13.
        job.message(0, "send 0->1", op("send").on("13")).message(8, "recv 1<-0", op("recv").on("13"));
        job.message(8, "send 1->0", op("send").on("13")).message(0, "recv 0<-1", op("recv").on("13"));
        let labels = labels(&job);
        for expected in ["world", "tp[0-3]", "tp[12-15]", "dp[0,4]", "dp[11,15]", "pp[0,8]", "pp[7,15]"] {
            assert!(labels.iter().any(|label| label == expected), "{expected}: {labels:?}");
        }
        // All ranks of one place in the tensor-parallel groups: more than one dimension.
        assert!(labels.contains(&"group 21[0,4,8,12]".to_owned()), "{labels:?}");
    }
}

#[test]
fn a_mesh_that_nothing_tells_apart_keeps_the_names_of_the_dumps() {
    let labels = labels(&mesh("undefined"));
    assert!(labels.iter().all(|label| label == "world" || label.starts_with("group ")), "{labels:?}");
}
