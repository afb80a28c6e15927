//! The processes of a job.

use std::ffi::{OsStr, OsString};
use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::role::status;

/// Running processes, one a rank. They are killed when this is dropped.
#[derive(Debug)]
pub struct Job {
    children: Vec<Child>,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// All processes ended; their statuses by rank.
    Over(Vec<ExitStatus>),
    /// The time limit was over. Those still running have none.
    Limit(Vec<Option<ExitStatus>>),
}

impl Ending {
    /// The status for a launcher to end with: the first of a rank's that is not 0.
    #[must_use]
    pub fn status(&self) -> u8 {
        match self {
            Self::Limit(_) => status::LIMIT,
            Self::Over(statuses) => {
                let codes = statuses.iter().map(|status| status.code().and_then(|code| u8::try_from(code).ok()));
                codes.map(|code| code.unwrap_or(status::FAILED)).find(|code| *code != 0).unwrap_or(0)
            }
        }
    }
}

impl Job {
    /// Starts a program once for each rank. What they print goes where this process's output goes.
    ///
    /// # Errors
    ///
    /// If the system refuses a process.
    pub fn start(
        program: &Path,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
        ranks: u32,
        variables: &[(OsString, OsString)],
    ) -> io::Result<Self> {
        let arguments: Vec<OsString> = arguments.into_iter().map(|one| one.as_ref().to_owned()).collect();
        let channel = std::env::var_os("HANGSCOPE_CHANNEL");
        let channel = channel.map_or_else(free_address, Ok)?;
        let mut job = Self { children: Vec::new() };
        for rank in 0..ranks {
            let child = Command::new(program)
                .args(&arguments)
                .env("RANK", rank.to_string())
                .env("WORLD_SIZE", ranks.to_string())
                .env("HANGSCOPE_CHANNEL", &channel)
                .envs(variables.iter().map(|(name, value)| (name, value)))
                .stdin(Stdio::null())
                .spawn()?;
            job.children.push(child);
        }
        Ok(job)
    }

    /// The processes' numbers by rank.
    #[must_use]
    pub fn ids(&self) -> Vec<u32> {
        self.children.iter().map(Child::id).collect()
    }

    /// Kills one of the processes.
    ///
    /// # Errors
    ///
    /// If the system refuses.
    pub fn kill(&mut self, rank: u32) -> io::Result<()> {
        self.children.get_mut(rank as usize).map_or(Ok(()), Child::kill)
    }

    /// Waits until all have ended, or the time is over.
    ///
    /// # Errors
    ///
    /// If the system does not say.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Ending> {
        let deadline = Instant::now() + limit;
        loop {
            let statuses = self.children.iter_mut().map(Child::try_wait).collect::<io::Result<Vec<_>>>()?;
            if statuses.iter().all(Option::is_some) {
                return Ok(Ending::Over(statuses.into_iter().flatten().collect()));
            }
            if Instant::now() >= deadline {
                return Ok(Ending::Limit(statuses));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        for child in &mut self.children {
            // One that has ended is not there to be killed.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// An address on this machine that nobody listens at.
fn free_address() -> io::Result<OsString> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.to_string().into())
}
