//! What the client needs of the operating system: files, the identity of the machine, random numbers, and the network.
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{env, process, thread};

use serde_json::json;

use super::{Cause, Fingerprint, rules};

/// A request of the client.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its whole address.
    pub url: String,
    /// JSON to send with POST; without it, GET is used.
    pub body: Option<String>,
    /// The time for all of it.
    pub timeout: Duration,
}

/// What arrived over HTTP.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Response {
    pub status: u16,
    pub content_type: Option<String>,
    pub date: Option<String>,
    pub retry_after: Option<String>,
    pub body: Vec<u8>,
}

/// Why nothing arrived.
#[derive(Clone, Debug)]
pub struct TransportError {
    /// `Dns`, `Connection`, `Tls`, `Proxy` or `Timeout`; `Portal` for a body that is too large.
    pub cause: Cause,
    /// For support: what happened, in a few words.
    pub detail: String,
}

/// A larger body is no answer of the service.
pub const MAX_BODY: u64 = 1_000_000;

/// Sends requests.
pub trait Transport: Send + Sync {
    /// Sends a request once, with content type `application/json`, and waits for the response no longer than its timeout. It
    /// follows no redirect, reads at most [`MAX_BODY`] bytes, and must not call the client.
    /// # Errors
    /// If no response arrived; a status is none.
    fn send(&self, request: &Request) -> Result<Response, TransportError>;
}

#[cfg(not(feature = "ureq"))]
pub(crate) fn default_transport() -> Option<Box<dyn Transport>> {
    None
}

#[cfg(feature = "ureq")]
pub(crate) fn default_transport() -> Option<Box<dyn Transport>> {
    use ureq::tls::{RootCerts, TlsConfig};
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        // A connection that was idle for a day may be broken, and a request is sent once.
        .max_idle_connections(0)
        .user_agent(format!("latchkey-client/{}", super::VERSION))
        .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build());
    Some(Box::new(Ureq(config.build().new_agent())))
}

#[cfg(feature = "ureq")]
struct Ureq(ureq::Agent);

#[cfg(feature = "ureq")]
impl Transport for Ureq {
    fn send(&self, request: &Request) -> Result<Response, TransportError> {
        self.exchange(request).map_err(|error| TransportError { cause: find_cause(&error), detail: error.to_string() })
    }
}

#[cfg(feature = "ureq")]
impl Ureq {
    fn exchange(&self, Request { url, body, timeout }: &Request) -> Result<Response, ureq::Error> {
        let mut response = match body {
            None => self.0.get(url).config().timeout_global(Some(*timeout)).build().call()?,
            Some(body) => {
                let request = self.0.post(url).config().timeout_global(Some(*timeout)).build();
                request.content_type("application/json").send(body)?
            }
        };
        let body = response.body_mut().with_config().limit(MAX_BODY).read_to_vec()?;
        let header = |name| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        Ok(Response {
            status: response.status().as_u16(),
            content_type: header("content-type"),
            date: header("date"),
            retry_after: header("retry-after"),
            body,
        })
    }
}

#[cfg(feature = "ureq")]
fn find_cause(error: &ureq::Error) -> Cause {
    use ureq::Error;
    match error {
        Error::HostNotFound => Cause::Dns,
        Error::Timeout(_) => Cause::Timeout,
        Error::Tls(_) | Error::Pem(_) | Error::Rustls(_) => Cause::Tls,
        Error::ConnectProxyFailed(_) | Error::InvalidProxyUrl => Cause::Proxy,
        Error::BodyExceedsLimit(_) | Error::LargeResponseHeader(..) => Cause::Portal,
        Error::Io(error) if is_unknown_name(error) => Cause::Dns,
        Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => Cause::Timeout,
        // rustls reports what it finds in a certificate as invalid data.
        Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => Cause::Tls,
        _ => Cause::Connection,
    }
}

