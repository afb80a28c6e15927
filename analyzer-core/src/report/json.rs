//! The report as JSON.

use alloc::string::String;

use super::Report;

/// The report as indented JSON with a line break at the end: the same bytes wherever it is made.
pub fn render_json(report: &Report) -> String {
    // The types have text keys and no floats, so that nothing in them can fail to be written.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
