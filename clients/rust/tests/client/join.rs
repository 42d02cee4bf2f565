//! A file that is joined with the changes of a run that could not read it.
use serde_json::{Value, json};

use crate::latchkey::kept::join_run;

fn file() -> Value {
    json!({
        "version": 1, "key": "LK-FILE", "activation_id": "a", "entitlement": "file.e.e",
        "clock": { "offset_ms": 5, "latest_ms": 9 }, "machine": { "machine_id": "m" }, "install_id": "i", "sharing": true,
        "release": { "key": "LK-OLD", "activation_id": "old", "machine_id": "m" },
        "last_answer_at": "2027-01-15T08:00:00.000Z", "seats": 1,
    })
}

fn run() -> Value {
    json!({ "machine": { "machine_id": "m" } })
}

fn licensed_run() -> Value {
    with(&run(), &licensed())
}

fn licensed() -> Value {
    json!({ "key": "LK-RUN", "activation_id": "b", "entitlement": "run.e.e" })
}

fn unlicensed() -> Value {
    json!({ "key": null, "activation_id": null, "entitlement": null })
}

/// Returns a copy with changes.
fn with(kept: &Value, changes: &Value) -> Value {
    let mut changed = kept.clone();
    changed.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    changed
}

/// A field that is not set counts as null.
fn assert_joined(joined: &Value, expected: &Value) {
    let present = |kept: &Value| -> Value {
        kept.as_object().unwrap().clone().into_iter().filter(|(_, value)| !value.is_null()).collect()
    };
    assert_eq!(present(joined), present(expected));
}

#[test]
fn a_run_that_changed_nothing_leaves_the_file() {
    assert_joined(&join_run(&file(), &json!({}), false), &file());
    assert_joined(&join_run(&file(), &run(), false), &file());
}

#[test]
fn everything_of_the_run_is_kept_beside_an_empty_file() {
    let run = with(&file(), &json!({ "keys": [{ "kid": "any" }], "seats": null }));
    for has_own_license in [true, false] {
        assert_joined(&join_run(&json!({}), &run, has_own_license), &run);
    }
}

#[test]
fn a_trial_is_kept_only_without_a_license() {
    assert_joined(&join_run(&file(), &licensed_run(), false), &file());
    let empty = with(&file(), &unlicensed());
    assert_joined(&join_run(&empty, &licensed_run(), false), &with(&file(), &licensed()));
    let release = json!({ "release": { "key": "LK-RUN", "activation_id": "b", "machine_id": "m" } });
    assert_joined(&join_run(&file(), &with(&licensed_run(), &release), false), &with(&file(), &release));
}

#[test]
fn an_activated_license_replaces_that_of_the_file() {
    let expected = with(&file(), &licensed());
    assert_joined(&join_run(&file(), &licensed_run(), true), &expected);
    let refused = with(&file(), &json!({ "refused": { "reason": "license_revoked" } }));
    assert_joined(&join_run(&refused, &licensed_run(), true), &expected);
    assert_joined(&join_run(&refused, &run(), false), &refused);
}

#[test]
fn an_activation_that_is_wanted_again_is_not_released() {
    let run = with(&licensed_run(), &json!({ "activation_id": "old" }));
    assert_eq!(join_run(&file(), &run, true)["release"], Value::Null);
}

#[test]
fn a_removed_license_stays_removed() {
    assert_joined(&join_run(&file(), &run(), true), &with(&file(), &unlicensed()));
}

#[test]
fn an_activation_without_a_connection_keeps_its_key() {
    let run = json!({ "activation_id": "a", "entitlement": "run.e.e", "key": null });
    let joined = join_run(&file(), &run, true);
    assert_eq!((&joined["key"], &joined["entitlement"]), (&json!("LK-FILE"), &json!("run.e.e")));
    assert_eq!(join_run(&file(), &with(&run, &json!({ "activation_id": "b" })), true)["key"], Value::Null);
}

