//! The calls of the client: what they ask, and what an answer changes.
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL};
use serde_json::{Value, json};

use super::background::Signal;
use super::events::Events;
use super::kept::{cancel_release, kept_machine, own_machine_id};
use super::rules::{self, Claims, Clock, Facts, KeyVerdict, NoResponse, Reply, Trust, integer, owned, set, text};
use super::{Failure, Kind, Machine, Options, Outcome, Problem, PublicKey, Request, State, Transport, Trigger, system};

type Listener = Arc<dyn Fn(&State) + Send + Sync>;

pub(crate) struct Client {
    pub(crate) options: Options,
    transport: Box<dyn Transport>,
    /// Calls run one after the other.
    pub(crate) calls: Mutex<()>,
    pub(crate) memory: Mutex<Memory>,
    pub(crate) events: Events,
    pub(crate) listeners: Mutex<Vec<Listener>>,
    pub(crate) problems: Mutex<VecDeque<Problem>>,
    /// The kept identity of the machine is used; the next call reads it again.
    pub(crate) must_read_machine: AtomicBool,
    /// The file exists, but could not be read; the next call or change reads it again.
    pub(crate) must_read_file: AtomicBool,
    /// The run activated a license, apart from a trial, or removed it again, before the file could be read.
    pub(crate) has_own_license: AtomicBool,
    pub(crate) background: Mutex<Option<Sender<Signal>>>,
    pub(crate) is_closed: (Mutex<bool>, Condvar),
}

/// What is known while the client is open; locked for moments only.
#[derive(Default)]
pub(crate) struct Memory {
    /// The content of `license.json`, with fields of other versions.
    pub(crate) kept: Value,
    /// Those of the kept entitlement if it is genuine.
    pub(crate) claims: Option<Claims>,
    is_answered: bool,
    /// The last request that was not answered, for support.
    pub(crate) last_failure: Option<String>,
    /// The key that was last refused because no machine is free.
    refused_key: Option<String>,
    shown: Option<State>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn refuse<T>(code: &str) -> Outcome<T> {
    Err(Failure::Refused { code: code.to_owned(), max: None, current: None, available_at: None })
}

const LICENSES: &str = "/api/v1/licenses";

/// More keys than a service publishes at once.
const MAX_KEYS: usize = 20;

/// What is kept of a license, and removed when it is deactivated.
const LICENSE_FIELDS: [&str; 7] =
    ["key", "activation_id", "entitlement", "refused", "release", "request", "trial_wanted"];

impl Client {
    pub(crate) fn open(options: Options, transport: Box<dyn Transport>) -> Self {
        let client = Self {
            events: Events::new(&options.folder),
            options,
            transport,
            calls: Mutex::default(),
            memory: Mutex::new(Memory { kept: json!({}), ..Memory::default() }),
            listeners: Mutex::default(),
            problems: Mutex::default(),
            must_read_machine: AtomicBool::new(false),
            must_read_file: AtomicBool::new(false),
            has_own_license: AtomicBool::new(false),
            background: Mutex::default(),
            is_closed: Default::default(),
        };
        client.load();
        // The first state is no change.
        client.notify();
        client
    }

    pub(crate) fn now_ms(&self) -> i64 {
        (self.options.now)()
    }

    pub(crate) fn kept(&self) -> Value {
        lock(&self.memory).kept.clone()
    }

    pub(crate) fn state(&self) -> State {
        let device_ms = self.now_ms();
        let memory = lock(&self.memory);
        let Memory { kept, claims, is_answered, .. } = &*memory;
        rules::derive_state(&Facts { kept, claims: claims.as_ref(), is_answered: *is_answered, device_ms })
    }

    pub(crate) fn report(&self, code: &'static str, message: String) {
        let problem = Problem { code, message };
        // A function of the program that panics does not end a call.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.options.on_problem)(&problem)));
        let mut problems = lock(&self.problems);
        problems.push_back(problem);
        if problems.len() > 5 {
            problems.pop_front();
        }
    }

