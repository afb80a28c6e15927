//! Small jobs with one right answer.
//!
//! The cases by number, as the comments above the tests have them; `A` are incidents that people reported, `Rules` follow from the
//! rules of diagnosis. A case may have several tests.
//!
//! | case | job | file |
//! |---|---|---|
//! | A1 | the first rank is the culprit; two against two | `collectives` |
//! | A2 | a skipped op | `collectives` |
//! | A3 | an extra op | `collectives` |
//! | A4 | no dump; no dump and a rank that stopped | `collectives` |
//! | A5 | all_to_all with splits, with totals that differ, uneven and legal | `splits` |
//! | A6 | a batched ring that is healthy | `messages` |
//! | A7 | a send without its receive, and an all_reduce | `messages` |
//! | A8 | a ring of sends | `messages`, `cycles` |
//! | A9 | a cycle over two groups | `collectives`, `cycles` |
//! | A10 | everybody joined, with and without start events | `devices` |
//! | A11 | two call sites and nothing else | `divergence` |
//! | A12 | a checkpoint barrier | `collectives` |
//! | A13 | bad files among good ones | `files` |
//! | A14 | ranks of file names; two files of a rank | `files` |
//! | A15 | rings that wrapped differently, and a mismatch | `data` |
//! | A16 | one name for two groups | `data` |
//! | A17 | started and scheduled | `collectives` |
//! | A18 | half of a broadcast is done | `collectives` |
//! | A19 | released by an abort | `devices` |
//! | A20 | unfinished entries alone | `recorders` |
//! | A21 | an op that nobody knows | `collectives` |
//! | A22 | one mismatch, many groups | `mesh` |
//! | A23 | a buffer size in bytes | `scale` |
//! | A24 | swapped order over two groups | `collectives`, `cycles` |
//! | A25 | a mismatch that everybody got past | `collectives` |
//! | Rules 7.1 | one op more on one of two ranks | `divergence` |
//! | Rules 7.2 | a rank sleeps | `absence` |
//! | Rules 7.3 | a rank skips a metric and goes on | `divergence` |
//! | Rules 7.4 | a rank leaves the loop early | `divergence` |
//! | Rules 7.5 | a rank sleeps in a mesh | `mesh` |
//! | Rules 7.6 | two groups in opposite order on one rank | `collectives`, `deadlocks` |
//! | Rules 7.7 | devices run two groups in different orders | `deadlocks` |
//! | Rules 7.8 | one device lags | `collectives` |
//! | Rules 7.9 | everybody has started | `devices` |
//! | Rules 7.10 | everybody is scheduled, no start events | `devices` |
//! | Rules 7.11 | the unfinished half shares a host | `devices` |
//! | Rules 7.12 | one dtype differs | `collectives` |
//! | Rules 7.13 | the first file has the odd size | `collectives` |
//! | Rules 7.14 | more is sent than expected | `splits` |
//! | Rules 7.15 | two all_to_alls in a row | `splits` |
//! | Rules 7.16 | a pipeline of single messages | `messages` |
//! | Rules 7.17 | a symmetric exchange | `messages` |
//! | Rules 7.18 | a receive is missing in a pipeline | `messages` |
//! | Rules 7.19 | record ids that differ | `data` |
//! | Rules 7.20 | healthy rings that wrapped differently | `data` |
//! | Rules 7.21 | a file is missing | `absence` |
//! | Rules 7.22 | gloo, healthy and hung | `recorders` |
//! | Rules 7.23 | torchcomms, two communicators | `recorders` |
//! | Rules 7.24 | an op that nobody knows | `collectives` |
//! | Rules 7.25 | released by an abort | `devices` |
//! | Rules 7.26 | unfinished entries alone | `recorders` |
//! | Rules 7.27 | mixed versions, a rank without frames | `recorders` |
//! | Rules 7.28 | one name for two groups | `data` |
//! | Rules 7.29 | a truncated pickle | `files` |
//! | Rules 7.30 | 256 ranks; 1,024 ranks × 2,000 entries are measured by `benches/diagnose` | `scale` |

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop where its own set-up fails")]

mod absence;
mod bytes;
mod collectives;
mod cycles;
mod data;
mod deadlocks;
mod devices;
mod divergence;
mod fake;
mod files;
mod labels;
mod layers;
mod mesh;
mod messages;
#[allow(dead_code, reason = "JSON documents have no frame that is shared")]
#[path = "../dump/pickler.rs"]
mod pickler;
mod program_order;
mod recorders;
mod runs;
mod scale;
mod splits;
mod unfinished;
