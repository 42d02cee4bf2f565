//! Answers the commands of the conformance run, one JSON line each, with this client.
use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _, stdin, stdout};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

// The source of the crate, because the vectors test parts that are not public.
#[allow(dead_code, unused_imports, clippy::module_inception)]
#[path = "../src/lib.rs"]
mod client;

use client::rules::{self, Clock, KeyVerdict, Trust, integer, owned, text};
use client::{Failure, Latchkey, Machine, Options, Outcome, PublicKey, State, Trigger};

const CALLS: &[&str] =
    &["activate", "trial", "check", "machines", "move_here", "deactivate", "offline_request", "accept_offline"];
const OTHERS: &[&str] = &["open", "clock", "state", "explain", "verify", "key", "clock_steps", "fingerprint", "close"];

/// The problems of the protocol.
const REPORTED: &[&str] = &["file_damaged", "folder_unwritable"];

/// What the commands share.
#[derive(Default)]
struct Driver {
    latchkey: Option<Latchkey>,
    /// The clock of the device; none is that of the system.
    now_ms: Arc<Mutex<Option<i64>>>,
    problems: Arc<Mutex<Vec<&'static str>>>,
}

fn main() {
    let mut driver = Driver::default();
    for line in stdin().lock().lines().map_while(Result::ok) {
        let command: Value = serde_json::from_str(&line).unwrap_or_default();
        let name = text(&command, "do").unwrap_or_default();
        let answer = driver.answer(name, &command);
        if writeln!(stdout(), "{answer}").is_err() || name == "close" {
            break;
        }
    }
}

impl Driver {
    fn answer(&mut self, name: &str, fields: &Value) -> Value {
        match name {
            "hello" => {
                let supports = [CALLS, OTHERS].concat();
                json!({ "client": "rust", "version": client::VERSION, "supports": supports })
            }
            "open" => self.open(fields),
            "clock" => {
                set_clock(&self.now_ms, fields);
                self.with_state(json!({}))
            }
            "state" => self.with_state(json!({})),
            "explain" => json!({ "text": self.latchkey.as_ref().map(Latchkey::explain) }),
            "verify" => verify(fields),
            "key" => read_key(fields),
            "clock_steps" => step_clock(fields),
            "fingerprint" => read_printed(fields),
            "close" => {
                self.latchkey.iter().for_each(Latchkey::close);
                json!({})
            }
            _ => match self.latchkey.clone().and_then(|latchkey| call(&latchkey, name, fields)) {
                Some(result) => self.with_state(json!({ "result": result })),
                None => json!({ "unsupported": true }),
            },
        }
    }

    fn open(&mut self, fields: &Value) -> Value {
        set_clock(&self.now_ms, fields);
        let (now_ms, problems) = (Arc::clone(&self.now_ms), Arc::clone(&self.problems));
        let timeout_ms = integer(fields, "timeout_ms").and_then(|ms| u64::try_from(ms).ok()).unwrap_or(10_000);
        let opened = Latchkey::open(Options {
            service: owned(fields, "service").unwrap_or_default(),
            issuer: owned(fields, "issuer").unwrap_or_default(),
            products: texts(fields, "products"),
            public_keys: keys(fields),
            folder: text(fields, "folder").unwrap_or_default().into(),
            app_version: owned(fields, "app_version").unwrap_or_default(),
            os_version: None,
            machine: fields.get("machine").and_then(Value::as_object).cloned(),
            timeout: Duration::from_millis(timeout_ms),
            now: Box::new(move || now_ms.lock().ok().and_then(|now| *now).unwrap_or_else(client::system::now_ms)),
            on_problem: Box::new(move |problem| {
                eprintln!("{}: {}", problem.code, problem.message);
                if let (true, Ok(mut problems)) = (REPORTED.contains(&problem.code), problems.lock()) {
                    problems.push(problem.code);
                }
            }),
            ..Options::default()
        });
        match opened {
            Ok(latchkey) => self.latchkey = Some(latchkey),
            Err(error) => eprintln!("{error}"),
        }
        self.with_state(json!({}))
    }

    fn with_state(&self, mut answer: Value) -> Value {
        if let Some(latchkey) = &self.latchkey {
            rules::set(&mut answer, "state", render_state(latchkey.state()));
        }
        let problems = self.problems.lock().map(|mut problems| std::mem::take(&mut *problems)).unwrap_or_default();
        if !problems.is_empty() {
            rules::set(&mut answer, "problems", json!(problems));
        }
        answer
    }
}

fn set_clock(now_ms: &Mutex<Option<i64>>, fields: &Value) {
    if let Ok(mut now_ms) = now_ms.lock() {
        *now_ms = integer(fields, "now_ms");
    }
}

fn texts(fields: &Value, name: &str) -> Vec<String> {
    let list = fields.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|each| each.as_str().map(str::to_owned)).collect()
}

fn keys(fields: &Value) -> Vec<PublicKey> {
    PublicKey::read(fields.get("public_keys").unwrap_or(&Value::Null))
}

