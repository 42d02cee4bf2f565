//! Files that exist, but cannot be read for a time.
use std::fs;

use serde_json::{Value, json};

use crate::latchkey::system::read_file_with_retries;
use crate::latchkey::{Cause, Flushed, Kind, Trigger};
use crate::support::{Folder, KEY, World, activated, fail, open, open_licensed, reply, sign, validated};

const FILE: &str = "license.json";
const EVENTS: &str = "events.jsonl";

#[test]
fn a_file_that_cannot_be_read_is_not_written_over() {
    let folder = Folder::new();
    drop(open_licensed(&folder));
    folder.make_unreadable(FILE);
    let world = open(&folder);
    assert_eq!(world.problems(), ["folder_unreadable", "folder_unwritable"]);
    world.service.answer(|_| activated());
    world.client.activate(KEY).unwrap();
    assert_eq!(world.client.state().kind, Kind::Licensed);
    assert!(fs::read_link(folder.file(FILE)).is_ok(), "the file that could not be read was replaced");
}

#[test]
fn the_file_is_read_again_before_the_next_call() {
    let folder = Folder::new();
    drop(open_licensed(&folder));
    folder.make_unreadable(FILE);
    let world = open(&folder);
    folder.restore(FILE);
    world.service.answer(|_| validated());
    world.client.check(Trigger::Manual).unwrap();
    assert_eq!((world.client.state().kind, &folder.kept()["key"]), (Kind::Licensed, &json!(KEY)));
}

#[test]
fn the_file_is_read_again_before_the_next_write() {
    let folder = Folder::new();
    drop(open_licensed(&folder));
    folder.make_unreadable(FILE);
    let world = open(&folder);
    let [elsewhere, file] = ["elsewhere", FILE].map(|name| folder.file(name));
    world.service.answer(move |_| {
        // During the call, which was to start a trial.
        fs::rename(&elsewhere, &file).unwrap();
        fail(Cause::Timeout)
    });
    assert_eq!(world.client.start_trial().unwrap_err().code(), "no_answer");
    assert_eq!(world.client.state().kind, Kind::Licensed);
    assert_eq!((&folder.kept()["key"], &folder.kept()["trial_wanted"]), (&json!(KEY), &json!(false)));
}

#[test]
fn a_file_that_is_busy_for_a_moment_is_read() {
    let folder = Folder::new();
    drop(open_licensed(&folder));
    folder.make_unreadable(FILE);
    let mut pauses = 0;
    let read = read_file_with_retries(&folder.file(FILE), |_| {
        pauses += 1;
        if pauses == 2 {
            folder.restore(FILE);
        }
    });
    assert_eq!((read.unwrap().is_some(), pauses), (true, 2));
}

#[test]
fn a_trial_of_the_run_does_not_replace_a_license() {
    let folder = Folder::new();
    drop(open_licensed(&folder));
    let before = folder.kept();
    folder.make_unreadable(FILE);
    let world = open(&folder);
    world.service.answer(|_| {
        let token = sign(&json!({ "trial": true }));
        reply(200, &json!({ "license_key": "LK-TRIAL", "activation_id": "trial", "entitlement": token }))
    });
    world.client.start_trial().unwrap();
    assert_eq!(world.client.state().kind, Kind::Trial);
    folder.restore(FILE);
    world.service.answer(|_| fail(Cause::Connection));
    assert_eq!(world.client.check(Trigger::Manual).unwrap_err().code(), "no_answer");
    assert_eq!((world.client.state().kind, folder.kept()), (Kind::Licensed, before));
}

#[test]
fn an_activated_license_replaces_that_of_the_file_and_is_written() {
    let folder = Folder::new();
    drop(open_licensed(&folder));
    folder.make_unreadable(FILE);
    let world = open(&folder);
    world.service.answer(|_| {
        let token = sign(&json!({ "tier": "sellers" }));
        reply(200, &json!({ "activation_id": "another", "entitlement": token }))
    });
    world.client.activate(KEY).unwrap();
    folder.restore(FILE);
    world.service.answer(|_| fail(Cause::Connection));
    assert_eq!(world.client.check(Trigger::Manual).unwrap_err().code(), "no_answer");
    assert_eq!(open(&folder).client.state().tier.as_deref(), Some("sellers"));
}

#[test]
fn calls_report_that_the_license_cannot_be_read() {
    let folder = Folder::new();
    drop(open_licensed(&folder));
    folder.make_unreadable(FILE);
    let World { client, service, .. } = open(&folder);
    let results =
        [client.check(Trigger::Manual), client.machines().map(drop), client.move_here("any"), client.deactivate()];
    assert!(results.iter().all(|each| each.as_ref().unwrap_err().code() == "folder_unreadable"), "{results:?}");
    assert_eq!(service.take_requests(), []);
}

#[test]
fn nothing_is_shared_before_the_kept_consent_could_be_read() {
    let folder = Folder::new();
    let first = open_licensed(&folder);
    first.client.set_sharing(true).unwrap();
    drop(first);
    let install_id = folder.kept()["install_id"].clone();
    folder.make_unreadable(FILE);
    let world = open(&folder);
    world.client.track("opened", &[]);
    world.client.set_sharing(true).unwrap();
    assert_eq!(world.client.flush().unwrap_err().code(), "sharing_off");
    assert_eq!(world.client.erase().unwrap_err().code(), "folder_unreadable");
    assert_eq!(world.service.take_requests(), []);
    folder.restore(FILE);
    world.service.answer(|_| validated());
    world.client.check(Trigger::Manual).unwrap();
    assert_eq!((&folder.kept()["sharing"], &folder.kept()["install_id"]), (&json!(true), &install_id));
    world.service.answer(|_| reply(200, &json!({ "accepted": 1, "dropped": 0 })));
    assert_eq!(world.client.flush(), Ok(Flushed { sent: 1, rejected: 0 }));
}