    /// Runs a call of the program. Without an answer, the next check in the background is soon.
    pub(crate) fn call<T>(&self, work: impl FnOnce(&Self) -> Outcome<T>) -> Outcome<T> {
        let result = self.run(work);
        if let Err(Failure::NoAnswer { retry_after, .. }) = result {
            self.signal(Signal::Unanswered(retry_after));
        }
        result
    }

    /// Sends a signal to the thread in the background, if there is one.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(sender) = lock(&self.background).as_ref() {
            // The thread may just have ended.
            let _ = sender.send(signal);
        }
    }

    /// Runs a call after all others, and shows what it changed.
    pub(crate) fn run<T>(&self, work: impl FnOnce(&Self) -> Outcome<T>) -> Outcome<T> {
        let running = lock(&self.calls);
        if self.is_unread() && self.read_again().is_ok() {
            self.write();
        }
        if self.must_read_machine.swap(false, Ordering::Relaxed) {
            self.adopt_machine();
        }
        let result = self.guard(work);
        drop(running);
        self.notify();
        result
    }

    /// No panic, such as one of the program's transport, reaches the program.
    pub(crate) fn guard<T>(&self, work: impl FnOnce(&Self) -> Outcome<T>) -> Outcome<T> {
        catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|_| {
            self.report("unexpected", "a call ended with a panic".to_owned());
            refuse("unexpected")
        })
    }

    /// Calls the listeners if the state changed, also by time.
    pub(crate) fn notify(&self) {
        let state = self.state();
        // The time of the last answer alone is no change.
        let shown = State { is_answered: false, last_answer_at: None, ..state.clone() };
        let before = lock(&self.memory).shown.replace(shown.clone());
        if before.is_none() || before == Some(shown) {
            return;
        }
        let listeners = lock(&self.listeners).clone();
        for listener in listeners {
            if catch_unwind(AssertUnwindSafe(|| listener(&state))).is_err() {
                self.report("listener", "a listener ended with a panic".to_owned());
            }
        }
    }

    /// Verifies an entitlement with the keys and the machine of a kept state, apart from its times.
    pub(crate) fn read_token(&self, token: &str, kept: &Value) -> Result<Claims, &'static str> {
        // The first key of an id counts, so that no fetched one replaces one that is compiled in.
        let mut keys = self.options.public_keys.clone();
        keys.extend(PublicKey::read(kept.get("keys").unwrap_or(&Value::Null)));
        let Options { issuer, products, .. } = &self.options;
        rules::read_token(token, &Trust { keys: &keys, issuer, products, machine_id: own_machine_id(kept) })
    }

    pub(crate) fn ask(&self, path: &str, body: Option<&Value>) -> Result<Reply, NoResponse> {
        let url = format!("{}{path}", self.options.service);
        let request = Request { url, body: body.map(Value::to_string), timeout: self.options.timeout };
        let response = self.transport.send(&request);
        response.map_err(|error| NoResponse::new(error.cause, error.detail, 0)).and_then(|each| rules::classify(&each))
    }

    fn note_answer(&self, failure: Option<String>) {
        let mut memory = lock(&self.memory);
        memory.is_answered = failure.is_none();
        memory.last_failure = failure;
    }

    /// Notes that a request was not answered; nothing else changes.
    pub(crate) fn report_no_answer(&self, NoResponse { cause, detail, retry_after, .. }: NoResponse) -> Failure {
        self.note_answer(Some(format!("{cause}: {detail}")));
        Failure::NoAnswer { cause, retry_after }
    }

    /// Notes an answer that refuses; nothing else changes.
    fn refused(&self, Reply { code, body, .. }: &Reply) -> Failure {
        self.note_answer(None);
        Failure::Refused {
            code: code.clone().unwrap_or_default(),
            max: integer(body, "max"),
            current: integer(body, "current"),
            available_at: owned(body, "available_at"),
        }
    }

    /// Refuses a call that needs a license: there is none, or it could not be read.
    fn refuse_unactivated<T>(&self) -> Outcome<T> {
        refuse(if self.is_unread() { "folder_unreadable" } else { "not_activated" })
    }

    /// Ends a call without an answer with 200.
    fn expect(&self, answer: Result<Reply, NoResponse>) -> Outcome<Reply> {
        match answer {
            Ok(reply) if reply.code.is_none() => Ok(reply),
            Ok(reply) => Err(self.refused(&reply)),
            Err(failure) => Err(self.report_no_answer(failure)),
        }
    }

    pub(crate) fn activate(&self, typed: &str) -> Outcome {
        let (verdict, key) = rules::read_key(typed);
        if verdict == KeyVerdict::Mistyped || key.is_empty() {
            return refuse("key_mistyped");
        }
        let mut body = self.identity();
        set(&mut body, "license_key", json!(key));
        let reply = self.expect(self.ask(&format!("{LICENSES}/activate"), Some(&body)));
        let result = reply.and_then(|reply| self.accept_activation(&reply, Some(&key)));
        match result.as_ref().map_err(Failure::code) {
            Ok(()) => lock(&self.memory).refused_key = None,
            Err("activation_limit_reached" | "move_limit_reached") => lock(&self.memory).refused_key = Some(key),
            Err(_) => {}
        }
        result
    }

    pub(crate) fn start_trial(&self) -> Outcome {
        if self.state().kind == Kind::Licensed {
            return refuse("already_licensed");
        }
        let reply = self.expect(self.ask("/api/v1/trial/start", Some(&self.identity())));
        let result = reply.and_then(|reply| self.accept_activation(&reply, None));
        let kept = self.kept();
        let is_wanted = matches!(result, Err(Failure::NoAnswer { .. })) && text(&kept, "key").is_none();
        if is_wanted != is_true(&kept, "trial_wanted") {
            self.change(|kept| set(kept, "trial_wanted", json!(is_wanted)));
        }
        result
    }

    /// The part of a request that names this machine.
    fn identity(&self) -> Value {
        let kept = self.kept();
        let mut body = json!({ "machine_fingerprint": self.fingerprint(&kept) });
        if let Some(install_id) = text(&kept, "install_id") {
            set(&mut body, "install_id", json!(install_id));
        }
        body
    }

    fn fingerprint(&self, kept: &Value) -> Value {
        let mut machine = Value::Object(kept_machine(kept).cloned().unwrap_or_default());
        set(&mut machine, "app_version", json!(self.options.app_version));
        if let Some(os_version) = &self.options.os_version {
            set(&mut machine, "os_version", json!(os_version));
        }
        machine
    }

    /// Accepts the answer to an activation, or to a trial, which contains the key.
    fn accept_activation(&self, reply: &Reply, key: Option<&str>) -> Outcome {
        let body = &reply.body;
        let id = text(body, "activation_id");
        if key.is_none() && id.is_some() && body.get("entitlement") == Some(&Value::Null) {
            self.note_answer(None);
            let has_expired = text(body, "status") == Some("expired");
            return refuse(if has_expired { "trial_expired" } else { "trial_unavailable" });
        }
        let (Some(id), Some(token), Some(key)) = (id, text(body, "entitlement"), key.or(text(body, "license_key")))
        else {
            return Err(self.report_no_answer(NoResponse::unexpected_shape()));
        };
        let grant = self.read_grant(reply, token).map_err(|failure| self.report_no_answer(failure))?;
        self.note_answer(None);
        self.change(|kept| {
            grant.keep(kept);
            set(kept, "key", json!(key));
            set(kept, "activation_id", json!(id));
            set(kept, "request", Value::Null);
            set(kept, "trial_wanted", json!(false));
            cancel_release(kept, Some(id));
        });
        Ok(())
    }

    /// Verifies the entitlement of a positive answer: without a genuine one, it is no answer.
    fn read_grant(&self, reply: &Reply, token: &str) -> Result<Grant, NoResponse> {
        let reject =
            |verdict| NoResponse::new(super::Cause::Portal, format!("the entitlement is not accepted: {verdict}"), 200);
        let mut kept = self.kept();
        let mut reading = self.read_token(token, &kept);
        let mut keys = None;
        if matches!(reading, Err("unknown_key")) && system::is_trustworthy(&self.options.service) {
            set(&mut kept, "keys", self.fetch_keys());
            reading = self.read_token(token, &kept);
            keys = kept.get("keys").cloned();
        }
        let claims = reading.map_err(reject)?;
        let device_ms = self.now_ms();
        let service_ms = rules::service_time(reply.date_ms, claims.iat * 1000);
        let clock = Clock::of(&kept).learn(device_ms, service_ms);
        // With the new time, so that a machine whose clock stands in 1970 can be activated.
        match claims.time_problem(clock.read(device_ms).0) {
            Some(problem) => Err(reject(problem)),
            None => Ok(Grant { token: token.to_owned(), keys, clock, answered_at: rules::format_time(service_ms) }),
        }
    }

    fn fetch_keys(&self) -> Value {
        let reply = self.ask("/.well-known/jwks.json", None).ok().filter(|reply| reply.code.is_none());
        let keys = reply.and_then(|reply| reply.body.get("keys").map(PublicKey::read)).unwrap_or_default();
        keys.iter().take(MAX_KEYS).map(PublicKey::write).collect()
    }

    /// Asks whether this machine may run. What waits for the service comes first: a machine to free, or a trial to start.
    pub(crate) fn check(&self, trigger: Trigger) -> Outcome {
        self.release()?;
        let kept = self.kept();
        let (Some(key), Some(id)) = (text(&kept, "key"), text(&kept, "activation_id")) else {
            return if is_true(&kept, "trial_wanted") { self.start_trial() } else { self.refuse_unactivated() };
        };
        let mut body = name_activation(key, id, own_machine_id(&kept));
        set(&mut body, "trigger", json!(trigger.as_str()));
        for (field, sent) in [("install_id", "install_id"), ("sharing", "usage_sharing")] {
            if let Some(value) = kept.get(field).filter(|value| !value.is_null()) {
                set(&mut body, sent, value.clone());
            }
        }
        let reply = match self.ask(&format!("{LICENSES}/validate"), Some(&body)) {
            Ok(reply) if reply.is_about_license() => return self.accept_refusal(&reply, reply.code.as_deref()),
            answer => self.expect(answer)?,
        };
        match (reply.body.get("valid"), text(&reply.body, "entitlement"), text(&reply.body, "reason")) {
            (Some(Value::Bool(true)), Some(token), _) => {
                let grant = self.read_grant(&reply, token).map_err(|failure| self.report_no_answer(failure))?;
                self.note_answer(None);
                self.change(|kept| grant.keep(kept));
                Ok(())
            }
            (Some(Value::Bool(false)), _, reason @ Some(_)) => self.accept_refusal(&reply, reason),
            _ => Err(self.report_no_answer(NoResponse::unexpected_shape())),
        }
    }

    fn accept_refusal(&self, reply: &Reply, reason: Option<&str>) -> Outcome {
        self.note_answer(None);
        let reason = reason.unwrap_or_default();
        let now_ms = Clock::of(&self.kept()).read(self.now_ms()).0;
        let at = rules::format_time(reply.date_ms.unwrap_or(now_ms));
        self.change(|kept| {
            set(kept, "refused", json!({ "reason": reason, "at": at }));
            set(kept, "last_answer_at", json!(at));
        });
        refuse(reason)
    }

    pub(crate) fn deactivate(&self) -> Outcome {
        let kept = self.kept();
        let (Some(key), Some(id)) = (text(&kept, "key"), text(&kept, "activation_id")) else {
            return self.refuse_unactivated();
        };
        let release = json!({ "key": key, "activation_id": id, "machine_id": own_machine_id(&kept) });
        self.change(|kept| set(kept, "release", release));
        self.release()
    }

    /// Frees the machine that waits for it.
    fn release(&self) -> Outcome {
        let kept = self.kept();
        let release = kept.get("release").unwrap_or(&Value::Null);
        let fields = ["key", "activation_id", "machine_id"].map(|name| text(release, name));
        let [Some(key), Some(id), Some(machine_id)] = fields else { return Ok(()) };
        let answer = self.ask(&format!("{LICENSES}/deactivate"), Some(&name_activation(key, id, machine_id)));
        match answer {
            // A license or an activation that does not exist any more is free, too.
            Ok(reply) if reply.is_about_license() || (reply.code.is_none() && is_true(&reply.body, "success")) => {
                self.note_answer(None);
                let is_ours = text(&kept, "activation_id") == Some(id);
                let removed: &[&str] = if is_ours { &LICENSE_FIELDS } else { &["release"] };
                self.change(|kept| removed.iter().for_each(|name| set(kept, name, Value::Null)));
                Ok(())
            }
            Ok(reply) if reply.code.is_none() => Err(self.report_no_answer(NoResponse::unexpected_shape())),
            Ok(reply) => {
                self.change(|kept| set(kept, "release", Value::Null));
                Err(self.refused(&reply))
            }
            Err(failure) => Err(self.report_no_answer(failure)),
        }
    }

    pub(crate) fn machines(&self) -> Outcome<Vec<Machine>> {
        let listed = self.list_machines(&self.choose_key()?)?;
        let kept = self.kept();
        let is_this = |id: &str, machine_id: &str| {
            text(&kept, "activation_id") == Some(id) || own_machine_id(&kept) == machine_id
        };
        Ok(listed
            .into_iter()
            .map(|(machine, id)| Machine { is_this: is_this(&machine.activation_id, &id), ..machine })
            .collect())
    }

    /// Returns the key that was refused because no machine is free, else the kept one.
    fn choose_key(&self) -> Outcome<String> {
        let memory = lock(&self.memory);
        let key = memory.refused_key.clone().or_else(|| owned(&memory.kept, "key"));
        key.map_or_else(|| self.refuse_unactivated(), Ok)
    }

    /// Returns machines with their machine ids.
    fn list_machines(&self, key: &str) -> Outcome<Vec<(Machine, String)>> {
        let reply = self.expect(self.ask(&format!("{LICENSES}/{}/activations", escape(key)), None))?;
        let listed = reply.body.as_array().and_then(|list| list.iter().map(read_machine).collect::<Option<_>>());
        self.note_answer(None);
        listed.ok_or_else(|| self.report_no_answer(NoResponse::unexpected_shape()))
    }

    pub(crate) fn move_here(&self, activation_id: &str) -> Outcome {
        let key = self.choose_key()?;
        let listed = self.list_machines(&key)?;
        let Some((machine, machine_id)) = listed.iter().find(|(each, _)| each.activation_id == activation_id) else {
            return refuse("activation_not_found");
        };
        if machine.is_active {
            let body = name_activation(&key, activation_id, machine_id);
            let reply = self.expect(self.ask(&format!("{LICENSES}/deactivate"), Some(&body)))?;
            if !is_true(&reply.body, "success") {
                return Err(self.report_no_answer(NoResponse::unexpected_shape()));
            }
        }
        self.activate(&key)
    }

    /// Activates the license of a purchase; `purchase_pending` if it is not there yet.
    pub(crate) fn activate_purchase(&self, transaction_id: &str) -> Outcome {
        let reply = self.expect(self.ask(&format!("{LICENSES}/check/{}", escape(transaction_id)), None))?;
        let Some(status) = text(&reply.body, "status") else {
            return Err(self.report_no_answer(NoResponse::unexpected_shape()));
        };
        self.note_answer(None);
        let listed = reply.body.get("licenses").and_then(Value::as_array).into_iter().flatten();
        let key = std::iter::once(&reply.body)
            .chain(listed)
            .filter_map(|each| text(each, "license_key"))
            .find(|key| !key.is_empty());
        match key {
            Some(key) => self.activate(key),
            None if status == "pending" => refuse("purchase_pending"),
            None => refuse("key_not_shown"),
        }
    }

    /// Returns the text for the page for buyers; until an answer is accepted, it has the same nonce.
    pub(crate) fn offline_request(&self, product: &str, name: Option<&str>) -> String {
        let kept = self.kept();
        let open = kept.get("request").and_then(|request| owned(request, "nonce"));
        let nonce = open.clone().unwrap_or_else(|| BASE64URL.encode(system::random_bytes()));
        let machine = self.fingerprint(&kept);
        let content = json!({ "product": product, "machine_fingerprint": machine, "nonce": nonce, "name": name });
        if open.is_none() {
            let created_at = rules::format_time(Clock::of(&kept).read(self.now_ms()).0);
            self.change(|kept| set(kept, "request", json!({ "nonce": nonce, "created_at": created_at })));
        }
        let request = format!("LKR1.{}", BASE64URL.encode(content.to_string()));
        let check: String = rules::hash(&request).chars().take(10).collect();
        format!("{request}.{check}")
    }

    pub(crate) fn accept_offline(&self, pasted: &str) -> Outcome {
        let Some(token) = rules::find_token(pasted) else { return refuse("entitlement_malformed") };
        let kept = self.kept();
        let reject = |verdict: &str| refuse(&format!("entitlement_{verdict}"));
        let claims = match self.read_token(&token, &kept) {
            Ok(claims) => claims,
            Err(verdict) => return reject(verdict),
        };
        if let Some(problem) = claims.time_problem(Clock::of(&kept).read(self.now_ms()).0) {
            return reject(problem);
        }
        let open = kept.get("request").and_then(|request| text(request, "nonce"));
        if claims.nonce.is_none() || claims.nonce.as_deref() != open {
            return reject("nonce");
        }
        self.change(|kept| {
            if text(kept, "activation_id") != claims.activation_id.as_deref() {
                set(kept, "key", Value::Null);
            }
            set(kept, "activation_id", json!(claims.activation_id));
            set(kept, "entitlement", json!(token));
            set(kept, "refused", Value::Null);
            set(kept, "request", Value::Null);
            set(kept, "trial_wanted", json!(false));
            cancel_release(kept, claims.activation_id.as_deref());
        });
        Ok(())
    }
}

