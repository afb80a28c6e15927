//! A job of processes, each with a recorder, that are told what to do.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hangscope_analyzer_core::dump::{Reading, read};
use hangscope_analyzer_core::{Analysis, analyze};
use tempfile::TempDir;

/// No step of a job takes longer on a machine that does other things as well.
const PATIENCE: Duration = Duration::from_secs(120);

/// The processes of a job. They are killed with it.
pub(crate) struct Job {
    pub ranks: Vec<Rank>,
    pub folder: TempDir,
    /// Where rank 0 listens.
    pub port: String,
}

/// One process.
pub(crate) struct Rank {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// What it has written to standard error so far.
    said: Arc<Mutex<Vec<u8>>>,
    errors: Option<JoinHandle<()>>,
}

impl Job {
    /// Starts this many processes, which write into a folder of their own and have a side channel.
    pub(crate) fn start(size: u32, variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // A port that was free a moment ago.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let ranks = (0..size)
            .map(|rank| {
                let mut command = command();
                command
                    .env("HANGSCOPE_OUT", folder.path())
                    .env("HANGSCOPE_CHANNEL", format!("127.0.0.1:{port}"))
                    .env("HANGSCOPE_RANK", rank.to_string())
                    .env("HANGSCOPE_WORLD_SIZE", size.to_string())
                    .envs(variables.iter().copied());
                Rank::start(&mut command)
            })
            .collect();
        Self { ranks, folder, port: format!("127.0.0.1:{port}") }
    }

    /// Gives all ranks the same command.
    pub(crate) fn all(&mut self, command: &str) {
        for rank in &mut self.ranks {
            rank.tell(command);
        }
    }

    /// Every rank makes the world and ends one operation on it.
    pub(crate) fn warm_up(&mut self) {
        let size = self.ranks.len();
        for (number, rank) in self.ranks.iter_mut().enumerate() {
            rank.tell(&format!("comm world {number} {size}"));
            rank.tell("op 8");
            rank.tell("done");
        }
    }

    pub(crate) fn dump_path(&self, rank: u32) -> PathBuf {
        self.folder.path().join(format!("comm_lib_trace_rank_{rank}"))
    }

    /// Waits for these ranks' dumps.
    pub(crate) fn wait_for_dumps(&self, ranks: impl IntoIterator<Item = u32>) {
        for rank in ranks {
            let path = self.dump_path(rank);
            wait_until(&format!("{}", path.display()), || path.exists());
        }
    }

    /// What the analyser says of the folder.
    pub(crate) fn analyse(&self) -> Analysis {
        analyze(readings(self.folder.path()))
    }

    /// Ends a rank; gives what it wrote to standard error.
    pub(crate) fn end(&mut self, rank: usize) -> String {
        self.ranks[rank].end()
    }
}

impl Rank {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        let said = Arc::new(Mutex::new(Vec::new()));
        let so_far = said.clone();
        let errors = thread::spawn(move || {
            let mut text = [0; 4096];
            while let Ok(length @ 1..) = stderr.read(&mut text) {
                so_far.lock().unwrap().extend_from_slice(&text[..length]);
            }
        });
        Self { child, input, output: BufReader::new(output), said, errors: Some(errors) }
    }

    /// Gives a command and waits for the answer.
    pub(crate) fn tell(&mut self, command: &str) -> String {
        writeln!(self.input, "{command}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        let answer = answer.trim().to_owned();
        assert!(!answer.is_empty() && !answer.starts_with("unknown"), "{command}: {answer}");
        answer
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.id().to_string()).status().unwrap();
        assert!(status.success());
    }

    /// What it has written to standard error.
    pub(crate) fn said(&self) -> String {
        String::from_utf8_lossy(&self.said.lock().unwrap()).into_owned()
    }

    /// Waits until it has written a text to standard error.
    pub(crate) fn wait_to_say(&self, text: &str) {
        let began = Instant::now();
        while !self.said().contains(text) {
            assert!(began.elapsed() < PATIENCE, "it does not say {text:?}, but {:?}", self.said());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the process; gives what it wrote to standard error.
    pub(crate) fn end(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(errors) = self.errors.take() {
            errors.join().unwrap();
        }
        self.said()
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        self.end();
    }
}

/// The program that stands for a rank, without anything that this test's own launcher says.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recorder-rank"));
    for (name, _) in std::env::vars() {
        if ["HANGSCOPE_", "TORCH_", "MASTER_"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command
}

/// Reads all dumps of a folder.
pub(crate) fn readings(folder: &Path) -> Vec<Reading> {
    dump_names(folder).iter().map(|name| read(name, &fs::read(folder.join(name)).unwrap())).collect()
}

/// Names of a folder's dumps, sorted.
pub(crate) fn dump_names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.contains("rank_")).collect();
    names.sort();
    names
}

/// Waits for something that happens soon.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
