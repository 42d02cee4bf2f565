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