/// What a positive answer changes.
struct Grant {
    token: String,
    /// Those that were fetched for it.
    keys: Option<Value>,
    clock: Clock,
    answered_at: String,
}

impl Grant {
    fn keep(&self, kept: &mut Value) {
        if let Some(keys) = &self.keys {
            set(kept, "keys", keys.clone());
        }
        set(kept, "clock", self.clock.write());
        set(kept, "entitlement", json!(self.token));
        set(kept, "refused", Value::Null);
        set(kept, "last_answer_at", json!(self.answered_at));
    }
}

fn name_activation(key: &str, id: &str, machine_id: &str) -> Value {
    json!({ "license_key": key, "activation_id": id, "machine_id": machine_id })
}

pub(crate) fn is_true(value: &Value, name: &str) -> bool {
    value.get(name) == Some(&Value::Bool(true))
}

fn read_machine(item: &Value) -> Option<(Machine, String)> {
    let machine = Machine {
        activation_id: owned(item, "activation_id")?,
        is_active: item.get("is_active")?.as_bool()?,
        is_this: false,
        os_version: owned(item, "os_version"),
        app_version: owned(item, "app_version"),
        activated_at: owned(item, "activated_at").unwrap_or_default(),
        last_validated_at: owned(item, "last_validated_at").unwrap_or_default(),
    };
    Some((machine, owned(item, "machine_id")?))
}

/// Escapes a part of a path (RFC 3986).
fn escape(part: &str) -> String {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || b"-._~".contains(&c);
    part.bytes().map(|c| if is_plain(c) { char::from(c).to_string() } else { format!("%{c:02X}") }).collect()
}
