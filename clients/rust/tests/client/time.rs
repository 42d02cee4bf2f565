//! Times as texts.
use crate::latchkey::rules::{format_time, parse_date, parse_time};

#[test]
fn times_are_written_and_read_in_rfc_3339() {
    for (ms, text) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
        (1_800_000_000_123, "2027-01-15T08:00:00.123Z"),
        (253_402_300_799_000, "9999-12-31T23:59:59.000Z"),
    ] {
        assert_eq!(format_time(ms), text);
        assert_eq!(parse_time(text), Some(ms));
    }
    assert_eq!(parse_time("2027-01-15T08:00:00Z"), Some(1_800_000_000_000));
}

#[test]
fn every_day_of_eight_centuries_survives() {
    let day_ms = 86_400_000;
    for day in -146_097..146_097 {
        assert_eq!(parse_time(&format_time(day * day_ms)), Some(day * day_ms));
    }
}

#[test]
fn a_time_beyond_all_calendars_is_limited() {
    assert_eq!(format_time(i64::MAX), format_time(8_640_000_000_000_000));
    assert_eq!(format_time(i64::MIN), format_time(-8_640_000_000_000_000));
}

#[test]
fn the_header_date_is_read() {
    assert_eq!(parse_date("Fri, 15 Jan 2027 08:00:00 GMT"), Some(1_800_000_000_000));
    for wrong in [
        "",
        "yesterday",
        "Fri, 15 Jan 2027 08:00:00 CET",
        "Fri, 15 anF 2027 08:00:00 GMT",
        "Fri, 99 Jan 2027 08:00:00 GMT",
    ] {
        assert_eq!(parse_date(wrong), None, "{wrong}");
    }
}
