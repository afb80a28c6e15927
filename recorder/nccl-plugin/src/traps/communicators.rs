//! Names, ranks and members.

use hangscope_recorder::Settings;

use super::nccl::*;
use crate::abi::Version;
use crate::communicator::Introduction;

#[test]
fn one_rank_has_a_communicator_and_no_operations() {
    let nccl = nccl();
    let alone = nccl.plugin.init(&Introduction { id: 7, size: 1, rank: 0, ..told(Version::V6) });
    let group = nccl.group(1);
    nccl.stop(group);
    let snapshot = nccl.plugin.recorder.snapshot();
    assert_eq!(snapshot.entries.len(), 0);
    let comm = nccl.plugin.communicator(alone).unwrap();
    assert_eq!(comm.recorded.members(), Some(&[1][..]));
    nccl.plugin.finalize(alone);
    assert!(nccl.plugin.communicator(alone).is_none());
}

#[test]
fn the_id_names_a_communicator_on_all_ranks() {
    let nccl = nccl();
    let comm = nccl.comm();
    let info = comm.recorded.info();
    assert_eq!((info.name.as_str(), info.shared_id, info.rank, info.size), ("0x0000000000000abc", Some(0xabc), 1, 4));
    assert_eq!(comm.recorded.members(), Some(&[0, 1, 2, 3][..]));
    // A part: who else is in it, the other ranks have to say.
    let part = nccl.plugin.init(&Introduction { id: 5, size: 2, rank: 0, ..told(Version::V6) });
    let part = nccl.plugin.communicator(part).unwrap();
    assert_eq!((part.recorded.info().rank, part.recorded.members()), (0, None));
    // All ranks in another order: not known either.
    let turned = nccl.plugin.init(&Introduction { id: 6, size: 4, rank: 3, ..told(Version::V6) });
    assert_eq!(nccl.plugin.communicator(turned).unwrap().recorded.members(), None);
    // Another rank of the same one, in the same process.
    assert_eq!(nccl.plugin.init(&Introduction { rank: 2, ..told(Version::V6) }), 0);
}

#[test]
fn a_process_without_a_rank_takes_that_of_its_first_communicator() {
    let unknown = Settings { rank: None, world_size: None, ..settings() };
    let nccl = nccl_with(unknown, Version::V6, false, true);
    assert_eq!((nccl.plugin.recorder.rank(), nccl.plugin.recorder.world_size()), (Some(1), Some(4)));
}

#[test]
fn a_communicator_without_a_name_has_its_id() {
    let nccl = nccl();
    assert_eq!(nccl.comm().recorded.info().description, "");
    let named = Introduction { id: 9, name: "tensor".to_owned(), ..told(Version::V6) };
    let named = nccl.plugin.communicator(nccl.plugin.init(&named)).unwrap();
    let info = named.recorded.info();
    assert_eq!((info.name.as_str(), info.description.as_str()), ("0x0000000000000009", "tensor"));
}
