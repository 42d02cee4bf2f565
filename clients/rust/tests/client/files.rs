//! Files that exist, but cannot be read for a time.
use std::fs;

use serde_json::{Value, json};

use crate::latchkey::kept::join_run;
use crate::latchkey::system::read_file_with_retries;
use crate::latchkey::{Cause, Flushed, Kind, Trigger};
use crate::support::{Folder, KEY, activated, fail, open, open_licensed, reply, validated};

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

fn kept_file() -> Value {
    json!({
        "key": "LK-FILE", "activation_id": "a-file", "entitlement": "of the file", "refused": { "reason": "revoked" },
        "release": { "key": "LK-FILE", "activation_id": "a-file", "machine_id": "m" }, "install_id": "i",
        "clock": { "offset_ms": 0, "latest_ms": 9 }, "machine": { "machine_id": "m" }, "theme": "dark",
    })
}

#[test]
fn a_run_without_a_license_only_adds_to_the_file() {
    let run = json!({ "machine": { "machine_id": "generated-1" }, "request": { "nonce": "n" }, "trial_wanted": true });
    let mut expected = kept_file();
    expected["request"] = json!({ "nonce": "n" });
    expected["trial_wanted"] = json!(false);
    assert_eq!(join_run(&kept_file(), &run), expected);
    let read = json!({ "machine": { "machine_id": "read" } });
    assert_eq!(join_run(&kept_file(), &read)["machine"], read["machine"]);
    let first = join_run(&json!({}), &run);
    assert_eq!((&first["machine"], &first["trial_wanted"]), (&run["machine"], &json!(true)));
}

#[test]
fn a_license_of_the_run_replaces_that_of_the_file() {
    let run = json!({
        "key": "LK-RUN", "activation_id": "a-run", "entitlement": "of the run", "refused": null,
        "clock": { "offset_ms": 0, "latest_ms": 5 }, "machine": { "machine_id": "generated-1" },
    });
    let joined = join_run(&kept_file(), &run);
    for name in ["key", "activation_id", "entitlement", "refused", "machine"] {
        assert_eq!(joined[name], run[name], "{name}");
    }
    for name in ["release", "install_id", "clock", "theme"] {
        assert_eq!(joined[name], kept_file()[name], "{name}");
    }
    let removed = json!({ "key": null, "activation_id": null, "entitlement": null });
    assert_eq!(join_run(&kept_file(), &removed)["entitlement"], Value::Null);
}

#[test]
fn the_same_activation_keeps_its_key_and_is_not_released() {
    let run = json!({ "key": null, "activation_id": "a-file", "entitlement": "of the run" });
    let joined = join_run(&kept_file(), &run);
    assert_eq!((&joined["key"], &joined["release"]), (&json!("LK-FILE"), &Value::Null));
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
