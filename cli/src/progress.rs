//! Progress on standard error, for work that lasts.

use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar over bytes that appears only on a terminal and only if the work lasts.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    began: Instant,
}

impl Progress {
    pub(crate) fn new(total_bytes: u64) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(total_bytes), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("reading {wide_bar} {bytes} of {total_bytes} · {msg}") {
            bar.set_style(style);
        }
        Progress { bar, began: Instant::now() }
    }

    /// Notes a file that was read.
    pub(crate) fn advance(&self, bytes: u64, file: &str) {
        if self.bar.is_hidden() && self.began.elapsed() > PATIENCE && stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_message(file.to_owned());
        self.bar.inc(bytes);
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
