//! Times as stores write them, as milliseconds since the epoch.

/// RFC 3339 text (any offset, any precision) or a bare number of seconds, milliseconds, microseconds or nanoseconds.
pub fn parse_text(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Some(ms) = rfc3339_utc_ms(text) {
        return Some(ms);
    }
    if let Ok(t) = text.parse::<jiff::Timestamp>() {
        return sane(t.as_millisecond());
    }
    if let Ok(n) = text.parse::<f64>() {
        return from_number(n);
    }
    // No offset: stores that leave it out write UTC.
    let civil = text.parse::<jiff::civil::DateTime>().ok()?;
    sane(jiff::tz::TimeZone::UTC.to_timestamp(civil).ok()?.as_millisecond())
}

/// A number whose unit is told by its size.
pub fn from_number(n: f64) -> Option<i64> {
    if !n.is_finite() || n <= 0.0 {
        return None;
    }
    let ms = match n {
        n if n < 1e11 => n * 1e3,
        n if n < 1e14 => n,
        n if n < 1e17 => n / 1e3,
        n => n / 1e6,
    };
    sane(ms as i64)
}

/// Nothing before 1971 and nothing past the year 9999 is a time a store means.
fn sane(ms: i64) -> Option<i64> {
    (31_536_000_000..253_402_300_800_000).contains(&ms).then_some(ms)
}

/// The fast path for `2026-11-30T21:02:07.385Z`, which is nearly every record.
fn rfc3339_utc_ms(text: &str) -> Option<i64> {
    let b = text.as_bytes();
    if b.len() != 24 || b[4] != b'-' || b[7] != b'-' || b[10] != b'T' || b[13] != b':' || b[16] != b':' {
        return None;
    }
    if b[19] != b'.' || b[23] != b'Z' {
        return None;
    }
    let num = |from: usize, to: usize| -> Option<i64> {
        b[from..to].iter().try_fold(0i64, |n, c| c.is_ascii_digit().then(|| n * 10 + i64::from(c - b'0')))
    };
    let (y, m, d) = (num(0, 4)?, num(5, 7)?, num(8, 10)?);
    let (h, min, s, ms) = (num(11, 13)?, num(14, 16)?, num(17, 19)?, num(20, 23)?);
    if !(1..=12).contains(&m) || !(1..=31).contains(&d) || h > 23 || min > 59 || s > 60 {
        return None;
    }
    sane((days_from_civil(y, m, d) * 86_400 + h * 3600 + min * 60 + s) * 1000 + ms)
}

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar.
fn days_from_civil(y: i64, m: i64, d: i64) -> i64 {
    let y = if m <= 2 { y - 1 } else { y };
    let era = y.div_euclid(400);
    let yoe = y - era * 400;
    let doy = (153 * (if m > 2 { m - 3 } else { m + 9 }) + 2) / 5 + d - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_one_instant_agree() {
        let ms = 1_769_314_080_000;
        for text in [
            "2026-01-25T04:08:00.000Z",
            "2026-01-25T04:08:00Z",
            "2026-01-25T13:08:00+09:00",
            "2026-01-25T04:08:00.000000Z",
            "2026-01-25T04:08:00",
            "1769314080",
            "1769314080000",
            "1769314080000000",
        ] {
            assert_eq!(parse_text(text), Some(ms), "{text}");
        }
    }

    #[test]
    fn nonsense_is_no_time() {
        for text in ["", "yesterday", "-5", "0", "2026-13-45T99:99:99.000Z", "NaN", "1e40"] {
            assert_eq!(parse_text(text), None, "{text}");
        }
    }
}
