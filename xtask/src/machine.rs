//! The machine that a measurement is made on, in words.

use std::fs;
use std::thread;

/// Processors, their name, and how busy they were.
pub(crate) fn describe() -> String {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let name = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let load = fs::read_to_string("/proc/loadavg").ok();
    let load = load.as_deref().and_then(|text| text.split(' ').next()).unwrap_or("unknown");
    format!("{processors} processors ({}), load {load} before", name.unwrap_or_else(|| "unknown".to_owned()))
}
