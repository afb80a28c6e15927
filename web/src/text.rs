//! Numbers, times and places as people write them.

use hangscope_analyzer_core::report::Site;

/// `11840` as `11,840`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 rank`, `8 ranks`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// `1 entry`, `8 entries`.
pub(crate) fn entries(number: u64) -> String {
    format!("{} {}", thousands(number), if number == 1 { "entry" } else { "entries" })
}

/// A size in the unit that leaves one to three digits before the point.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if number < 1000 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1000.0;
    let mut unit = UNITS[0];
    for larger in &UNITS[1..] {
        if value < 999.95 {
            break;
        }
        value /= 1000.0;
        unit = larger;
    }
    format!("{} {unit}", decimal(value, 1))
}

/// A number with so many digits after the point.
///
/// The standard library's way to write such a number is exact to the last of hundreds of digits, and a page has to load it.
pub(crate) fn decimal(value: f64, digits: u32) -> String {
    let unit = 10_u64.pow(digits);
    let size = (value.abs() * unit as f64).round() as u64;
    let sign = if value < 0.0 && size > 0 { "-" } else { "" };
    let whole = size / unit;
    if digits == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{:0>1$}", size % unit, digits as usize) }
}

/// A place or a size on the screen, as style sheets and drawings have it: `12`, `7.5`.
pub(crate) fn length(value: f64) -> String {
    let text = decimal(value, 3);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A stretch of time: `0.3 ms`, `4.2 s`, `10 min 0 s`, `2 h 5 min`.
pub(crate) fn duration(nanos: i64) -> String {
    let nanos_unsigned = nanos.unsigned_abs();
    let seconds = nanos_unsigned / 1_000_000_000;
    match nanos_unsigned {
        0..1_000 => format!("{nanos_unsigned} ns"),
        1_000..100_000 => format!("{} µs", decimal(nanos_unsigned as f64 / 1e3, 1)),
        100_000..1_000_000_000 => format!("{} ms", decimal(nanos_unsigned as f64 / 1e6, 1)),
        1_000_000_000..60_000_000_000 => format!("{} s", decimal(nanos_unsigned as f64 / 1e9, 1)),
        60_000_000_000..3_600_000_000_000 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", thousands(seconds / 3600), seconds / 60 % 60),
    }
}

/// The wall clock of a Unix time in nanoseconds: `2026-08-14 14:02:11.482 UTC`.
pub(crate) fn utc(nanos: i64) -> String {
    let seconds = nanos.div_euclid(1_000_000_000);
    let millis = nanos.rem_euclid(1_000_000_000) / 1_000_000;
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02}.{millis:03} UTC", second % 60)
}

/// Year, month and day of a day counted from 1970-01-01, by counting in eras of 400 years that begin in March: so the
/// leap day is an era's, a century's and a year's last.
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// The last part of a path, of either system.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// `train_3d.py:37`.
pub(crate) fn place(file: &str, line: u32) -> String {
    format!("{}:{line}", file_name(file))
}

/// `mlp · train_3d.py:37`.
pub(crate) fn site(site: &Site) -> String {
    format!("{} · {}", site.function, place(&site.file, site.line))
}

/// How many ranks a text of ranges names.
pub(crate) fn rank_count(ranges: &str) -> u64 {
    parse_ranges(ranges).map(|(low, high)| u64::from(high - low) + 1).sum()
}

/// The ranges of a text such as `0-6,8`; what is not one is left out.
pub(crate) fn parse_ranges(ranges: &str) -> impl Iterator<Item = (u32, u32)> + '_ {
    ranges.split(',').filter_map(|part| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high) = (low.parse().ok()?, high.parse().ok()?);
        (low <= high).then_some((low, high))
    })
}

/// `rank 5` or `ranks 0-3,8`.
pub(crate) fn ranks(ranges: &str) -> String {
    if rank_count(ranges) == 1 { format!("rank {ranges}") } else { format!("ranks {ranges}") }
}

/// With a capital first letter.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| std::iter::once(first.to_ascii_uppercase()).chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_a_point() {
        for (value, one, short) in [
            (0.0, "0.0", "0"),
            (12.0, "12.0", "12"),
            (7.5, "7.5", "7.5"),
            (-0.26, "-0.3", "-0.26"),
            (-0.0001, "0.0", "0"),
            (33_554_400.125, "33554400.1", "33554400.125"),
        ] {
            assert_eq!((decimal(value, 1).as_str(), length(value).as_str()), (one, short));
        }
        assert_eq!(decimal(2.5, 0), "3");
        assert_eq!(decimal(1.05, 2), "1.05");
    }

    #[test]
    fn numbers() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (11_840, "11,840"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
        assert_eq!(counted(1, "file"), "1 file");
        assert_eq!(counted(0, "file"), "0 files");
        assert_eq!(entries(1), "1 entry");
        assert_eq!(entries(2), "2 entries");
    }

    #[test]
    fn sizes() {
        for (number, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (999_940, "999.9 kB"),
            (999_999, "1.0 MB"),
            (11_800_000, "11.8 MB"),
            (u64::MAX, "18446744.1 TB"),
        ] {
            assert_eq!(bytes(number), text);
        }
    }

    #[test]
    fn durations() {
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (25_300, "25.3 µs"),
            (300_000, "0.3 ms"),
            (4_200_000_000, "4.2 s"),
            (600_000_000_000, "10 min 0 s"),
            (7_500_000_000_000, "2 h 5 min"),
            (i64::MIN, "2,562,047 h 47 min"),
        ] {
            assert_eq!(duration(nanos), text);
        }
    }

    #[test]
    fn wall_clock() {
        for (nanos, text) in [
            (0, "1970-01-01 00:00:00.000 UTC"),
            (951_782_400_000_000_000, "2000-02-29 00:00:00.000 UTC"),
            (1_786_716_131_482_999_999, "2026-08-14 14:02:11.482 UTC"),
            (-1_000_000, "1969-12-31 23:59:59.999 UTC"),
        ] {
            assert_eq!(utc(nanos), text);
        }
    }

    #[test]
    fn places_and_ranks() {
        assert_eq!(file_name("/a/b/train.py"), "train.py");
        assert_eq!(file_name("C:\\a\\train.py"), "train.py");
        assert_eq!(file_name("train.py"), "train.py");
        assert_eq!(rank_count(""), 0);
        assert_eq!(rank_count("0-6,8"), 8);
        assert_eq!(rank_count("9-3,x"), 0);
        assert_eq!(ranks("5"), "rank 5");
        assert_eq!(ranks("0-3,8"), "ranks 0-3,8");
        assert_eq!(sentence("bad arguments"), "Bad arguments");
        assert_eq!(sentence(""), "");
    }
}
