//! The vectors of the conformance run.
use std::fs;

use serde_json::Value;

use crate::latchkey::PublicKey;
use crate::latchkey::rules::{self, Clock, KeyVerdict, Trust, integer, owned, text};

fn vectors(name: &str) -> Vec<Value> {
    let path = format!("{}/../conformance/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let vectors: Vec<Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert!(vectors.len() > 10);
    vectors
}

#[test]
fn tokens_have_their_verdicts() {
    for vector in vectors("tokens") {
        let keys = PublicKey::read(&vector["public_keys"]);
        let products: Vec<String> = serde_json::from_value(vector["products"].clone()).unwrap();
        let [issuer, machine_id, token] = ["issuer", "machine_id", "token"].map(|name| text(&vector, name).unwrap());
        let verdict = match rules::read_token(token, &Trust { keys: &keys, issuer, products: &products, machine_id }) {
            Err(verdict) => verdict,
            Ok(claims) => match (claims.time_problem(integer(&vector, "now_ms").unwrap()), owned(&vector, "nonce")) {
                (Some(problem), _) => problem,
                (None, Some(nonce)) if claims.nonce.as_ref() != Some(&nonce) => "nonce",
                _ => "ok",
            },
        };
        assert_eq!(Some(verdict), text(&vector, "verdict"), "{}", vector["name"]);
    }
}

#[test]
fn typed_keys_have_their_readings() {
    for vector in vectors("keys") {
        let (verdict, key) = rules::read_key(text(&vector, "text").unwrap());
        let name = match verdict {
            KeyVerdict::Ok => "ok",
            KeyVerdict::Mistyped => "mistyped",
            KeyVerdict::Foreign => "foreign",
        };
        assert_eq!(Some(name), text(&vector, "verdict"), "{}", vector["name"]);
        assert!(text(&vector, "key").is_none_or(|expected| key == expected), "{}: {key}", vector["name"]);
    }
}

#[test]
fn clocks_have_their_times() {
    for vector in vectors("clocks") {
        let mut clock = Clock::default();
        let steps = vector["steps"].as_array().unwrap().iter().zip(vector["expected"].as_array().unwrap());
        for (step, expected) in steps {
            let device_ms = integer(step, "device_ms").unwrap();
            if let Some(service_ms) = integer(step, "service_ms") {
                clock = clock.learn(device_ms, service_ms);
            }
            let read = (integer(expected, "now_ms").unwrap(), expected["clock_went_back"] == true);
            assert_eq!(clock.read(device_ms), read, "{}", vector["name"]);
        }
    }
}

#[test]
fn machine_ids_are_found_in_what_systems_print() {
    for vector in vectors("fingerprints") {
        let content = text(&vector, "text").unwrap();
        let machine_id = match text(&vector, "source").unwrap() {
            "machine-id" => rules::read_machine_id_file(content),
            "reg.exe" => rules::read_registry_output(content),
            _ => rules::read_ioreg_output(content),
        };
        assert_eq!(machine_id, owned(&vector, "machine_id"), "{}", vector["name"]);
    }
}
