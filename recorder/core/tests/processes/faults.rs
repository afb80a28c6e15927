//! What goes wrong around a recorder.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use crate::job::{Job, Rank, command, dump_names, readings, wait_until};

/// A lone rank with a short limit.
fn lone(variables: &[(&str, &str)]) -> (Rank, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command();
    command.env("HANGSCOPE_OUT", folder.path()).env("HANGSCOPE_RANK", "0").env("HANGSCOPE_TIMEOUT", "300ms");
    command.envs(variables.iter().copied());
    (Rank::start(&mut command), folder)
}

#[test]
fn a_folder_that_is_not_there_is_made() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("a/b/c");
    let (mut rank, _) = lone(&[("HANGSCOPE_OUT", folder.to_str().unwrap())]);
    rank.tell("comm world 0 2");
    rank.tell("op 4");
    wait_until("the dump", || folder.join("comm_lib_trace_rank_0").exists());
}

#[test]
fn a_folder_that_cannot_be_made_gives_a_message() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    let (mut rank, _) = lone(&[("HANGSCOPE_OUT", file.to_str().unwrap())]);
    rank.tell("comm world 0 2");
    rank.tell("op 4");
    rank.wait_to_say("but no dump: failed to write");
    // It goes on.
    assert_eq!(rank.tell("op 4"), "ok");
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a folder");
}

/// A limit on the size of files stands for a full disk: the write fails half way.
#[test]
fn a_full_disk_leaves_no_torn_file() {
    let folder = tempfile::tempdir().unwrap();
    let program = command();
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\""]).arg(program.get_program());
    for (name, _) in program.get_envs() {
        limited.env_remove(name);
    }
    limited.env("HANGSCOPE_OUT", folder.path()).env("HANGSCOPE_RANK", "0");
    let mut rank = Rank::start(&mut limited);
    rank.tell("comm world 0 2");
    for _ in 0..100 {
        rank.tell("op 4");
    }
    rank.signal("USR2");
    rank.wait_to_say("but no dump: failed to write");
    assert_eq!(rank.tell("op 4"), "ok");
    let said = rank.end();
    assert!(said.to_lowercase().contains("too large"), "{said}");
    let left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .filter(|name| name != "dump-now")
        .collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn two_processes_of_one_rank_lose_nothing() {
    let hour = ("HANGSCOPE_TIMEOUT", "1h");
    let (mut first, folder) = lone(&[hour]);
    let (mut second, _) = lone(&[hour, ("HANGSCOPE_OUT", folder.path().to_str().unwrap())]);
    for rank in [&mut first, &mut second] {
        rank.tell("comm world 0 2");
        rank.tell("op 4");
    }
    // Both have begun before one of them dumps, and then both do at the same moment.
    first.signal("USR2");
    second.signal("USR2");
    wait_until("both dumps", || dump_names(folder.path()).len() == 2);
    wait_until("who says so", || (first.said() + &second.said()).contains("two of them have rank 0"));
    let readings = readings(folder.path());
    assert!(readings.iter().all(|reading| reading.dumps[0].entries.len() == 1));
}

#[test]
fn the_dump_of_an_earlier_run_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("comm_lib_trace_rank_0");
    fs::write(&path, "old").unwrap();
    // File times are no finer than this everywhere.
    std::thread::sleep(Duration::from_millis(50));
    let (mut rank, _) = lone(&[("HANGSCOPE_OUT", folder.path().to_str().unwrap())]);
    rank.tell("comm world 0 2");
    rank.tell("op 4");
    wait_until("the dump", || fs::read(&path).unwrap() != b"old");
    assert_eq!(dump_names(folder.path()).len(), 1);
}

