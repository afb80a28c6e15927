//! Floating point numbers that are written as text.

use alloc::string::{String, ToString as _};

/// The number that `text` says, as Python and JSON write it.
///
/// By the reader of JSON, which is there anyway: the standard library's brings tables that a page had to load.
pub(super) fn float_of_text(text: &str) -> Option<f64> {
    let (negative, size) = match text.strip_prefix('-') {
        Some(size) => (true, size),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if !size.starts_with(|first: char| first.is_ascii_digit()) {
        let infinite = size.eq_ignore_ascii_case("inf") || size.eq_ignore_ascii_case("infinity");
        let none = size.eq_ignore_ascii_case("nan").then_some(f64::NAN);
        return infinite.then_some(if negative { f64::NEG_INFINITY } else { f64::INFINITY }).or(none);
    }
    let number: f64 = serde_json::from_str(size).ok()?;
    Some(if negative { -number } else { number })
}

/// The number as text: `2`, `0.5`.
///
/// By the writer of JSON, for the same reason.
pub(super) fn text_of_float(number: f64) -> String {
    if !number.is_finite() {
        let size = if number.is_nan() { "NaN" } else { "inf" };
        return if number < 0.0 { "-inf" } else { size }.to_string();
    }
    let text = serde_json::to_string(&number).unwrap_or_default();
    text.strip_suffix(".0").unwrap_or(&text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_a_number_as_one_would() {
        for (number, text) in
            [(0.0, "0"), (2.0, "2"), (-0.5, "-0.5"), (8.25, "8.25"), (f64::NAN, "NaN"), (f64::NEG_INFINITY, "-inf")]
        {
            assert_eq!(text_of_float(number), text);
        }
    }

    #[test]
    fn reads_what_python_writes() {
        for (text, number) in [
            ("0.0", 0.0),
            ("-0.5", -0.5),
            ("+2", 2.0),
            ("8.25", 8.25),
            ("1e-05", 1e-5),
            ("1e+16", 1e16),
            ("-1.5E3", -1500.0),
            ("inf", f64::INFINITY),
            ("-inf", f64::NEG_INFINITY),
        ] {
            assert_eq!(float_of_text(text), Some(number), "{text}");
        }
        assert!(float_of_text("nan").is_some_and(f64::is_nan));
        for text in ["", "-", "+-1", "--1", "1.2.3", "1 2", "true", "0x10", "[1]", "e5"] {
            assert_eq!(float_of_text(text), None, "{text}");
        }
    }
}