#[test]
fn a_trial_replaces_an_older_copy_of_itself_and_calls_its_release_off() {
    let again = json!({ "key": "LK-RUN", "activation_id": "a", "entitlement": "run.e.e" });
    let refused = with(&file(), &json!({ "refused": { "reason": "trial_expired" } }));
    assert_joined(&join_run(&refused, &with(&run(), &again), false), &with(&file(), &again));
    let released = with(&licensed_run(), &json!({ "activation_id": "old" }));
    assert_joined(&join_run(&file(), &released, false), &with(&file(), &json!({ "release": null })));
}

#[test]
fn a_wanted_trial_is_kept_unless_there_is_a_license() {
    let wanted = with(&run(), &json!({ "trial_wanted": true }));
    let offline = with(&file(), &json!({ "key": null }));
    assert_joined(&join_run(&offline, &wanted, false), &offline);
    assert_joined(&join_run(&file(), &wanted, false), &file());
    assert_eq!(join_run(&json!({}), &wanted, false)["trial_wanted"], true);
    assert_eq!(join_run(&wanted, &run(), false)["trial_wanted"], true);
}

#[test]
fn a_request_of_the_run_replaces_that_of_the_file() {
    let requests = ["file", "run"].map(|nonce| json!({ "request": { "nonce": nonce } }));
    let requested = with(&file(), &requests[0]);
    assert_joined(&join_run(&requested, &with(&run(), &requests[1]), false), &with(&file(), &requests[1]));
    assert_joined(&join_run(&requested, &run(), false), &requested);
}

#[test]
fn the_latest_time_never_decreases() {
    for (learnt, latest, offset) in [(0, 9, 5), (8, 9, 7), (10, 10, 7)] {
        let run = json!({ "clock": { "offset_ms": 7, "latest_ms": learnt } });
        for has_own_license in [true, false] {
            let joined = join_run(&file(), &run, has_own_license);
            assert_eq!(joined["clock"], json!({ "offset_ms": offset, "latest_ms": latest }));
        }
    }
}

#[test]
fn consent_is_that_of_the_run_and_the_id_of_the_installation_that_of_the_file() {
    let run = json!({ "sharing": false, "install_id": "new" });
    assert_joined(&join_run(&file(), &run, false), &with(&file(), &json!({ "sharing": false })));
    let first = with(&file(), &json!({ "install_id": null }));
    assert_eq!(join_run(&first, &run, false)["install_id"], "new");
}

#[test]
fn a_random_machine_is_kept_only_with_its_license() {
    let generated = json!({ "machine": { "machine_id": "generated-u" } });
    let id = |joined: Value| joined["machine"]["machine_id"].as_str().unwrap().to_owned();
    assert_eq!(id(join_run(&file(), &with(&licensed_run(), &generated), false)), "m");
    assert_eq!(id(join_run(&file(), &with(&licensed_run(), &generated), true)), "generated-u");
    assert_eq!(id(join_run(&with(&file(), &generated), &run(), false)), "generated-u");
    assert_eq!(id(join_run(&with(&file(), &json!({ "machine": null })), &generated, false)), "generated-u");
    assert_eq!(id(join_run(&file(), &json!({ "machine": { "machine_id": "read" } }), false)), "read");
}

#[test]
fn fetched_keys_are_those_of_the_license_that_remains() {
    let [old, new] = ["file", "run"].map(|kid| json!({ "keys": [{ "kid": kid }] }));
    let fetched = with(&run(), &new);
    assert_eq!(join_run(&with(&file(), &old), &fetched, false)["keys"], old["keys"]);
    assert_eq!(join_run(&with(&file(), &old), &fetched, true)["keys"], new["keys"]);
    assert_eq!(join_run(&file(), &fetched, false)["keys"], new["keys"]);
    assert_eq!(join_run(&with(&file(), &old), &json!({ "keys": [] }), true)["keys"], old["keys"]);
}