/// The standard library has no kind for it: Unix has this text, Windows the codes of Winsock.
#[cfg(feature = "ureq")]
fn is_unknown_name(error: &io::Error) -> bool {
    error.to_string().starts_with("failed to lookup address") || matches!(error.raw_os_error(), Some(11_001..=11_004))
}

/// Returns the host of an http or https address.
pub(crate) fn host_of(service: &str) -> Option<&str> {
    let rest = service.strip_prefix("https://").or_else(|| service.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => authority.rsplit('@').next()?.split(':').next()?,
    };
    Some(host).filter(|host| !host.is_empty())
}

/// Whether keys that arrive from an address may be trusted: https, or this computer.
pub(crate) fn is_trustworthy(service: &str) -> bool {
    let host = host_of(service).unwrap_or_default();
    let is_loopback = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    service.starts_with("https://") || host == "localhost" || is_loopback
}

/// Describes the network by the addresses from which this computer would send; asking for them sends nothing.
pub(crate) fn describe_network() -> [Option<IpAddr>; 2] {
    // Addresses for documentation (RFC 5737, RFC 3849).
    [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")].map(|(from, to)| {
        let socket = UdpSocket::bind(from).ok()?;
        socket.connect(to).ok()?;
        Some(socket.local_addr().ok()?.ip())
    })
}

pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn os_version() -> Option<String> {
    Some(fs::read_to_string("/proc/sys/kernel/osrelease").ok()?.trim().to_owned())
}

/// Returns random bytes. Without a source of the system, which all of them have, they are taken from the clock.
pub(crate) fn random_bytes() -> [u8; 16] {
    let mut bytes = [0; 16];
    if getrandom::getrandom(&mut bytes).is_err() {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        bytes = since.as_nanos().to_le_bytes();
    }
    bytes
}

/// Returns a random UUID (RFC 9562, version 4).
pub(crate) fn random_uuid() -> String {
    format_uuid(u128::from_be_bytes(random_bytes()), 4)
}

/// Returns a UUID that begins with a time (RFC 9562, version 7), so that neighbours in time are neighbours in an index.
pub(crate) fn time_uuid(ms: i64) -> String {
    let time = u128::from(ms.max(0).unsigned_abs()) << 80;
    format_uuid(time | (u128::from_be_bytes(random_bytes()) >> 48), 7)
}

fn format_uuid(bits: u128, version: u128) -> String {
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | version << 76 | 0x2 << 62;
    let part = |shift: u32, digits: usize| format!("{:0digits$x}", bits >> shift & ((1 << (digits * 4)) - 1));
    [part(96, 8), part(80, 4), part(64, 4), part(48, 4), part(0, 12)].join("-")
}

/// Reads the identity of this machine, without a shell; none if the system has none.
pub(crate) fn read_machine() -> Option<Fingerprint> {
    read_machine_of(env::consts::OS, &|path| fs::read_to_string(path).unwrap_or_default(), &run)
}

/// Reads the identity of a machine. `read` returns the content of a file and `run` the output of a program, or an empty text.
pub(crate) fn read_machine_of(
    system: &str,
    read: &dyn Fn(&str) -> String,
    run: &dyn Fn(&str, &[&str]) -> String,
) -> Option<Fingerprint> {
    let machine_id = match system {
        "windows" => {
            // The full path, because a folder of the user may precede in PATH; /reg:64, because a 32-bit program reads another part.
            let program = format!(r"{}\System32\reg.exe", env::var("SystemRoot").unwrap_or(r"C:\Windows".into()));
            let key = r"HKLM\SOFTWARE\Microsoft\Cryptography";
            rules::read_registry_output(&run(&program, &["query", key, "/v", "MachineGuid", "/reg:64"]))
        }
        "macos" => rules::read_ioreg_output(&run("/usr/sbin/ioreg", &["-rd1", "-c", "IOPlatformExpertDevice"])),
        _ => ["/etc/machine-id", "/var/lib/dbus/machine-id"]
            .iter()
            .find_map(|path| rules::read_machine_id_file(&read(path))),
    }?;
    let mut machine = Fingerprint::from_iter([("machine_id".to_owned(), json!(machine_id))]);
    if let Some(serial) = rules::read_board_serial(&read("/sys/class/dmi/id/board_serial")) {
        machine.insert("board_serial".to_owned(), json!(serial));
    }
    Some(machine)
}

