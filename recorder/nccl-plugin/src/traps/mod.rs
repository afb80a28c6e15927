//! The traps of NCCL's profiler interface, each with its test. Descriptors are bytes, by the offsets that the stand-in
//! for NCCL has on its own.
//!
//! | trap | test |
//! | --- | --- |
//! | 1. one rank, or nothing to move: no events | `communicators::one_rank_has_a_communicator_and_no_operations` |
//! | 2. NCCL's numbers are each function's own | `calls::numbers_are_the_recorders_own` |
//! | 3. a task's count is in bytes | `calls::counts_and_types_are_the_calls` |
//! | 4. counts mean something else for each function | `abi::words::tests::counts_are_nccls_own_for_each_operation` |
//! | 5. collectives that become messages; peers that come late | `calls::a_collective_that_becomes_messages_is_a_block`, `calls::a_group_of_messages_is_a_block` |
//! | 6. operations without a launch or a channel | `ends::what_nothing_tells_of_ends_with_a_later_one`, `ends::the_watchdog_does_not_wait_for_what_nothing_tells_of`, `ends::a_way_aside_is_followed_on_the_callers_stream` |
//! | 7. no reduction operator, no shapes | `calls::a_dump_has_one_dimension_and_no_operator` |
//! | 8. CUDA graphs | `ends::a_captured_call_is_not_recorded_and_its_stream_is_left_alone`, and `graphs_are_left_alone` of the stand-in's tests |
//! | 9. events of channels cost time | `handles::channels_are_asked_for_on_request_alone`, `settings::tests::channels_are_watched_on_request_alone` |
//! | 10. events of proxies | `handles::proxies_are_never_asked_for_nor_looked_at` |
//! | 11. handles that are null, old, or told twice | `handles::handles_that_lead_nowhere_do_nothing`, `handles::a_late_end_changes_nothing_of_what_took_the_place`, `handle::tests` |
//! | 12. many threads at once | `calls::many_threads_record_at_once` |
//! | 13. panics | `handles::a_panic_stays_inside_and_switches_events_off` |
//! | 14. the id is the same on all ranks, the rank is the communicator's | `communicators::the_id_names_a_communicator_on_all_ranks`, and the stand-in's tests of verdicts |
//! | 15. the name may be null | `communicators::a_communicator_without_a_name_has_its_id` |

mod calls;
mod communicators;
mod ends;
mod handles;
mod nccl;
