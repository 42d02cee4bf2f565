//! Checks from time to time, and sends events.
use std::net::IpAddr;
use std::sync::Weak;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::client::Client;
use super::{Failure, Outcome, Trigger, system};

const TICK: Duration = Duration::from_secs(60);
const MINUTE_MS: i64 = 60_000;
/// A longer time between two ticks means that the computer slept, or that its clock was set, forward or back.
const WAKE_MS: i64 = 5 * MINUTE_MS;

type Network = [Option<IpAddr>; 2];

/// What the program reports to the thread.
pub(crate) enum Signal {
    /// It came to the front.
    Focus,
    /// A call was not answered; the service asked to wait that long.
    Unanswered(Duration),
}

/// Decides when to check, and when to send events.
pub(crate) struct Schedule {
    last_tick_ms: i64,
    check_in_ms: i64,
    flush_in_ms: i64,
    /// How many requests in a row were not answered.
    failures: usize,
    flush_failures: usize,
    focused_at_ms: Option<i64>,
    network: Network,
}

impl Schedule {
    pub(crate) fn new(now_ms: i64, network: Network) -> Self {
        Self {
            last_tick_ms: now_ms,
            check_in_ms: 0,
            flush_in_ms: 0,
            failures: 0,
            flush_failures: 0,
            focused_at_ms: None,
            network,
        }
    }

    /// Returns why to check now, a minute or more after the last call.
    pub(crate) fn tick(&mut self, now_ms: i64, network: Network) -> Option<Trigger> {
        let passed_ms = now_ms - self.last_tick_ms;
        self.last_tick_ms = now_ms;
        // A clock that was set back counts as a tick.
        self.check_in_ms -= passed_ms.max(MINUTE_MS);
        self.flush_in_ms -= passed_ms.max(MINUTE_MS);
        let has_moved = std::mem::replace(&mut self.network, network) != network;
        if passed_ms.abs() > WAKE_MS {
            return Some(Trigger::Wake);
        }
        if self.failures > 0 && has_moved {
            return Some(Trigger::Reconnect);
        }
        (self.check_in_ms <= 0).then_some(Trigger::Scheduled)
    }

    /// Returns why to check when the program came to the front: at most once a minute.
    pub(crate) fn focus(&mut self, now_ms: i64) -> Option<Trigger> {
        let is_early = self.focused_at_ms.is_some_and(|at| (now_ms - at).abs() < MINUTE_MS);
        if is_early {
            return None;
        }
        self.focused_at_ms = Some(now_ms);
        Some(Trigger::Foreground)
    }

    /// Brings the next check forward: what waits for the service, such as a trial, is sent soon.
    pub(crate) fn unanswered(&mut self, retry_after: Duration, random: f64) {
        self.failures = self.failures.max(1);
        self.check_in_ms = self.check_in_ms.min(wait_ms(self.failures, retry_after, random));
    }

    pub(crate) fn must_flush(&self) -> bool {
        self.flush_in_ms <= 0
    }

    /// Plans the next check: as soon as after no answer while the kept file cannot be read. `random` is from 0 to 1.
    pub(crate) fn after_check<T>(&mut self, result: &Outcome<T>, is_unread: bool, random: f64) {
        (self.failures, self.check_in_ms) = plan(self.failures, result, is_unread, random);
    }

    /// Plans the next flush: at each tick, or later if the last one was not answered.
    pub(crate) fn after_flush<T>(&mut self, result: &Outcome<T>, random: f64) {
        let (failures, wait_ms) = plan(self.flush_failures, result, false, random);
        self.flush_failures = failures;
        self.flush_in_ms = if failures == 0 { 0 } else { wait_ms };
    }
}

fn plan<T>(before: usize, result: &Outcome<T>, is_unread: bool, random: f64) -> (usize, i64) {
    let (is_answered, retry_after) = match result {
        Err(Failure::NoAnswer { retry_after, .. }) => (false, *retry_after),
        _ => (true, Duration::ZERO),
    };
    let failures = if is_answered && !is_unread { 0 } else { before + 1 };
    (failures, wait_ms(failures, retry_after, random))
}

/// Returns how long to wait after a number of requests without an answer: a day without one. The wait differs by up to a tenth, so
/// that the machines of a company do not ask at the same time.
fn wait_ms(failures: usize, retry_after: Duration, random: f64) -> i64 {
    let minutes = match failures {
        0 => 24 * 60,
        1 => 1,
        2 => 5,
        3 => 15,
        _ => 60,
    };
    let wait = Duration::from_secs(minutes * 60).max(retry_after).mul_f64(0.9 + 0.2 * random);
    i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)
}

/// Checks until the client is closed or gone.
pub(crate) fn watch(client: &Weak<Client>, signals: &Receiver<Signal>) {
    let Some(mut schedule) = client.upgrade().map(|client| Schedule::new(client.now_ms(), system::describe_network()))
    else {
        return;
    };
    let mut trigger = Some(Trigger::Startup);
    let mut tick_at = Instant::now() + TICK;
    loop {
        // It is held only while it works, so that it ends with the program's last copy.
        let Some(client_now) = client.upgrade() else { return };
        work(&client_now, &mut schedule, trigger);
        drop(client_now);
        let signal = signals.recv_timeout(tick_at.saturating_duration_since(Instant::now()));
        let Some(client_now) = client.upgrade() else { return };
        let now_ms = client_now.now_ms();
        trigger = match signal {
            Ok(Signal::Focus) => schedule.focus(now_ms),
            Ok(Signal::Unanswered(retry_after)) => {
                schedule.unanswered(retry_after, random());
                None
            }
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                tick_at = Instant::now() + TICK;
                schedule.tick(now_ms, system::describe_network())
            }
        };
    }
}

fn work(client: &Client, schedule: &mut Schedule, trigger: Option<Trigger>) {
    if let Some(trigger) = trigger {
        let result = client.run(|client| client.check(trigger));
        schedule.after_check(&result, client.is_unread(), random());
    }
    if schedule.must_flush() {
        let result = client.guard(|client| client.events.flush(client));
        schedule.after_flush(&result, random());
    }
    client.notify();
}

/// Returns a number from 0 to 1.
fn random() -> f64 {
    let [byte, ..] = system::random_bytes();
    f64::from(byte) / 255.0
}
