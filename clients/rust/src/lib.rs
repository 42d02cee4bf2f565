//! Licenses in a desktop program: activation, trials, offline use and usage events with a Latchkey service.
//!
//! [`Latchkey::open`] reads what is kept and sends no request, so a program starts at once. [`Latchkey::state`] never waits.
//! Calls to the service run one after the other and block until it answered or the timeout is over: make them on a thread of
//! their own. Only an answer of the service changes anything: a customer without a network keeps working.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

pub(crate) mod background;
mod client;
mod events;
mod explain;
pub(crate) mod kept;
pub(crate) mod rules;
pub(crate) mod system;

use background::Signal;
use client::{Client, lock, refuse};
pub use events::Flushed;
pub use rules::PublicKey;
use rules::set;
pub use system::{MAX_BODY, Request, Response, Transport, TransportError};

/// The version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Declares an enumeration whose values have names in the rules.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum $name { $($variant),* }
        impl $name {
            /// Returns the name in the rules.
            pub fn as_str(self) -> &'static str { match self { $(Self::$variant => $text),* } }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.as_str()) }
        }
    };
}

named! {
    /// What is in force: a license, a trial, nothing; an entitlement that has ended, or a license that the service refused.
    Kind { Licensed = "licensed", Trial = "trial", None = "none", Ended = "ended", Refused = "refused" }
}
named! {
    /// Why the service did not answer: its name was not found, no connection, its certificate, a proxy that wants a password, no
    /// answer in time, an answer of something else (a login page, a firewall), or too much work (429, 5xx).
    Cause {
        Dns = "dns", Connection = "connection", Tls = "tls", Proxy = "proxy", Timeout = "timeout", Portal = "portal",
        Busy = "busy",
    }
}
named! {
    /// Why a check is made: at the start, by time, at the front again, after sleep, with a network again, or because the user
    /// wants it.
    Trigger {
        Startup = "startup", Scheduled = "scheduled", Foreground = "foreground", Wake = "wake", Reconnect = "reconnect",
        Manual = "manual",
    }
}

/// What a program may do now, and why. Times are RFC 3339 in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether the program may run.
    pub may_run: bool,
    /// What is in force.
    pub kind: Kind,
    /// The code of why it may not run.
    pub reason: Option<String>,
    /// That of the entitlement.
    pub tier: Option<String>,
    /// Those of the entitlement; empty if the program may not run.
    pub features: Vec<String>,
    /// The end of the entitlement.
    pub until: Option<String>,
    /// Whole days until then, rounded up.
    pub days_left: Option<i64>,
    /// Whether the service answered the last request since opening.
    pub is_answered: bool,
    /// When the service answered last.
    pub last_answer_at: Option<String>,
    /// Whether the clock of the device was set back. Ask the user; nothing is locked.
    pub clock_went_back: bool,
}

/// Why a call did not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The service did not answer; nothing changed. `retry_after` is how long it asked to wait.
    #[allow(missing_docs)]
    NoAnswer { cause: Cause, retry_after: Duration },
    /// The service refused, or the client did without a request: a code of the service, or of the client (`key_mistyped`,
    /// `not_activated`, `folder_unreadable`, `already_licensed`, `trial_expired`, `trial_unavailable`, `purchase_pending`,
    /// `key_not_shown`, `aborted`, `entitlement_` and why an answer for use without a connection is not accepted, `sharing_off`,
    /// `unexpected`). A limit has its maximum, its present number, and when the next one is possible.
    #[allow(missing_docs)]
    Refused { code: String, max: Option<i64>, current: Option<i64>, available_at: Option<String> },
}

impl Failure {
    /// Returns the code of a refusal; `no_answer` without an answer.
    pub fn code(&self) -> &str {
        match self {
            Self::NoAnswer { .. } => "no_answer",
            Self::Refused { code, .. } => code,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAnswer { cause, .. } => write!(f, "no answer of the license service: {cause}"),
            Self::Refused { code, .. } => write!(f, "refused: {code}"),
        }
    }
}

impl std::error::Error for Failure {}

/// The result of a call.
pub type Outcome<T = ()> = Result<T, Failure>;

/// A machine of a license. Times are RFC 3339.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Machine {
    pub activation_id: String,
    pub is_active: bool,
    /// Whether the program runs on it.
    pub is_this: bool,
    pub os_version: Option<String>,
    pub app_version: Option<String>,
    pub activated_at: String,
    pub last_validated_at: String,
}

/// A failure that the client continued after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// `file_damaged`, `folder_unreadable`, `folder_unwritable`, `machine_unreadable`, `events_unwritable`, `events_rejected`,
    /// `listener` or `unexpected`.
    pub code: &'static str,
    /// A sentence for a log. It contains no key.
    pub message: String,
}

/// Values that identify a machine; `machine_id` is always among them.
pub type Fingerprint = Map<String, Value>;

