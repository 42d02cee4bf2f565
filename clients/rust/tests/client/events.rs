//! Events wait on disk, within limits, and keep their ids.
use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use serde_json::{Value, json};

use crate::latchkey::system::time_uuid;
use crate::latchkey::{Cause, Failure, Flushed, Latchkey};
use crate::support::{Answer, DAY_MS, Folder, NOW_MS, World, fail, open, open_with, page, problem, reply};

fn lines(folder: &Folder) -> Vec<Value> {
    let text = fs::read_to_string(folder.file("events.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn stored() -> Answer {
    reply(200, &json!({ "accepted": 1, "dropped": 0 }))
}

/// Opens a client whose user shares usage.
fn open_sharing(folder: &Folder) -> World {
    let world = open(folder);
    world.client.set_sharing(true).unwrap();
    world.service.answer(|_| stored());
    world
}

/// Returns the ids of the sent batches.
fn sent_ids(world: &World) -> Vec<Vec<String>> {
    let ids = |body: &Value| -> Vec<String> {
        body["events"].as_array().unwrap().iter().map(|event| event["event_id"].as_str().unwrap().to_owned()).collect()
    };
    world.service.take_requests().iter().map(|(_, body)| ids(body)).collect()
}

#[test]
fn an_event_is_on_disk_when_track_returns() {
    let folder = Folder::new();
    let world = open(&folder);
    world.client.track(" export\u{7}finished ", &[("format", "pdf"), ("note", "a\0b")]);
    let [event] = &lines(&folder)[..] else { panic!("one event") };
    assert_eq!(
        (&event["name"], &event["props"]),
        (&json!("export finished"), &json!({ "format": "pdf", "note": "a\u{fffd}b" }))
    );
    assert_eq!((&event["at"], &event["app"]), (&json!("2027-01-15T08:00:00.000Z"), &json!("2.4.0")));
    world.client.track(" \u{200b}", &[]);
    assert_eq!(lines(&folder).len(), 1);
}

#[test]
fn ids_begin_with_the_time() {
    let ids: Vec<String> = (0..3).map(|ms| time_uuid(NOW_MS + ms)).collect();
    assert!(ids.is_sorted() && ids[0].starts_with("01a3185c-5000-7"), "{ids:?}");
    assert!(ids.iter().all(|id| id.len() == 36 && "89ab".contains(&id[19..20])), "{ids:?}");
    let many: HashSet<String> = (0..10_000).map(|_| time_uuid(NOW_MS)).collect();
    assert_eq!(many.len(), 10_000);
}

#[test]
fn nothing_is_sent_without_consent_and_a_refusal_deletes() {
    let folder = Folder::new();
    let world = open(&folder);
    world.client.track("opened", &[]);
    assert_eq!(world.client.flush().unwrap_err().code(), "sharing_off");
    world.client.set_sharing(false).unwrap();
    assert_eq!(lines(&folder).len(), 0);
    world.client.track("opened", &[]);
    assert_eq!((lines(&folder).len(), world.service.take_requests().len()), (0, 0));
    world.client.set_sharing(true).unwrap();
    let install_id = folder.kept()["install_id"].as_str().map(str::to_owned);
    assert_eq!((install_id.is_some(), world.client.erase()), (true, Ok(install_id)));
    assert_eq!(folder.kept()["install_id"], Value::Null);
}

#[test]
fn a_batch_has_500_events_of_one_run() {
    let folder = Folder::new();
    let first = open_sharing(&folder);
    (0..3).for_each(|_| first.client.track("before", &[]));
    drop(first);
    let world = open_sharing(&folder);
    (0..1_001).for_each(|_| world.client.track("after", &[]));
    assert_eq!(world.client.flush(), Ok(Flushed { sent: 1_004, rejected: 0 }));
    let batches = sent_ids(&world);
    assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [3, 500, 500, 1]);
    assert_eq!(batches.concat().into_iter().collect::<HashSet<_>>().len(), 1_004);
    assert_eq!(lines(&folder).len(), 0);
}

#[test]
fn without_an_answer_the_ids_stay() {
    let folder = Folder::new();
    let world = open_sharing(&folder);
    world.client.track("opened", &[]);
    let answers: [fn() -> Answer; 7] = [
        || fail(Cause::Dns),
        || problem(429, "rate_limited"),
        || problem(503, "busy"),
        || page(200),
        || page(403),
        || page(422),
        || reply(422, &json!({ "error": "blocked by policy" })),
    ];
    for answer in answers {
        world.service.answer(move |_| answer());
        assert!(matches!(world.client.flush(), Err(Failure::NoAnswer { .. })));
    }
    drop(world.client.clone());
    let again = open_sharing(&folder);
    assert_eq!(again.client.flush(), Ok(Flushed { sent: 1, rejected: 0 }));
    let ids: HashSet<_> = sent_ids(&world).into_iter().chain(sent_ids(&again)).collect();
    assert_eq!(ids.len(), 1, "always the same batch: {ids:?}");
}

#[test]
fn a_batch_that_is_too_large_is_halved_and_one_that_is_refused_is_dropped() {
    let folder = Folder::new();
    let world = open_sharing(&folder);
    (0..7).for_each(|number| world.client.track(&format!("event {number}"), &[]));
    world.service.answer(|request| {
        let body = request.body.as_deref().unwrap_or_default();
        match (body.matches("event_id").count(), body.contains("event 4")) {
            (3.., _) => page(413),
            (_, true) => reply(422, &json!({ "detail": [{ "loc": ["body"], "msg": "too long", "type": "too_long" }] })),
            _ => stored(),
        }
    });
    // Seven are halved to three and to one: the refused one is then alone.
    assert_eq!(world.client.flush(), Ok(Flushed { sent: 6, rejected: 1 }));
    assert_eq!((lines(&folder).len(), world.problems()), (0, vec!["events_rejected".to_owned()]));
}

#[test]
fn a_full_queue_drops_and_counts_the_oldest() {
    let folder = Folder::new();
    let world = open(&folder);
    let line = |number: usize| {
        json!({ "id": time_uuid(NOW_MS), "name": number.to_string(), "at": "2027-01-15T08:00:00.000Z", "props": {},
            "session": "s", "app": "1" })
    };
    let full: String = (0..5_000).map(|number| format!("{}\n", line(number))).collect();
    fs::write(folder.file("events.jsonl"), full).unwrap();
    world.client.track("last", &[]);
    let kept = lines(&folder);
    assert_eq!((kept.len(), &kept[0]["name"], &kept[4_499]["name"]), (4_500, &json!("501"), &json!("last")));
    assert!(world.client.explain().contains("events dropped: 501\n"));
}

#[test]
fn the_file_stays_below_a_megabyte() {
    let folder = Folder::new();
    let world = open(&folder);
    let value = "x".repeat(1_024);
    for number in 0..1_500 {
        world.client.track(&number.to_string(), &[("value", &value)]);
        if number % 100 == 0 {
            assert!(fs::metadata(folder.file("events.jsonl")).unwrap().len() <= 1_000_000);
        }
    }
    assert_eq!(lines(&folder).last().unwrap()["name"], "1499");
}

/// Tracks an event of a thousand bytes.
fn track_much(client: &Latchkey, name: &str) {
    client.track(name, &[("value", &"x".repeat(1_000))]);
}

#[test]
fn events_that_are_sent_while_space_is_made_are_not_counted_as_dropped() {
    let folder = Folder::new();
    let world = open_sharing(&folder);
    world.client.track("first", &[]);
    let client = world.client.clone();
    let mut is_first = true;
    world.service.answer(move |_| {
        if std::mem::take(&mut is_first) {
            (0..900).for_each(|_| track_much(&client, "fills the queue"));
        }
        stored()
    });
    let sent = world.client.flush().unwrap().sent;
    let text = world.client.explain();
    let dropped: usize = text.split("events dropped: ").nth(1).unwrap().trim().parse().unwrap();
    assert!(dropped > 0, "{text}");
    assert_eq!((sent + dropped, lines(&folder).len()), (901, 0));
}

#[test]
fn events_that_were_dropped_while_they_were_not_answered_are_counted() {
    let folder = Folder::new();
    let world = open_sharing(&folder);
    world.client.track("first", &[]);
    let client = world.client.clone();
    world.service.answer(move |_| {
        (0..900).for_each(|_| track_much(&client, "fills the queue"));
        fail(Cause::Dns)
    });
    world.client.flush().unwrap_err();
    world.service.answer(|_| stored());
    let sent = world.client.flush().unwrap().sent;
    let dropped = format!("events dropped: {}\n", 901 - sent);
    assert!(sent < 900 && world.client.explain().contains(&dropped), "{sent} sent: {}", world.client.explain());
}

#[test]
fn what_another_process_added_survives_when_space_is_made() {
    let folder = Folder::new();
    let world = open(&folder);
    track_much(&world.client, "ours");
    let other = open(&folder).client;
    (0..700).for_each(|_| track_much(&other, "theirs"));
    (0..200).for_each(|_| track_much(&world.client, "ours"));
    let theirs = |line: &&Value| line["name"] == "theirs";
    assert!(lines(&folder).iter().filter(theirs).count() > 500);
}

#[test]
fn old_events_are_dropped() {
    let folder = Folder::new();
    let world = open_sharing(&folder);
    world.client.track("old", &[]);
    world.set_clock(NOW_MS + 31 * DAY_MS);
    world.client.track("new", &[]);
    assert_eq!(world.client.flush(), Ok(Flushed { sent: 1, rejected: 0 }));
    assert!(world.client.explain().contains("events dropped: 1\n"));
}

#[test]
fn a_line_that_was_cut_is_removed_and_others_survive() {
    let folder = Folder::new();
    open(&folder).client.track("whole", &[]);
    let mut file = fs::OpenOptions::new().append(true).open(folder.file("events.jsonl")).unwrap();
    file.write_all(b"{\"id\":\"cut").unwrap();
    open(&folder).client.track("next", &[]);
    let names: Vec<Value> = lines(&folder).iter().map(|event| event["name"].clone()).collect();
    assert_eq!(names, ["whole", "next"]);
}

#[test]
fn what_another_process_adds_during_a_flush_is_kept() {
    let folder = Folder::new();
    let world = open_sharing(&folder);
    world.client.track("ours", &[]);
    let mut rounds = 0;
    let other = open(&folder).client;
    world.service.answer(move |_| {
        rounds += 1;
        if rounds == 1 {
            other.track("theirs", &[]);
        }
        stored()
    });
    assert_eq!(world.client.flush(), Ok(Flushed { sent: 2, rejected: 0 }));
}

#[test]
fn no_event_is_sent_under_an_id_that_is_erased_while_a_batch_is_sent() {
    let folder = Folder::new();
    let world = open_sharing(&folder);
    (0..501).for_each(|_| world.client.track("clicked", &[]));
    let path = folder.file("license.json");
    let (eraser, (erased, was_erased)) = (world.client.clone(), mpsc::channel());
    let mut is_first = true;
    world.service.answer(move |_| {
        if std::mem::take(&mut is_first) {
            let (eraser, erased) = (eraser.clone(), erased.clone());
            thread::spawn(move || erased.send(eraser.erase()).unwrap());
            while fs::read_to_string(&path).unwrap().contains("\"sharing\":true") {
                thread::yield_now();
            }
        }
        stored()
    });
    assert_eq!(world.client.flush().unwrap_err().code(), "sharing_off");
    assert!(was_erased.recv().unwrap().unwrap().is_some());
    assert_eq!(sent_ids(&world).iter().map(Vec::len).collect::<Vec<_>>(), [500]);
    assert_eq!(lines(&folder).len(), 0);
}

#[test]
fn no_event_is_kept_whose_tracking_began_before_sharing_ended() {
    let folder = Folder::new();
    let slot = Arc::new(Mutex::new(None::<Latchkey>));
    let ends_sharing = Arc::clone(&slot);
    let world = open_with(&folder, move |options| {
        // Tracking reads the clock before it adds the event.
        options.now = Box::new(move || {
            let client = ends_sharing.lock().unwrap().take();
            if let Some(client) = client {
                client.set_sharing(false).unwrap();
            }
            NOW_MS
        });
    });
    world.client.set_sharing(true).unwrap();
    *slot.lock().unwrap() = Some(world.client.clone());
    world.client.track("while sharing ends", &[]);
    assert!(slot.lock().unwrap().is_none());
    assert_eq!(lines(&folder).len(), 0);
}
