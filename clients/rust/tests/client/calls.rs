//! What calls do that the scenes of the conformance run do not show.
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::latchkey::{Cause, Kind, Latchkey, Options, PublicKey, Trigger};
use crate::support::{
    ACTIVATION_ID, DAY_MS, Folder, KEY, MACHINE_ID, NOW_MS, activated, fail, open, open_licensed, open_with, options,
    problem, reply, sign, validated,
};

#[test]
fn names_all_wrong_options() {
    let error = Latchkey::open(Options::default()).err().unwrap().to_string();
    assert_eq!(error.split("; ").count(), 5, "{error}");
    let folder = Folder::new();
    for service in ["license.example.com", "ftp://license.example.com", "https://", "https://:80"] {
        let wrong = Options { service: service.into(), ..options(&folder.0) };
        assert_eq!(
            Latchkey::open(wrong).err().unwrap().to_string(),
            "wrong options: service must be an http or https URL"
        );
    }
}

#[test]
fn reports_changes_but_not_the_first_state() {
    let folder = Folder::new();
    let world = open(&folder);
    let kinds = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&kinds);
    world.client.on_change(move |state| seen.lock().unwrap().push(state.kind));
    world.client.check(Trigger::Manual).unwrap_err();
    world.service.answer(|_| activated());
    world.client.activate(KEY).unwrap();
    world.client.activate(KEY).unwrap();
    world.service.answer(|_| problem(403, "license_revoked"));
    world.client.check(Trigger::Manual).unwrap_err();
    assert_eq!(*kinds.lock().unwrap(), [Kind::Licensed, Kind::Refused]);
}

#[test]
fn a_listener_may_call_the_client() {
    let folder = Folder::new();
    let world = open(&folder);
    let (client, results) = (world.client.clone(), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&results);
    world.client.on_change(move |_| seen.lock().unwrap().push(client.machines().is_err()));
    world.service.answer(|_| activated());
    world.client.activate(KEY).unwrap();
    assert_eq!(*results.lock().unwrap(), [true]);
    world.client.close();
}

#[test]
fn features_end_with_the_entitlement() {
    let folder = Folder::new();
    let world = open_licensed(&folder);
    assert!(world.client.has("gpu") && !world.client.has("cpu"));
    world.set_clock(NOW_MS + 14 * DAY_MS);
    assert!(!world.client.has("gpu"));
    assert_eq!(world.client.state().reason.as_deref(), Some("entitlement_expired"));
}

#[test]
fn sends_the_identity_and_the_consent() {
    let folder = Folder::new();
    let world = open_with(&folder, |options| options.os_version = Some("6.1".into()));
    world.client.set_sharing(true).unwrap();
    world.service.answer(|_| activated());
    world.client.activate(&KEY.to_lowercase()).unwrap();
    world.client.check(Trigger::Wake).unwrap_err();
    let install_id = folder.kept()["install_id"].clone();
    let machine = json!({ "machine_id": MACHINE_ID, "app_version": "2.4.0", "os_version": "6.1" });
    let activation = json!({ "license_key": KEY, "install_id": install_id, "machine_fingerprint": machine });
    let validation = json!({
        "license_key": KEY, "activation_id": ACTIVATION_ID, "machine_id": MACHINE_ID, "trigger": "wake",
        "install_id": install_id, "usage_sharing": true,
    });
    let sent: Vec<_> = world.service.take_requests().into_iter().map(|(_, body)| body).collect();
    assert_eq!(sent, [activation, validation]);
}

#[test]
fn waits_for_the_license_of_a_purchase_over_failures_of_the_network() {
    let folder = Folder::new();
    let world = open(&folder);
    let mut asked = 0;
    world.service.answer(move |request| {
        asked += 1;
        match asked {
            1 => reply(200, &json!({ "status": "pending" })),
            _ if request.url.ends_with("/activate") => activated(),
            _ => reply(200, &json!({ "status": "completed", "licenses": [{ "license_key": KEY }] })),
        }
    });
    world.client.after_purchase("txn 1", Duration::from_secs(60)).unwrap();
    assert_eq!(world.client.state().kind, Kind::Licensed);
    assert_eq!(world.service.take_requests()[0].0, "/api/v1/licenses/check/txn%201");
}

#[test]
fn a_purchase_ends_with_a_refusal_its_time_or_close() {
    let folder = Folder::new();
    let world = open(&folder);
    let buy = |timeout| world.client.after_purchase("txn", timeout).unwrap_err().code().to_owned();
    world.service.answer(|_| problem(404, "transaction_not_found"));
    assert_eq!(buy(Duration::from_secs(60)), "transaction_not_found");
    world.service.answer(|_| reply(200, &json!({ "status": "completed", "license_key": null })));
    assert_eq!(buy(Duration::from_secs(60)), "key_not_shown");
    world.service.answer(|_| reply(200, &json!({ "status": "pending" })));
    assert_eq!(buy(Duration::ZERO), "purchase_pending");
    world.service.answer(|_| fail(Cause::Dns));
    assert_eq!(buy(Duration::ZERO), "purchase_pending");
    world.client.close();
    assert_eq!(buy(Duration::from_secs(60)), "aborted");
}

