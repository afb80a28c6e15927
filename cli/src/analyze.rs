//! `hangscope analyze`.

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, Result, bail};
use hangscope_analyzer_core::dump::{self, Fault, FaultKind, Reading};
use hangscope_analyzer_core::report::{Emphasis, Report, render_json, render_styled, render_text};
use rayon::prelude::*;

use crate::args::{Analyze, Format};
use crate::progress::Progress;
use crate::sources::{self, Source};

/// Most reasons that are printed when nothing could be read.
const REASONS: usize = 8;

/// Runs it; the exit status is 0 for no fault and 1 for a fault.
pub(crate) fn run(options: &Analyze) -> Result<u8> {
    let sources = sources::find(&options.paths)?;
    let readings = read_all(&sources);
    if readings.iter().all(|reading| reading.dumps.is_empty()) {
        bail!(nothing_readable(&readings));
    }
    let analysis = hangscope_analyzer_core::analyze(readings);
    let report = analysis.report();
    if report.job.ranks_loaded == 0 {
        let reasons: Vec<&str> = report.data_quality.iter().map(|note| note.detail.as_str()).take(REASONS).collect();
        bail!("no dump could be used: {}", reasons.join("; "));
    }
    let fault = !report.findings.is_empty();
    print(report, options)?;
    Ok(u8::from(fault))
}

/// Reads all files on all cores; the order of the result is that of the files.
fn read_all(sources: &[Source]) -> Vec<Reading> {
    let progress = Progress::new(sources.iter().map(Source::size_bytes).sum());
    let readings = sources
        .par_iter()
        .map(|source| {
            let reading = match source.read(can_be_dump) {
                Ok(bytes) => dump::read(&source.name, &bytes),
                Err(error) => unreadable(&source.name, &error),
            };
            progress.advance(source.size_bytes(), &source.name);
            reading
        })
        .collect();
    progress.finish();
    readings
}

fn can_be_dump(head: &[u8]) -> bool {
    let reading = dump::read("", head);
    !reading.faults.iter().any(|fault| fault.kind == FaultKind::NotADump) || !reading.dumps.is_empty()
}

fn unreadable(file: &str, error: &io::Error) -> Reading {
    let message = format!("the file cannot be read: {error}");
    Reading {
        file: file.to_owned(),
        faults: vec![Fault { kind: FaultKind::Malformed, offset: None, message }],
        ..Reading::default()
    }
}

fn nothing_readable(readings: &[Reading]) -> String {
    let mut text = format!("none of {} files is a readable dump", readings.len());
    for reading in readings.iter().take(REASONS) {
        for fault in reading.faults.iter().take(1) {
            text.push_str(&format!("\n  {}: {}", reading.file, fault.message));
        }
    }
    if readings.len() > REASONS {
        text.push_str(&format!("\n  … and {} more", readings.len() - REASONS));
    }
    text.push_str("\nexpected the Flight Recorder dumps that the ranks left behind: one file per rank, pickle or JSON");
    text
}

fn print(report: &Report, options: &Analyze) -> Result<()> {
    if let Some(path) = &options.output {
        let text = match options.format {
            Format::Text => render_text(report),
            Format::Json => render_json(report),
        };
        return fs::write(path, text).with_context(|| format!("failed to write {}", path.display()));
    }
    let mut out = anstream::stdout().lock();
    match options.format {
        Format::Json => out.write_all(render_json(report).as_bytes())?,
        Format::Text if io::stdout().is_terminal() => out.write_all(render_styled(report, paint).as_bytes())?,
        Format::Text => out.write_all(render_text(report).as_bytes())?,
    }
    out.flush()?;
    Ok(())
}

fn paint(text: &str, emphasis: Emphasis) -> String {
    let style = match emphasis {
        Emphasis::Fault => Style::new().bold().fg_color(Some(AnsiColor::Red.into())),
        Emphasis::Fine => Style::new().bold().fg_color(Some(AnsiColor::Green.into())),
        Emphasis::Heading => Style::new().bold(),
        Emphasis::Suspect => Style::new().bold().fg_color(Some(AnsiColor::Red.into())),
        Emphasis::Victim => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
        Emphasis::Faint => Style::new().dimmed(),
        Emphasis::Plain => return text.to_owned(),
    };
    format!("{style}{text}{style:#}")
}
