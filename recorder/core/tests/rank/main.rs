//! A process with a recorder that does what its standard input says: the ranks of the tests.
//!
//! One command a line: `comm NAME RANK SIZE [SHARED_ID]`, `op COUNT`, `send PEER COUNT`, `recv PEER COUNT`, `start`,
//! `done` (of the last operation), `pending` and `wait` (of the last operation), `churn COUNT` (communicators made, used
//! and freed), `keep COUNT` (communicators made and used), `panic`, `fork`, `named NAME`, `finish`. Each is answered
//! with a line once it is done.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test program")]

use std::io::{self, BufRead as _, Write as _};
use std::sync::Arc;

use hangscope_recorder::{
    Buffer, Communicator, CommunicatorInfo, DataType, Handle, OpKind, Operation, Peer, Recorder, Settings, Source,
    guard, is_inert,
};

fn main() {
    let (settings, faults) = Settings::from_environment();
    for fault in faults {
        eprintln!("{fault}");
    }
    let recorder = Recorder::launch(settings, Source { library: "test", version: "1".to_owned() });
    let mut program = Program { recorder, current: None, last: Handle::NONE };
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<_> = line.split_whitespace().collect();
        let answer = program.command(&words);
        println!("{answer}");
        io::stdout().flush().unwrap();
    }
}

struct Program {
    recorder: &'static Recorder,
    current: Option<Arc<Communicator>>,
    last: Handle,
}

impl Program {
    fn command(&mut self, words: &[&str]) -> String {
        let number = |index: usize| words.get(index).map_or(0, |word| word.parse::<u64>().unwrap());
        let small = |index: usize| u32::try_from(number(index)).unwrap();
        let recorder = self.recorder;
        match words[0] {
            "comm" => {
                let mut info = CommunicatorInfo::of_world(words[1], small(2), small(3));
                if words.len() > 4 {
                    info.members = None;
                    info.shared_id = Some(number(4));
                }
                self.current = Some(recorder.communicator(info));
            }
            "op" => {
                let buffer = Some(Buffer { count: number(1), dtype: DataType::Float });
                self.record(&Operation::collective(OpKind::AllReduce, buffer, buffer));
            }
            "send" | "recv" => {
                let kind = if words[0] == "send" { OpKind::Send } else { OpKind::Recv };
                let buffer = Buffer { count: number(2), dtype: DataType::Byte };
                self.record(&Operation::message(kind, Peer::Rank(small(1)), buffer));
            }
            "start" => recorder.start(self.last),
            "done" => recorder.complete(self.last),
            "pending" => recorder.nonblocking(self.last),
            "wait" => recorder.waited(self.last, true),
            "churn" | "keep" => {
                for count in 0..number(1) {
                    let one = recorder.communicator(CommunicatorInfo::of_world(&format!("c{count}"), 0, 1));
                    let handle = recorder.record(&one, &Operation::collective(OpKind::Barrier, None, None));
                    recorder.complete(handle);
                    if words[0] == "churn" {
                        recorder.free(&one);
                    }
                }
                return recorder.snapshot().communicators.len().to_string();
            }
            "panic" => {
                guard(|| {
                    // A slice's own panic, as any fault of the recorder would be.
                    let none: [u8; 0] = [];
                    none.first().copied().unwrap()
                });
                return is_inert().to_string();
            }
            "fork" => return fork(),
            "finish" => recorder.finish(),
            other => return format!("unknown command {other}"),
        }
        "ok".to_owned()
    }

    fn record(&mut self, operation: &Operation) {
        self.last = self.recorder.record(self.current.as_ref().unwrap(), operation);
    }
}

/// Forks; gives what the child says of the recorder.
#[expect(unsafe_code, reason = "only the C library forks")]
fn fork() -> String {
    let (mut reader, writer) = io::pipe().unwrap();
    // SAFETY: the child does nothing but ask for one atomic, write one byte and end.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let _ = (&writer).write_all(if is_inert() { b"inert" } else { b"alive" });
        // SAFETY: it ends the process and nothing else.
        unsafe { libc::_exit(0) };
    }
    drop(writer);
    let child_says = io::read_to_string(&mut reader).unwrap();
    format!("{child_says} {}", if is_inert() { "inert" } else { "alive" })
}