#[test]
fn an_answer_is_found_in_a_pasted_mail() {
    let folder = Folder::new();
    let world = open(&folder);
    world.client.offline_request("personal", Some("Lab PC 3")).unwrap();
    let nonce = folder.kept()["request"]["nonce"].clone();
    let token = sign(&json!({ "nonce": nonce }));
    let quoted: String =
        token.as_bytes().chunks(60).map(|line| format!("> {}\r\n", String::from_utf8_lossy(line))).collect();
    world.client.accept_offline(&format!("Hello,\r\n{quoted}\r\nRegards")).unwrap();
    assert_eq!(world.client.state().kind, Kind::Licensed);
    assert_eq!(world.client.accept_offline(&token).unwrap_err().code(), "entitlement_nonce");
}

#[test]
fn an_answer_without_a_connection_ends_the_release_of_its_activation() {
    let folder = Folder::new();
    let world = open_licensed(&folder);
    world.service.answer(|_| fail(Cause::Dns));
    world.client.deactivate().unwrap_err();
    world.client.offline_request("personal", None).unwrap();
    let token = sign(&json!({ "nonce": folder.kept()["request"]["nonce"] }));
    world.client.accept_offline(&token).unwrap();
    world.service.take_requests();
    world.service.answer(|_| validated());
    world.client.check(Trigger::Manual).unwrap();
    assert_eq!((world.service.take_requests().len(), world.client.state().kind), (1, Kind::Licensed));
}

#[test]
fn damaged_keys_are_an_error() {
    let key = json!({ "kty": "OKP", "crv": "Ed25519", "kid": "test", "x": "A".repeat(43) });
    for text in [json!([key]), json!({ "keys": [key] })] {
        assert_eq!(PublicKey::list(&text.to_string()).unwrap().len(), 1, "{text}");
    }
    assert_eq!(PublicKey::list(r#"{"keys":[]}"#), Ok(vec![]));
    let cut = json!({ "keys": [key, { "kty": "OKP", "crv": "Ed25519", "kid": "next", "x": "AAAA" }] }).to_string();
    for damaged in ["", "<html></html>", r#"{"keys":[{"kty":"#, "{}", "null", &cut] {
        let error = PublicKey::list(damaged).unwrap_err();
        assert_eq!(error.to_string(), "wrong options: public_keys must list Ed25519 keys", "{damaged}");
    }
}

#[test]
fn explains_without_key_token_and_machine_id() {
    let folder = Folder::new();
    let world = open_licensed(&folder);
    world.service.answer(|_| fail(Cause::Tls));
    world.client.check(Trigger::Manual).unwrap_err();
    let text = world.client.explain();
    for line in ["state: licensed\n", "last request: tls: test\n", &format!("key: …{}\n", &KEY[KEY.len() - 5..])] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    for secret in [KEY, &KEY[..20], MACHINE_ID, "eyJ"] {
        assert!(!text.contains(secret), "{secret} is in\n{text}");
    }
}

#[test]
fn a_damaged_file_is_renamed_and_reported() {
    for damaged in [&b"{\"version\":1"[..], b"", &[0; 64], b"[]", &[0xff; 16]] {
        let folder = Folder::new();
        fs::write(folder.file("license.json"), damaged).unwrap();
        let world = open(&folder);
        assert_eq!(world.problems(), ["file_damaged"]);
        assert_eq!(fs::read(folder.file("license.json.damaged")).unwrap(), damaged);
    }
}

#[test]
fn without_a_folder_everything_works_until_the_end() {
    let folder = Folder::new();
    fs::write(folder.file("file"), "no folder").unwrap();
    let inside = folder.file("file").join("client");
    let world = open_with(&folder, |options| options.folder = inside);
    world.service.answer(|_| activated());
    world.client.activate(KEY).unwrap();
    world.client.track("opened", &[]);
    assert!(world.client.state().may_run);
    let problems = world.problems();
    assert!(problems.contains(&"folder_unwritable".to_owned()) && problems.contains(&"events_unwritable".to_owned()));
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_the_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let world = open_licensed(&folder);
    world.client.track("opened", &[]);
    for name in ["license.json", "events.jsonl"] {
        assert_eq!(fs::metadata(folder.file(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 2, "no temporary file stays");
}