#[test]
fn ten_thousand_communicators() {
    let (mut rank, folder) = lone(&[("HANGSCOPE_TIMEOUT", "1h")]);
    // The ring holds 2,000 of the freed ones, and no more are remembered.
    let kept: u32 = rank.tell("churn 10000").parse().unwrap();
    assert!(kept <= 2001, "{kept}");
    assert_eq!(rank.tell("keep 10000").parse::<u32>().unwrap(), 10_000);
    rank.signal("USR2");
    wait_until("the dump", || folder.path().join("comm_lib_trace_rank_0").exists());
    let reading = readings(folder.path()).remove(0);
    assert_eq!(reading.faults.len(), 0);
    assert_eq!(reading.dumps[0].entries.len(), 2000);
}

#[test]
fn a_panic_stays_inside_and_ends_the_recording() {
    let (mut rank, _folder) = lone(&[]);
    rank.tell("comm world 0 2");
    assert_eq!(rank.tell("panic"), "true");
    assert_eq!(rank.tell("op 4"), "ok");
    let said = rank.end();
    assert!(said.contains("hangscope: rank 0: the recorder failed inside"), "{said}");
}

#[test]
fn a_forked_child_is_left_alone() {
    let (mut rank, _folder) = lone(&[]);
    rank.tell("comm world 0 2");
    assert_eq!(rank.tell("fork"), "inert alive");
}

#[test]
fn a_signal_a_trigger_file_and_the_end_ask_for_dumps() {
    let (mut rank, folder) = lone(&[("HANGSCOPE_TIMEOUT", "1h"), ("HANGSCOPE_DUMP_AT_EXIT", "1")]);
    let path = folder.path().join("comm_lib_trace_rank_0");
    rank.tell("comm world 0 2");
    rank.tell("op 4");
    rank.signal("USR2");
    wait_until("the signal's dump", || path.exists());
    fs::remove_file(&path).unwrap();
    // The recorder has touched the file itself for that dump, and file times are no finer than this everywhere.
    std::thread::sleep(Duration::from_millis(50));
    fs::write(folder.path().join("dump-now"), "").unwrap();
    wait_until("the file's dump", || path.exists());
    fs::remove_file(&path).unwrap();
    rank.tell("finish");
    assert!(path.exists());
}

#[test]
fn a_signal_that_the_program_handles_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command();
    command.env("HANGSCOPE_OUT", folder.path()).env("HANGSCOPE_RANK", "0");
    // A disposition to ignore is one that the program's parent chose.
    let ignoring = || {
        ignore_signal();
        Ok(())
    };
    // SAFETY: setting a disposition is allowed between fork and exec.
    #[expect(unsafe_code, reason = "dispositions are the C library's")]
    unsafe {
        command.pre_exec(ignoring);
    }
    let mut rank = Rank::start(&mut command);
    rank.tell("comm world 0 2");
    rank.signal("USR2");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(dump_names(folder.path()).len(), 0);
    let said = rank.end();
    assert!(said.contains("the program has a use for it of its own"), "{said}");
}

#[expect(unsafe_code, reason = "dispositions are the C library's")]
fn ignore_signal() {
    // SAFETY: the signal is a valid one.
    unsafe { libc::signal(libc::SIGUSR2, libc::SIG_IGN) };
}

#[test]
fn without_a_channel_the_trigger_file_reaches_the_others() {
    let mut job = Job::start(3, &[("HANGSCOPE_CHANNEL", "off"), ("HANGSCOPE_TIMEOUT", "2s")]);
    job.warm_up();
    job.ranks[1].tell("op 8");
    job.wait_for_dumps(0..3);
    job.ranks[2].wait_to_say("the trigger file asks for a dump");
}

#[test]
fn what_the_environment_says_wrong_is_told() {
    let (mut rank, folder) = lone(&[("HANGSCOPE_BUFFER_SIZE", "0"), ("HANGSCOPE_FORMAT", "xml")]);
    rank.tell("comm world 0 2");
    rank.tell("op 4");
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(dump_names(folder.path()).len(), 0);
    assert!(rank.end().contains("HANGSCOPE_FORMAT=xml is left out: expected pickle or json"));
}
