//! When the client checks in the background.
use std::time::Duration;

use crate::latchkey::background::Schedule;
use crate::latchkey::{Cause, Failure, Outcome, Trigger};

const MINUTE_MS: i64 = 60_000;
const HOME: [Option<std::net::IpAddr>; 2] = [None, None];
const TRAIN: [Option<std::net::IpAddr>; 2] = [Some(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST)), None];

/// Passes minutes, and returns what is checked, with the result of each.
fn pass(schedule: &mut Schedule, now_ms: &mut i64, minutes: i64, result: &Outcome) -> Vec<(i64, Trigger)> {
    let mut checked = Vec::new();
    for minute in 1..=minutes {
        *now_ms += MINUTE_MS;
        if let Some(trigger) = schedule.tick(*now_ms, HOME) {
            checked.push((minute, trigger));
            schedule.after_check(result, false, 0.5);
        }
    }
    checked
}

fn unanswered(seconds: u64) -> Outcome {
    Err(Failure::NoAnswer { cause: Cause::Dns, retry_after: Duration::from_secs(seconds) })
}

fn start(result: &Outcome) -> Schedule {
    let mut schedule = Schedule::new(0, HOME);
    schedule.after_check(result, false, 0.5);
    schedule
}

#[test]
fn checks_daily() {
    let checked = pass(&mut start(&Ok(())), &mut 0, 2 * 24 * 60, &Ok(()));
    assert_eq!(checked, [(24 * 60, Trigger::Scheduled), (48 * 60, Trigger::Scheduled)]);
}

#[test]
fn checks_again_after_1_5_15_and_60_minutes_without_an_answer() {
    let checked = pass(&mut start(&unanswered(0)), &mut 0, 150, &unanswered(0));
    assert_eq!(checked.iter().map(|(minute, _)| *minute).collect::<Vec<_>>(), [1, 6, 21, 81, 141]);
}

#[test]
fn checks_soon_while_the_file_cannot_be_read() {
    let mut schedule = Schedule::new(0, HOME);
    schedule.after_check(&Ok::<(), _>(()), true, 0.5);
    assert_eq!(schedule.tick(MINUTE_MS, HOME), Some(Trigger::Scheduled));
    // A trial runs, and a license may be in the file.
    schedule.after_check(&Ok::<(), _>(()), true, 0.5);
    let mut now_ms = MINUTE_MS;
    assert_eq!(pass(&mut schedule, &mut now_ms, 1_444, &Ok(())), [(5, Trigger::Scheduled)]);
}

#[test]
fn waits_as_long_as_the_service_asks() {
    let checked = pass(&mut start(&unanswered(1_800)), &mut 0, 60, &Ok(()));
    assert_eq!(checked, [(30, Trigger::Scheduled)]);
}

#[test]
fn checks_after_sleep_and_when_the_clock_is_set_back() {
    let mut schedule = start(&Ok(()));
    assert_eq!(schedule.tick(MINUTE_MS, HOME), None);
    assert_eq!(schedule.tick(10 * MINUTE_MS, HOME), Some(Trigger::Wake));
    schedule.after_check(&Ok::<(), _>(()), false, 0.5);
    assert_eq!(schedule.tick(9 * MINUTE_MS, HOME), None);
    assert_eq!(schedule.tick(MINUTE_MS, HOME), Some(Trigger::Wake));
}

#[test]
fn checks_in_another_network_if_the_last_request_was_not_answered() {
    let mut schedule = start(&Ok(()));
    assert_eq!(schedule.tick(MINUTE_MS, TRAIN), None);
    let mut schedule = start(&unanswered(3_600));
    assert_eq!(schedule.tick(MINUTE_MS, TRAIN), Some(Trigger::Reconnect));
}

#[test]
fn checks_at_the_front_once_a_minute_at_most() {
    let mut schedule = start(&Ok(()));
    assert_eq!(schedule.focus(0), Some(Trigger::Foreground));
    assert_eq!(schedule.focus(MINUTE_MS - 1), None);
    assert_eq!(schedule.focus(MINUTE_MS), Some(Trigger::Foreground));
}

#[test]
fn a_call_of_the_program_without_an_answer_brings_the_next_check_forward() {
    let mut schedule = start(&Ok(()));
    schedule.unanswered(Duration::ZERO, 0.5);
    assert_eq!(pass(&mut schedule, &mut 0, 60, &Ok(())), [(1, Trigger::Scheduled)]);
}

#[test]
fn sends_events_each_minute_and_less_often_without_an_answer() {
    let mut schedule = start(&Ok(()));
    assert!(schedule.must_flush());
    schedule.after_flush(&Ok::<(), _>(()), 0.5);
    assert!(schedule.must_flush());
    schedule.after_flush(&unanswered(0), 0.5);
    schedule.after_flush(&unanswered(0), 0.5);
    schedule.tick(MINUTE_MS, HOME);
    assert!(!schedule.must_flush());
}