/// What a program passes to [`Latchkey::open`]. The first six fields are required; the others have defaults.
pub struct Options {
    /// The address of the service, such as `https://license.example.com`.
    pub service: String,
    /// Its `LATCHKEY_PUBLIC_URL`, which its entitlements name; usually the same address.
    pub issuer: String,
    /// The ids of your products in the catalogue.
    pub products: Vec<String>,
    /// The keys of the service, [`PublicKey::list`] of its `/.well-known/jwks.json`: compile them in, so that it needs no download.
    pub public_keys: Vec<PublicKey>,
    /// A folder of the program and this user, for `license.json` and `events.jsonl`.
    pub folder: PathBuf,
    /// The version of the program.
    pub app_version: String,
    /// Shown to support, never compared.
    pub os_version: Option<String>,
    /// The identity of the machine; default: that of the system.
    pub machine: Option<Fingerprint>,
    /// The time for one request as a whole; default: 10 seconds.
    pub timeout: Duration,
    /// Default: ureq, with the proxy and the certificates of the system.
    pub transport: Option<Box<dyn Transport>>,
    /// The clock of the device, in milliseconds since 1970.
    pub now: Box<dyn Fn() -> i64 + Send + Sync>,
    /// Receives each failure that the client continues after. It must not call the client.
    pub on_problem: Box<dyn Fn(&Problem) + Send + Sync>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            service: String::new(),
            issuer: String::new(),
            products: Vec::new(),
            public_keys: Vec::new(),
            folder: PathBuf::new(),
            app_version: String::new(),
            os_version: system::os_version(),
            machine: None,
            timeout: Duration::from_secs(10),
            transport: None,
            now: Box::new(system::now_ms),
            on_problem: Box::new(|_| ()),
        }
    }
}

/// Options with which no client can be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongOptions(pub(crate) Vec<&'static str>);

impl fmt::Display for WrongOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wrong options: {}", self.0.join("; "))
    }
}

impl std::error::Error for WrongOptions {}

impl Options {
    fn wrong_ones(&self) -> Vec<&'static str> {
        let is_known = |machine: &Fingerprint| kept::machine_id(machine).is_some();
        let rules = [
            ("service must be an http or https URL", system::host_of(&self.service).is_some()),
            ("issuer must not be empty", !self.issuer.is_empty()),
            ("products must list ids", !self.products.is_empty() && !self.products.iter().any(String::is_empty)),
            ("folder must be a path", !self.folder.as_os_str().is_empty()),
            ("app_version must not be empty", !self.app_version.is_empty()),
            ("machine must have a machine_id", self.machine.as_ref().is_none_or(is_known)),
            ("timeout must not be zero", !self.timeout.is_zero()),
        ];
        rules.into_iter().filter(|(_, holds)| !holds).map(|(rule, _)| rule).collect()
    }
}

/// The license of a program on this machine. Clones share it.
#[derive(Clone)]
pub struct Latchkey(Arc<Client>);

impl Latchkey {
    /// Reads what is kept in the folder. It sends no request.
    /// # Errors
    /// Names all wrong options. Nothing else that fails is an error: it is reported to `on_problem`.
    pub fn open(mut options: Options) -> Result<Self, WrongOptions> {
        options.service.truncate(options.service.trim_end_matches('/').len());
        let transport = options.transport.take().or_else(system::default_transport);
        let mut wrong = options.wrong_ones();
        if transport.is_none() {
            wrong.push("transport is missing");
        }
        let Some(transport) = transport.filter(|_| wrong.is_empty()) else { return Err(WrongOptions(wrong)) };
        Ok(Self(Arc::new(Client::open(options, transport))))
    }

    /// Returns what the program may do now. It needs no network, and never waits for a call.
    pub fn state(&self) -> State {
        self.0.state()
    }

    /// Returns whether the program may run, with this feature.
    pub fn has(&self, feature: &str) -> bool {
        self.state().features.iter().any(|each| each == feature)
    }

    /// Calls a function whenever the state changes, until [`Latchkey::close`], on the thread that changed it.
    pub fn on_change(&self, listener: impl Fn(&State) + Send + Sync + 'static) {
        lock(&self.0.listeners).push(Arc::new(listener));
    }

    /// Activates this machine with a key, as a person typed or pasted it.
    pub fn activate(&self, key: &str) -> Outcome {
        self.0.call(|client| client.activate(key))
    }

    /// Starts the trial of this machine. Without an answer, [`Latchkey::keep_checking`] starts it later.
    pub fn start_trial(&self) -> Outcome {
        self.0.call(Client::start_trial)
    }

    /// Asks the service whether this machine may run.
    pub fn check(&self, trigger: Trigger) -> Outcome {
        self.0.call(|client| client.check(trigger))
    }

