//! What asks for a dump.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::log;
use crate::settings::Settings;

/// Why a dump is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cause {
    /// An operation of this rank took too long; the text says which.
    Timeout(String),
    /// Another rank asked, over the channel; the text says why.
    Rank(u32, String),
    /// The process got the signal.
    Signal,
    /// The trigger file appeared or changed.
    TriggerFile,
    /// The program asked.
    Program,
    /// The program ends as it should.
    Exit,
}

/// Requests that come from outside of the watchdog's thread.
#[derive(Debug)]
pub(crate) struct Triggers {
    asked: Mutex<Option<Cause>>,
    signals_seen: AtomicUsize,
    file: PathBuf,
    file_seen: Mutex<Option<SystemTime>>,
}

/// Signals that came, over all recorders of the process: a handler can do little more than count.
static SIGNALS: AtomicUsize = AtomicUsize::new(0);

impl Triggers {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            asked: Mutex::new(None),
            signals_seen: AtomicUsize::new(SIGNALS.load(Ordering::Relaxed)),
            file_seen: Mutex::new(changed_at(&settings.trigger)),
            file: settings.trigger.clone(),
        }
    }

    /// Asks for a dump. A request that nobody has answered yet stands for this one too.
    pub(crate) fn ask(&self, cause: Cause) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cause);
    }

    /// What has asked since the last look.
    pub(crate) fn take(&self) -> Option<Cause> {
        if let Some(cause) = self.asked.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Some(cause);
        }
        let signals = SIGNALS.load(Ordering::Relaxed);
        if self.signals_seen.swap(signals, Ordering::Relaxed) != signals {
            return Some(Cause::Signal);
        }
        let now = changed_at(&self.file);
        let mut seen = self.file_seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == now {
            return None;
        }
        *seen = now;
        now.map(|_| Cause::TriggerFile)
    }

    /// Touches the trigger file, for the ranks that see it and have no channel. Our own change is no request to us.
    pub(crate) fn touch(&self, text: &str) {
        let mut seen = self.file_seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen != changed_at(&self.file) {
            // Another rank was first, and everybody who looks has seen it.
            return;
        }
        if let Some(folder) = self.file.parent() {
            // What cannot be made cannot be written either, and the dump itself says so.
            let _ = fs::create_dir_all(folder);
        }
        if fs::write(&self.file, format!("{text}\n")).is_ok() {
            *seen = changed_at(&self.file);
        }
    }
}

fn changed_at(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

/// Lets a signal ask for dumps, if the program has not said what it means.
#[expect(unsafe_code, reason = "signals are the C library's")]
pub(crate) fn listen_for(signal: i32) {
    extern "C" fn count(_: i32) {
        SIGNALS.fetch_add(1, Ordering::Relaxed);
    }
    static ONCE: AtomicBool = AtomicBool::new(false);
    if ONCE.swap(true, Ordering::Relaxed) {
        return;
    }
    // SAFETY: both structures are plain data for which zeros are a value, alive during the calls. The handler only
    // counts, which is allowed in a signal's context, and lives in a library that is never unloaded.
    let taken = unsafe {
        let mut current: libc::sigaction = std::mem::zeroed();
        let known = libc::sigaction(signal, std::ptr::null(), &raw mut current) == 0;
        if known && current.sa_sigaction == libc::SIG_DFL {
            let mut ours: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = count as *const () as libc::sighandler_t;
            // Calls of the program that the signal finds waiting go on.
            ours.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const ours, std::ptr::null_mut()) == 0
        } else {
            false
        }
    };
    if !taken {
        log::line(&format!("signal {signal} does not ask for dumps here: the program has a use for it of its own"));
    }
}
