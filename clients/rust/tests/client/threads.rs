//! Several threads, and functions of the program that panic.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::latchkey::{Cause, Kind, Trigger};
use crate::support::{Folder, KEY, activated, fail, open, open_licensed, open_with, validated};

#[test]
fn calls_run_one_after_the_other() {
    let folder = Folder::new();
    let world = open_licensed(&folder);
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running_now, most_now) = (Arc::clone(&running), Arc::clone(&most));
    world.service.answer(move |_| {
        most_now.fetch_max(running_now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::yield_now();
        running_now.fetch_sub(1, Ordering::SeqCst);
        validated()
    });
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let client = world.client.clone();
            thread::spawn(move || (0..20).all(|_| client.check(Trigger::Manual).is_ok() && client.state().may_run))
        })
        .collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    assert_eq!((most.load(Ordering::SeqCst), world.service.take_requests().len()), (1, 160));
}

#[test]
fn the_state_is_read_while_a_call_waits_for_the_service() {
    let folder = Folder::new();
    let world = open(&folder);
    let (asked, was_asked) = mpsc::channel();
    let (answer, may_answer) = mpsc::channel::<()>();
    world.service.answer(move |_| {
        asked.send(()).unwrap();
        may_answer.recv().unwrap();
        activated()
    });
    let client = world.client.clone();
    let call = thread::spawn(move || client.activate(KEY));
    was_asked.recv().unwrap();
    assert_eq!(world.client.state().kind, Kind::None);
    world.client.track("opened", &[]);
    answer.send(()).unwrap();
    call.join().unwrap().unwrap();
    assert_eq!(world.client.state().kind, Kind::Licensed);
}

#[test]
fn a_panic_of_a_transport_ends_its_call_only() {
    let folder = Folder::new();
    let world = open_licensed(&folder);
    world.service.answer(|_| panic!("a transport of a test"));
    assert_eq!(world.client.check(Trigger::Manual).unwrap_err().code(), "unexpected");
    assert_eq!(world.problems(), ["unexpected"]);
    world.service.answer(|_| validated());
    world.client.check(Trigger::Manual).unwrap();
}

#[test]
fn panics_of_the_functions_of_the_program_end_nothing() {
    let folder = Folder::new();
    std::fs::write(folder.file("license.json"), "damaged").unwrap();
    let world = open_with(&folder, |options| options.on_problem = Box::new(|_| panic!("a function of a test")));
    world.client.on_change(|_| panic!("a listener of a test"));
    world.service.answer(|_| activated());
    world.client.activate(KEY).unwrap();
    assert!(world.client.explain().contains("problem: listener: a listener ended with a panic\n"));
}

#[test]
fn a_trial_that_was_not_answered_is_started_in_the_background() {
    let folder = Folder::new();
    let world = open(&folder);
    world.client.start_trial().unwrap_err();
    let (changed, was_changed) = mpsc::channel();
    world.client.on_change(move |state| changed.send(state.kind).unwrap());
    world.service.answer(|_| activated());
    world.client.keep_checking();
    world.client.keep_checking();
    assert_eq!(was_changed.recv_timeout(Duration::from_secs(60)), Ok(Kind::Licensed));
    world.client.close();
    assert_eq!(world.service.take_requests().len(), 2, "one trial that failed, and one that began");
}

#[test]
fn the_background_checks_at_the_front_and_ends_with_the_client() {
    let folder = Folder::new();
    let world = open_licensed(&folder);
    let (asked, was_asked) = mpsc::channel();
    world.service.answer(move |request| {
        // The test may be over.
        let _ = asked.send(request.body.clone().unwrap_or_default());
        fail(Cause::Dns)
    });
    world.client.notice_focus();
    world.client.keep_checking();
    world.client.notice_focus();
    world.client.notice_focus();
    for trigger in ["startup", "foreground"] {
        let body = was_asked.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(body.contains(trigger), "{body}");
    }
    world.client.close();
    let script = world.service.clone();
    drop(world);
    // The thread drops the client, and with it the script.
    script.answer(|_| validated());
    assert_eq!(was_asked.recv_timeout(Duration::from_secs(60)), Err(mpsc::RecvTimeoutError::Disconnected));
}
