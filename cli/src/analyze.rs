//! `hangscope analyze`.

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, Result, bail};
use hangscope_analyzer_core::report::{Emphasis, Report, render_json, render_styled, render_text};

use crate::args::{Analyze, Format};
use crate::gather::gather;
use crate::{NOTHING_ANALYSED, sources};

/// Most reasons that are printed when nothing could be used.
const REASONS: usize = 8;

/// Runs it; the exit status is 0 for no fault, 1 for a fault, and 2 where files that break off hold none: what they lost may.
pub(crate) fn run(options: &Analyze) -> Result<u8> {
    let sources = sources::find(&options.paths)?;
    let analysis = hangscope_analyzer_core::analyze_shard(gather(&sources)?);
    let report = analysis.report();
    if report.job.ranks_loaded == 0 {
        let reasons: Vec<&str> = report.data_quality.iter().map(|note| note.detail.as_str()).take(REASONS).collect();
        bail!("no dump could be used: {}", reasons.join("; "));
    }
    let fault = !report.findings.is_empty();
    print(report, options)?;
    Ok(if report.breaks_off() && !fault { NOTHING_ANALYSED } else { u8::from(fault) })
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