/// Runs a program for at most five seconds; an empty text if it fails.
fn run(program: &str, args: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    #[cfg(windows)]
    // CREATE_NO_WINDOW
    std::os::windows::process::CommandExt::creation_flags(&mut command, 0x0800_0000);
    let Ok(mut child) = command.spawn() else { return String::new() };
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(None) if started.elapsed() < Duration::from_secs(5) => thread::sleep(Duration::from_millis(5)),
            Ok(Some(status)) if status.success() => {
                let mut output = Vec::new();
                // What was read until an error is examined.
                let _ = child.stdout.take().map(|mut stdout| stdout.read_to_end(&mut output));
                return String::from_utf8_lossy(&output).into_owned();
            }
            _ => {
                // It has ended already, or cannot be ended.
                let _ = child.kill();
                let _ = child.wait();
                return String::new();
            }
        }
    }
}

/// A virus scanner or a backup may hold a file for a moment.
const PAUSES_MS: [u64; 4] = [20, 40, 60, 80];

/// Returns the content of a file; none if it does not exist.
pub(crate) fn read_file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Reads a file up to five times within 200 ms.
pub(crate) fn read_file_with_retries(path: &Path, mut pause: impl FnMut(Duration)) -> io::Result<Option<Vec<u8>>> {
    for pause_ms in PAUSES_MS {
        match read_file(path) {
            Err(_) => pause(Duration::from_millis(pause_ms)),
            result => return result,
        }
    }
    read_file(path)
}

/// Opens a file that only this user can read.
pub(crate) fn owner_only(options: &mut OpenOptions) -> &OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Replaces a file, so that a process that is killed leaves the old one or the new one. The folder is created.
pub(crate) fn replace_file(path: &Path, content: &[u8], is_flushed: bool) -> io::Result<()> {
    static WRITTEN: AtomicU32 = AtomicU32::new(0);
    let count = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.{count}.tmp", process::id()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let written = owner_only(OpenOptions::new().write(true).create(true).truncate(true))
        .open(&temporary)
        .and_then(|file| write_all(file, content, is_flushed))
        .and_then(|()| rename_over(Path::new(&temporary), path));
    if written.is_err() {
        // The first error is reported.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// More than writing takes, and than the clocks of a network differ.
const TEMPORARY_LIFETIME: Duration = Duration::from_secs(3600);

/// Removes the temporary files that killed programs left. Nothing is lost if they stay.
pub(crate) fn remove_old_temporaries(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_temporary(&entry.file_name().to_string_lossy())) {
        let written = entry.metadata().and_then(|metadata| metadata.modified());
        let age = written.ok().and_then(|written| written.elapsed().ok());
        if age.is_some_and(|age| age > TEMPORARY_LIFETIME) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_temporary(name: &str) -> bool {
    let is_ours = ["license.json.", "events.jsonl."].iter().any(|start| name.starts_with(start));
    is_ours && name.ends_with(".tmp")
}

fn write_all(mut file: File, content: &[u8], is_flushed: bool) -> io::Result<()> {
    file.write_all(content)?;
    if is_flushed { file.sync_all() } else { Ok(()) }
}

fn rename_over(from: &Path, to: &Path) -> io::Result<()> {
    for pause_ms in PAUSES_MS {
        match fs::rename(from, to) {
            Err(_) if cfg!(windows) => thread::sleep(Duration::from_millis(pause_ms)),
            result => return result,
        }
    }
    fs::rename(from, to)
}