/// Opens a client that cannot read a consent, and tracks an event.
fn track_unread(folder: &Folder, sharing: &Value) -> World {
    drop(open_licensed(folder));
    let mut kept = folder.kept();
    kept["sharing"] = sharing.clone();
    kept["install_id"] = json!("i");
    fs::write(folder.file(FILE), kept.to_string()).unwrap();
    folder.make_unreadable(FILE);
    let world = open(folder);
    world.client.track("opened", &[]);
    assert!(!events(folder).is_empty());
    world
}

fn events(folder: &Folder) -> String {
    fs::read_to_string(folder.file(EVENTS)).unwrap_or_default()
}

/// Sends the events that wait, with consent, and returns how many.
fn send_all(world: &World) -> usize {
    world.client.set_sharing(true).unwrap();
    world.service.answer(|_| reply(200, &json!({ "accepted": 1, "dropped": 0 })));
    world.client.flush().unwrap().sent
}

#[test]
fn what_was_tracked_before_a_refusal_could_be_read_is_deleted_and_never_sent() {
    let folder = Folder::new();
    let world = track_unread(&folder, &json!(false));
    folder.restore(FILE);
    world.client.offline_request("personal", None).unwrap();
    world.client.track("ended", &[]);
    assert_eq!(events(&folder), "");
    assert_eq!(send_all(&world), 0);
}

#[test]
fn the_consent_of_a_call_that_reads_a_refusal_does_not_cover_earlier_events() {
    let folder = Folder::new();
    let world = track_unread(&folder, &json!(false));
    folder.restore(FILE);
    assert_eq!(send_all(&world), 0);
}

#[test]
fn it_is_deleted_if_the_refusal_is_read_in_the_middle_of_a_call() {
    let folder = Folder::new();
    let world = track_unread(&folder, &json!(false));
    let [elsewhere, file] = ["elsewhere", FILE].map(|name| folder.file(name));
    world.service.answer(move |_| {
        fs::rename(&elsewhere, &file).unwrap();
        activated()
    });
    world.client.activate(KEY).unwrap();
    assert_eq!(events(&folder), "");
}

#[test]
fn it_is_deleted_at_the_next_start_if_the_run_ended_before() {
    let folder = Folder::new();
    drop(track_unread(&folder, &json!(false)));
    folder.restore(FILE);
    let world = open(&folder);
    assert_eq!((events(&folder), world.problems()), (String::new(), vec![]));
    fs::remove_file(folder.file(EVENTS)).unwrap();
    drop(open(&folder));
    assert!(!folder.file(EVENTS).exists(), "without events, nothing is written");
}

#[test]
fn what_was_tracked_before_a_refusal_could_be_read_is_deleted_even_if_it_cannot_be_read() {
    let folder = Folder::new();
    drop(track_unread(&folder, &json!(false)));
    folder.restore(FILE);
    folder.make_unreadable(EVENTS);
    drop(open(&folder));
    assert_eq!(fs::read_to_string(folder.file(EVENTS)).unwrap(), "");
}

#[test]
fn what_was_tracked_before_a_consent_could_be_read_or_anybody_was_asked_is_sent() {
    for sharing in [json!(true), Value::Null] {
        let folder = Folder::new();
        let world = track_unread(&folder, &sharing);
        folder.restore(FILE);
        world.client.offline_request("personal", None).unwrap();
        assert_eq!(send_all(&world), 1, "{sharing}");
    }
}

#[test]
fn a_consent_of_the_run_counts_more_than_a_refusal_that_is_read_later() {
    let folder = Folder::new();
    let world = track_unread(&folder, &json!(false));
    world.client.set_sharing(true).unwrap();
    folder.restore(FILE);
    assert_eq!(send_all(&world), 1);
}

#[test]
fn events_that_cannot_be_read_are_not_written_over() {
    let folder = Folder::new();
    open(&folder).client.track("before", &[]);
    folder.make_unreadable(EVENTS);
    let world = open(&folder);
    world.client.set_sharing(true).unwrap();
    world.service.answer(|_| reply(200, &json!({ "accepted": 1, "dropped": 0 })));
    world.client.track("unread", &[]);
    assert_eq!(world.client.flush(), Ok(Flushed { sent: 1, rejected: 0 }));
    assert!(fs::read_link(folder.file(EVENTS)).is_ok(), "the file that could not be read was replaced");
    world.client.track("waits in memory", &[]);
    folder.restore(EVENTS);
    world.client.track("after", &[]);
    let text = fs::read_to_string(folder.file(EVENTS)).unwrap();
    let names: Vec<Value> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["name"].clone()).collect();
    assert_eq!(names, ["before", "waits in memory", "after"]);
}

#[test]
fn events_that_cannot_be_read_when_they_were_sent_stay() {
    let folder = Folder::new();
    let world = open(&folder);
    world.client.set_sharing(true).unwrap();
    world.client.track("sent", &[]);
    let path = folder.0.clone();
    world.service.answer(move |_| {
        fs::rename(path.join(EVENTS), path.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(EVENTS, path.join(EVENTS)).unwrap();
        reply(200, &json!({ "accepted": 1, "dropped": 0 }))
    });
    assert_eq!(world.client.flush(), Ok(Flushed { sent: 1, rejected: 0 }));
    assert!(fs::read_link(folder.file(EVENTS)).is_ok(), "the file that could not be read was replaced");
}