    /// Checks on a thread of its own: now, daily, after sleep, when the network returns. It sends events, too.
    pub fn keep_checking(&self) {
        let mut background = lock(&self.0.background);
        if background.is_some() {
            return;
        }
        let (sender, receiver) = mpsc::channel();
        let client = Arc::downgrade(&self.0);
        let started = thread::Builder::new().name("latchkey".to_owned());
        let started = started.spawn(move || background::watch(&client, &receiver));
        match started {
            Ok(_) => *background = Some(sender),
            Err(error) => self.0.report("unexpected", format!("could not start a thread: {error}")),
        }
    }

    /// Call it when the program comes to the front: a check follows in the background, at most one a minute.
    pub fn notice_focus(&self) {
        self.0.signal(Signal::Focus);
    }

    /// Lists the machines of the license, or of the key that was just refused because none is free; active ones first.
    pub fn machines(&self) -> Outcome<Vec<Machine>> {
        self.0.call(Client::machines)
    }

    /// Frees another machine of the license, and activates this one.
    pub fn move_here(&self, activation_id: &str) -> Outcome {
        self.0.call(|client| client.move_here(activation_id))
    }

    /// Frees this machine. Without an answer it continues to run, and the next check frees it.
    pub fn deactivate(&self) -> Outcome {
        self.0.call(Client::deactivate)
    }

    /// Waits for the license of a purchase, at most as long as stated or until [`Latchkey::close`], and activates it.
    /// `transaction_id` is that of the payment provider's checkout.
    pub fn after_purchase(&self, transaction_id: &str, timeout: Duration) -> Outcome {
        let started = Instant::now();
        let mut pause = Duration::from_secs(2);
        loop {
            let result = self.0.call(|client| client.activate_purchase(transaction_id));
            // The payment may be confirmed while the network is away.
            let is_open =
                matches!(&result, Err(failure) if ["purchase_pending", "no_answer"].contains(&failure.code()));
            if !is_open {
                return result;
            }
            if started.elapsed() >= timeout {
                return refuse("purchase_pending");
            }
            let (is_closed, changed) = &self.0.is_closed;
            let wait = changed.wait_timeout_while(lock(is_closed), pause, |is_closed| !*is_closed);
            if *wait.unwrap_or_else(PoisonError::into_inner).0 {
                return refuse("aborted");
            }
            pause = pause.mul_f64(1.3).min(Duration::from_secs(15));
        }
    }

    /// Returns the text of a machine without a connection, for the page for buyers. `name` is what the user calls the machine.
    pub fn offline_request(&self, product: &str, name: Option<&str>) -> Outcome<String> {
        self.0.call(|client| Ok(client.offline_request(product, name)))
    }

    /// Accepts the answer to the last request, with any text around it.
    pub fn accept_offline(&self, text: &str) -> Outcome {
        self.0.call(|client| client.accept_offline(text))
    }

    /// Keeps an event until it is sent. Nothing is sent before `set_sharing(true)`.
    pub fn track(&self, name: &str, props: &[(&str, &str)]) {
        self.0.events.track(&self.0, name, props);
    }

    /// Sends the events that wait, if the user shares usage.
    pub fn flush(&self) -> Outcome<Flushed> {
        self.0.guard(|client| client.events.flush(client))
    }

    /// Keeps whether the user shares usage; the next check reports it. Without consent, all events are deleted, and none is sent once
    /// the call returns.
    pub fn set_sharing(&self, sharing: bool) -> Outcome {
        self.0.call(|client| {
            if sharing {
                client.change(|kept| {
                    set(kept, "sharing", json!(true));
                    if rules::text(kept, "install_id").is_none() {
                        set(kept, "install_id", json!(system::random_uuid()));
                    }
                });
            } else {
                client.events.stop(client, |kept| set(kept, "sharing", json!(false)));
            }
            Ok(())
        })
    }

    /// Deletes the events and the id of this installation here, and stops sharing. Returns the id, under which the vendor can
    /// erase what was sent. Nothing is sent under it once the call returns.
    pub fn erase(&self) -> Outcome<Option<String>> {
        self.0.call(|client| {
            // The file keeps an id that is not known yet.
            if client.is_unread() {
                return refuse("folder_unreadable");
            }
            let install_id = rules::owned(&client.kept(), "install_id");
            client.events.stop(client, |kept| {
                set(kept, "sharing", json!(false));
                set(kept, "install_id", Value::Null);
            });
            Ok(install_id)
        })
    }

    /// Returns a text for support, without key, token and machine id.
    pub fn explain(&self) -> String {
        self.0.explain()
    }

    /// Ends the checks in the background, and waits for calls that run. Events wait for the next start.
    pub fn close(&self) {
        *lock(&self.0.background) = None;
        *lock(&self.0.is_closed.0) = true;
        self.0.is_closed.1.notify_all();
        lock(&self.0.listeners).clear();
        drop(lock(&self.0.calls));
        self.0.events.wait();
    }
}
