//! The commands without a window and without a network.
use std::path::PathBuf;
use std::sync::mpsc;
use std::{env, fs, process};

use latchkey_client::{Cause, Fingerprint, Options, Request, Response, Transport, TransportError};
use license::License;
use serde_json::json;

/// Answers what a test wants to requests whose address ends with a text, and nothing to others.
struct Service(Vec<(&'static str, serde_json::Value)>);

impl Transport for Service {
    fn send(&self, request: &Request) -> Result<Response, TransportError> {
        let found = self.0.iter().find(|(end, _)| request.url.ends_with(end));
        let Some((_, body)) = found else {
            return Err(TransportError { cause: Cause::Dns, detail: "test".into() });
        };
        Ok(Response { status: 200, body: body.to_string().into_bytes(), ..Response::default() })
    }
}

fn options(name: &str, service: Service) -> Options {
    let folder: PathBuf = env::temp_dir().join(format!("latchkey-tauri-{}-{name}", process::id()));
    Options {
        service: "https://license.example.com".into(),
        issuer: "https://license.example.com".into(),
        products: vec!["personal".into()],
        folder,
        app_version: "1.0.0".into(),
        machine: Some(Fingerprint::from_iter([("machine_id".to_owned(), json!("test"))])),
        transport: Some(Box::new(service)),
        ..Options::default()
    }
}

#[test]
fn a_result_has_its_code_and_the_state() {
    let options = options("result", Service(vec![]));
    let folder = options.folder.clone();
    let license = License::open(options, |_: &str, _| ()).unwrap();
    let mistyped = license.activate("LK-5JQ8M-XK8N0-0R2W4-11T6Y-ABC2J");
    assert_eq!((&mistyped["ok"], &mistyped["code"]), (&json!(false), &json!("key_mistyped")));
    let unanswered = license.start_trial();
    assert_eq!((&unanswered["code"], &unanswered["cause"]), (&json!("no_answer"), &json!("dns")));
    assert_eq!((&unanswered["state"]["kind"], &unanswered["state"]), (&json!("none"), &license.state()));
    assert_eq!(license.machines()["code"], "not_activated");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn windows_receive_the_state_when_it_changes_and_never_the_key() {
    let refused = json!({ "valid": false, "reason": "license_revoked" });
    let options = options("windows", Service(vec![("/validate", refused)]));
    let folder = options.folder.clone();
    fs::create_dir_all(&folder).unwrap();
    let kept = json!({ "version": 1, "key": "LK-SECRET", "activation_id": "0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d" });
    fs::write(folder.join("license.json"), kept.to_string()).unwrap();
    let (sender, received) = mpsc::channel();
    let license = License::open(options, move |event: &str, payload| {
        sender.send((event.to_owned(), payload)).unwrap();
    });
    let result = license.as_ref().map(License::check).unwrap();
    assert_eq!(result["code"], "license_revoked");
    let (event, state) = received.try_recv().unwrap();
    assert_eq!((event.as_str(), &state["kind"]), ("license", &json!("refused")));
    assert!(!format!("{result}{state}").contains("SECRET"));
    fs::remove_dir_all(folder).unwrap();
}
