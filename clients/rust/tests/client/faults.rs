//! 10,000 faults of the network: nothing panics, no state changes, nobody is locked out.
use ed25519_dalek::SigningKey;
use serde_json::json;

use crate::latchkey::{Cause, Flushed, Response, State, Trigger};
use crate::support::{Answer, Folder, KEY, fail, open_licensed, page, problem, reply, sign, sign_with, validated};

const FAULTS: usize = 10_000;

fn body(text: &str) -> Answer {
    Ok(Response { status: 200, body: text.into(), ..Response::default() })
}

/// Returns all that may arrive instead of an answer.
fn list_faults() -> Vec<fn() -> Answer> {
    vec![
        || fail(Cause::Connection),
        || fail(Cause::Dns),
        || fail(Cause::Timeout),
        || fail(Cause::Tls),
        || fail(Cause::Proxy),
        || page(200),
        || page(302),
        || page(403),
        || page(404),
        || page(407),
        || page(502),
        || body(""),
        || body("null"),
        || body("[{}]"),
        || body("{\"valid\":true,\"entitlem"),
        || body("\u{feff}{\"valid\":false,\"reason\":1}"),
        || Ok(Response { status: 200, body: vec![0xff, 0, 0xc3], ..Response::default() }),
        || body(&"[".repeat(100_000)),
        || reply(200, &json!({ "valid": true })),
        || reply(200, &json!({ "valid": true, "entitlement": "a.b.c" })),
        || {
            reply(
                200,
                &json!({ "valid": true, "entitlement": sign_with(&SigningKey::from_bytes(&[9; 32]), &json!({})) }),
            )
        },
        || reply(200, &json!({ "valid": true, "entitlement": sign(&json!({ "aud": "other" })) })),
        || reply(200, &json!({ "valid": true, "entitlement": sign(&json!({ "exp": 1 })) })),
        || reply(200, &json!({ "valid": true, "entitlement": sign(&json!({ "exp": 1e300 })) })),
        || reply(200, &json!({ "valid": false, "reason": null })),
        || reply(403, &json!({ "error": "blocked by policy" })),
        || reply(403, &json!({ "code": "license_revoked", "status": 200 })),
        || problem(429, "rate_limited"),
        || problem(500, "internal_error"),
        || problem(503, "overloaded"),
    ]
}

#[test]
fn ten_thousand_faults_change_no_state() {
    let folder = Folder::new();
    let world = open_licensed(&folder);
    let client = &world.client;
    client.set_sharing(true).unwrap();
    client.track("opened", &[]);
    let before = State { is_answered: false, ..client.state() };
    let kept = folder.kept();
    let faults = list_faults();
    for count in 0..FAULTS {
        let fault = faults[count % faults.len()];
        world.service.answer(move |_| fault());
        // Each call meets each fault, because the numbers of both have no common divisor.
        let failure = match count % 7 {
            0 | 5 => client.check(Trigger::Scheduled).unwrap_err(),
            1 | 6 => client.activate(KEY).unwrap_err(),
            2 => client.machines().unwrap_err(),
            3 => client.move_here("any").unwrap_err(),
            _ => client.flush().unwrap_err(),
        };
        assert_eq!(failure.code(), "no_answer", "fault {count}: {failure}");
        assert_eq!(client.state(), before, "fault {count}");
    }
    assert_eq!((folder.kept(), world.problems()), (kept, vec![]));
    let events = json!({ "accepted": 1, "dropped": 0 });
    world
        .service
        .answer(move |request| if request.url.ends_with("/events") { reply(200, &events) } else { validated() });
    assert_eq!(client.check(Trigger::Manual), Ok(()));
    assert_eq!(client.flush(), Ok(Flushed { sent: 1, rejected: 0 }));
}
