//! A service whose answers a test decides, and a client that asks it.
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, fs, process};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL};
use ed25519_dalek::{Signer as _, SigningKey};
use serde_json::{Value, json};

use crate::latchkey::rules::hash;
use crate::latchkey::{Cause, Fingerprint, Latchkey, Options, PublicKey, Request, Response, Transport, TransportError};

pub const KEY: &str = "LK-5JQ8M-XK8N0-0R2W4-11T6Y-ABC2H";
pub const MACHINE_ID: &str = "4c4c4544-0044";
pub const ACTIVATION_ID: &str = "0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d";
/// 2027-01-15T08:00:00Z
pub const NOW_MS: i64 = 1_800_000_000_000;
pub const DAY_MS: i64 = 86_400_000;

pub type Answer = Result<Response, TransportError>;

/// A folder that is removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("latchkey-rust-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Moves a file away, and puts a link to itself in its place, which nobody can read, but which a rename would replace.
    #[cfg(unix)]
    pub fn make_unreadable(&self, name: &str) {
        if self.file(name).exists() {
            fs::rename(self.file(name), self.file("elsewhere")).unwrap();
        }
        std::os::unix::fs::symlink(name, self.file(name)).unwrap();
    }

    /// Brings a file back that `make_unreadable` moved away.
    pub fn restore(&self, name: &str) {
        fs::rename(self.file("elsewhere"), self.file(name)).unwrap();
    }

    pub fn kept(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.file("license.json")).unwrap()).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Another test's folder is not affected if it stays.
        let _ = fs::remove_dir_all(&self.0);
    }
}

type Script = Box<dyn FnMut(&Request) -> Answer + Send>;

/// Answers as a test wants, and remembers what was asked.
#[derive(Clone)]
pub struct Service {
    script: Arc<Mutex<Script>>,
    pub requests: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Service {
    /// Cannot be reached until a script is set.
    fn new() -> Self {
        Self { script: Arc::new(Mutex::new(Box::new(|_| fail(Cause::Connection)))), requests: Arc::default() }
    }

    pub fn answer(&self, script: impl FnMut(&Request) -> Answer + Send + 'static) {
        // A script may have panicked.
        *self.script.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(script);
    }

    pub fn take_requests(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

impl Transport for Service {
    fn send(&self, request: &Request) -> Answer {
        let path = request.url.strip_prefix("https://license.example.com").unwrap().to_owned();
        let body = request.body.as_deref().map(|body| serde_json::from_str(body).unwrap()).unwrap_or_default();
        self.requests.lock().unwrap().push((path, body));
        (self.script.lock().unwrap_or_else(PoisonError::into_inner))(request)
    }
}

/// An open client, and what surrounds it.
pub struct World {
    pub client: Latchkey,
    pub service: Service,
    pub clock: Arc<AtomicI64>,
    pub problems: Arc<Mutex<Vec<String>>>,
}

impl World {
    pub fn problems(&self) -> Vec<String> {
        std::mem::take(&mut self.problems.lock().unwrap())
    }

    pub fn set_clock(&self, ms: i64) {
        self.clock.store(ms, Ordering::Relaxed);
    }
}

pub fn options(folder: &Path) -> Options {
    Options {
        service: "https://license.example.com/".into(),
        issuer: "https://license.example.com".into(),
        products: vec!["personal".into()],
        public_keys: vec![public_key(&signer())],
        folder: folder.to_owned(),
        app_version: "2.4.0".into(),
        machine: Some(Fingerprint::from_iter([("machine_id".into(), json!(MACHINE_ID))])),
        ..Options::default()
    }
}

pub fn open(folder: &Folder) -> World {
    open_with(folder, |_| ())
}

pub fn open_with(folder: &Folder, change: impl FnOnce(&mut Options)) -> World {
    let (service, clock, problems) =
        (Service::new(), Arc::new(AtomicI64::new(NOW_MS)), Arc::<Mutex<Vec<_>>>::default());
    let mut options = options(&folder.0);
    let (now, reported) = (Arc::clone(&clock), Arc::clone(&problems));
    options.transport = Some(Box::new(service.clone()));
    options.now = Box::new(move || now.load(Ordering::Relaxed));
    options.on_problem = Box::new(move |problem| reported.lock().unwrap().push(problem.code.to_owned()));
    change(&mut options);
    World { client: Latchkey::open(options).unwrap(), service, clock, problems }
}

/// Opens a client with a license.
pub fn open_licensed(folder: &Folder) -> World {
    let world = open(folder);
    world.service.answer(|_| activated());
    world.client.activate(KEY).unwrap();
    world.service.take_requests();
    world
}

pub fn signer() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

pub fn public_key(signer: &SigningKey) -> PublicKey {
    PublicKey { kid: "test".into(), x: signer.verifying_key().to_bytes() }
}

/// Signs an entitlement of 14 days with changed claims.
pub fn sign(changes: &Value) -> String {
    sign_with(&signer(), changes)
}

pub fn sign_with(signer: &SigningKey, changes: &Value) -> String {
    let mut claims = json!({
        "iss": "https://license.example.com", "aud": "personal", "iat": NOW_MS / 1000, "nbf": NOW_MS / 1000,
        "exp": (NOW_MS + 14 * DAY_MS) / 1000, "activation_id": ACTIVATION_ID, "machine": hash(MACHINE_ID),
        "tier": "personal", "features": ["history", "gpu"], "license_expires_at": null, "trial": false,
    });
    claims.as_object_mut().unwrap().extend(changes.as_object().cloned().unwrap_or_default());
    let header = json!({ "alg": "EdDSA", "kid": "test", "typ": "entitlement+jwt" });
    let signed = [header, claims].map(|part| BASE64URL.encode(part.to_string())).join(".");
    format!("{signed}.{}", BASE64URL.encode(signer.sign(signed.as_bytes()).to_bytes()))
}

pub fn reply(status: u16, body: &Value) -> Answer {
    let content_type = Some("application/json".to_owned());
    Ok(Response { status, content_type, body: body.to_string().into_bytes(), ..Response::default() })
}

pub fn problem(status: u16, code: &str) -> Answer {
    reply(status, &json!({ "title": "Any", "status": status, "code": code }))
}

pub fn page(status: u16) -> Answer {
    Ok(Response { status, body: b"<html>Please sign in</html>".to_vec(), ..Response::default() })
}

pub fn fail(cause: Cause) -> Answer {
    Err(TransportError { cause, detail: "test".into() })
}

pub fn activated() -> Answer {
    let body = json!({ "activation_id": ACTIVATION_ID, "entitlement": sign(&json!({})), "license_key": KEY });
    reply(200, &body)
}

pub fn validated() -> Answer {
    reply(200, &json!({ "valid": true, "entitlement": sign(&json!({})) }))
}