/// Makes a call of an open client; none if there is no such call.
fn call(latchkey: &Latchkey, name: &str, fields: &Value) -> Option<Value> {
    let field = |name| text(fields, name).unwrap_or_default();
    let done = |()| json!({});
    Some(match name {
        "activate" => render(latchkey.activate(field("key")), done),
        "trial" => render(latchkey.start_trial(), done),
        "check" => render(latchkey.check(find_trigger(field("trigger"))), done),
        "machines" => render(
            latchkey.machines(),
            |list| json!({ "machines": list.iter().map(render_machine).collect::<Value>() }),
        ),
        "move_here" => render(latchkey.move_here(field("activation_id")), done),
        "deactivate" => render(latchkey.deactivate(), done),
        "offline_request" => {
            render(latchkey.offline_request(field("product"), text(fields, "name")), |text| json!({ "request": text }))
        }
        "accept_offline" => render(latchkey.accept_offline(field("text")), done),
        _ => return None,
    })
}

fn find_trigger(name: &str) -> Trigger {
    use Trigger::{Foreground, Manual, Reconnect, Scheduled, Startup, Wake};
    let all = [Startup, Scheduled, Foreground, Wake, Reconnect, Manual];
    all.into_iter().find(|each| each.as_str() == name).unwrap_or(Manual)
}

/// Renders a result with the names of the protocol.
fn render<T>(result: Outcome<T>, content: impl FnOnce(T) -> Value) -> Value {
    let mut fields = BTreeMap::from([("ok", json!(result.is_ok()))]);
    match result {
        Ok(value) => {
            let mut all = content(value);
            rules::set(&mut all, "ok", json!(true));
            return all;
        }
        Err(Failure::NoAnswer { cause, .. }) => {
            fields.extend([("code", json!("no_answer")), ("cause", json!(cause.as_str()))]);
        }
        Err(Failure::Refused { code, max, current, available_at }) => {
            fields.insert("code", json!(code));
            let numbers = [("max", json!(max)), ("current", json!(current)), ("available_at", json!(available_at))];
            fields.extend(numbers.into_iter().filter(|(_, value)| !value.is_null()));
        }
    }
    json!(fields)
}

fn render_machine(machine: &Machine) -> Value {
    json!({ "activation_id": machine.activation_id, "is_active": machine.is_active, "is_this": machine.is_this })
}

fn render_state(state: State) -> Value {
    json!({
        "may_run": state.may_run,
        "kind": state.kind.as_str(),
        "reason": state.reason,
        "tier": state.tier,
        "features": state.features,
        "until": state.until,
        "days_left": state.days_left,
        "source": if state.is_answered { "service" } else { "kept" },
        "last_answer_at": state.last_answer_at,
        "clock_went_back": state.clock_went_back,
    })
}

fn verify(fields: &Value) -> Value {
    let field = |name| text(fields, name).unwrap_or_default();
    let (keys, products) = (keys(fields), texts(fields, "products"));
    let trust = Trust { keys: &keys, issuer: field("issuer"), products: &products, machine_id: field("machine_id") };
    let verdict = match rules::read_token(field("token"), &trust) {
        Err(verdict) => verdict,
        Ok(claims) => match (claims.time_problem(integer(fields, "now_ms").unwrap_or(0)), text(fields, "nonce")) {
            (Some(problem), _) => problem,
            (None, nonce @ Some(_)) if claims.nonce.as_deref() != nonce => "nonce",
            _ => "ok",
        },
    };
    json!({ "verdict": verdict })
}

fn read_key(fields: &Value) -> Value {
    match rules::read_key(text(fields, "text").unwrap_or_default()) {
        (KeyVerdict::Ok, key) => json!({ "verdict": "ok", "key": key }),
        (KeyVerdict::Mistyped, _) => json!({ "verdict": "mistyped", "key": null }),
        (KeyVerdict::Foreign, key) => json!({ "verdict": "foreign", "key": key }),
    }
}

/// Computes the clock from an empty state.
fn step_clock(fields: &Value) -> Value {
    let mut clock = Clock::default();
    let steps = fields.get("steps").and_then(Value::as_array).into_iter().flatten();
    let readings = steps.map(|step| {
        let device_ms = integer(step, "device_ms").unwrap_or(0);
        if let Some(service_ms) = integer(step, "service_ms") {
            clock = clock.learn(device_ms, service_ms);
        }
        let (now_ms, went_back) = clock.read(device_ms);
        json!({ "now_ms": now_ms, "clock_went_back": went_back })
    });
    json!({ "steps": readings.collect::<Value>() })
}

fn read_printed(fields: &Value) -> Value {
    let printed = text(fields, "text").unwrap_or_default();
    let machine_id = match text(fields, "source") {
        Some("machine-id") => rules::read_machine_id_file(printed),
        Some("reg.exe") => rules::read_registry_output(printed),
        Some("ioreg") => rules::read_ioreg_output(printed),
        _ => None,
    };
    json!({ "machine_id": machine_id })
}
