//! How long a program waits. The best of several runs counts, because computers that test are busy.
use std::time::{Duration, Instant};

use crate::latchkey::{Cause, Trigger};
use crate::support::{Folder, fail, open, open_licensed};

fn best_of(runs: usize, mut work: impl FnMut()) -> Duration {
    let measure = |work: &mut dyn FnMut()| {
        let started = Instant::now();
        work();
        started.elapsed()
    };
    (0..runs).map(|_| measure(&mut work)).min().unwrap()
}

#[test]
fn the_state_is_ready_from_disk_in_five_milliseconds_and_an_offline_check_takes_less_than_one() {
    let folder = Folder::new();
    drop(open_licensed(&folder));
    let opened = best_of(20, || assert!(open(&folder).client.state().may_run));
    let world = open(&folder);
    world.service.answer(|_| fail(Cause::Connection));
    let checked = best_of(100, || assert!(world.client.check(Trigger::Manual).is_err() && world.client.has("gpu")));
    println!("state from disk: {opened:?}; offline check: {checked:?}");
    assert!(opened < Duration::from_millis(5), "state from disk: {opened:?}");
    assert!(checked < Duration::from_millis(1), "offline check: {checked:?}");
}
