//! Events wait in `events.jsonl`, one a line, until the service has them: at most 5,000, one megabyte, 30 days. An event is kept when
//! `track` returns, and its id stays the same, so that the service stores it once even if the program is killed.
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::{Value, json};

use super::client::{Client, lock, refuse};
use super::rules::{self, NoResponse, Reply, owned, set, text};
use super::{Outcome, system};

/// What a flush did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flushed {
    /// Events that the service has now.
    pub sent: usize,
    /// Events that it refuses permanently.
    pub rejected: usize,
}

pub(crate) const MAX_EVENTS: usize = 5_000;
pub(crate) const MAX_BYTES: usize = 1_000_000;
pub(crate) const MAX_AGE_MS: i64 = 30 * 86_400_000;
/// The limits of the service.
const MAX_BATCH: usize = 500;
const MAX_NAME: usize = 120;
const MAX_PROPS: usize = 32;
const MAX_PROP_NAME: usize = 64;
const MAX_PROP: usize = 1_024;

/// The events of a client.
pub(crate) struct Events {
    /// The run of the program.
    session: String,
    flushing: Mutex<()>,
    queue: Mutex<Queue>,
}

impl Events {
    pub(crate) fn new(folder: &Path) -> Self {
        let queue = Mutex::new(Queue::new(folder.join("events.jsonl")));
        Self { session: system::random_uuid(), flushing: Mutex::default(), queue }
    }

    pub(crate) fn track(&self, client: &Client, name: &str, props: &[(&str, &str)]) {
        let now_ms = client.now_ms();
        let Some(name) = clean_name(name) else { return };
        let event = Event::new(json!({
            "id": system::time_uuid(now_ms),
            "name": name,
            "at": rules::format_time(now_ms),
            "props": clean_props(props),
            "session": self.session,
            "app": client.options.app_version,
        }));
        // Under the lock of the queue, so that no event is added after the consent ended.
        self.change(client, |queue| match event {
            Some(event) if client.kept().get("sharing") != Some(&json!(false)) => queue.add(event),
            _ => Ok(()),
        });
    }

    /// How many events were dropped since opening: the queue was full, or they were too old, or the service refused them.
    pub(crate) fn dropped(&self) -> usize {
        lock(&self.queue).dropped
    }

    /// Ends the consent, so that no event is added any more, deletes the events, and waits for a batch that is being sent.
    pub(crate) fn stop(&self, client: &Client, end_consent: impl FnOnce(&mut Value)) {
        client.change(end_consent);
        self.change(client, Queue::clear);
        self.wait();
    }

    /// Deletes events that were tracked, in this run or in an earlier one, before it could be read that the user does not share usage.
    pub(crate) fn clear_refused(&self, client: &Client) {
        if client.kept().get("sharing") == Some(&json!(false)) {
            self.change(client, Queue::clear_unless_empty);
        }
    }

    /// Waits for a flush that runs.
    pub(crate) fn wait(&self) {
        drop(lock(&self.flushing));
    }

    /// Sends the events that wait, in batches. Without an answer they go on waiting, under the same ids.
    pub(crate) fn flush(&self, client: &Client) -> Outcome<Flushed> {
        let _flushing = lock(&self.flushing);
        let mut limit = MAX_BATCH;
        let mut flushed = Flushed::default();
        loop {
            // Each time, because the user may stop sharing, or have the id erased, while a batch is sent.
            let Some(install_id) = consented_id(client) else { return refuse("sharing_off") };
            let now_ms = client.now_ms();
            let batch = self.change(client, |queue| queue.next_batch(limit, now_ms)).unwrap_or_default();
            let Some(first) = batch.first() else { return Ok(flushed) };
            match read_outcome(client.ask("/api/v1/events", Some(&describe(client, &install_id, &batch)))) {
                Ok(BatchOutcome::Stored) => {
                    flushed.sent += batch.len();
                    self.change(client, Queue::remove_sent);
                }
                Ok(BatchOutcome::TooLarge) if batch.len() > 1 => limit = batch.len() / 2,
                Ok(_) => {
                    flushed.rejected += batch.len();
                    let name = owned(&first.json, "name").unwrap_or_default();
                    let message = format!("the service rejected {} events, the first one named {name}", batch.len());
                    client.report("events_rejected", message);
                    self.change(client, |queue| {
                        queue.dropped += batch.len();
                        queue.remove_sent()
                    });
                }
                Err(NoResponse { cause, retry_after, .. }) => {
                    return Err(super::Failure::NoAnswer { cause, retry_after });
                }
            }
        }
    }

    /// Changes the queue. If the folder cannot be written, the events wait in memory, and it is reported.
    fn change<T>(&self, client: &Client, work: impl FnOnce(&mut Queue) -> io::Result<T>) -> Option<T> {
        let result = work(&mut lock(&self.queue));
        result.map_err(|error| client.report("events_unwritable", format!("could not keep events: {error}"))).ok()
    }
}

/// Returns the id under which events may be sent. A file that cannot be read may have another consent, and another id.
fn consented_id(client: &Client) -> Option<String> {
    if client.is_unread() {
        return None;
    }
    let kept = client.kept();
    owned(&kept, "install_id").filter(|_| kept.get("sharing") == Some(&json!(true)))
}

/// What the service did with a batch.
enum BatchOutcome {
    Stored,
    TooLarge,
    Rejected,
}

/// Reads what the service did with a batch. A login page is no answer, whatever its status.
fn read_outcome(answer: Result<Reply, NoResponse>) -> Result<BatchOutcome, NoResponse> {
    match answer {
        Ok(reply) if reply.status == 413 => Ok(BatchOutcome::TooLarge),
        Ok(reply) if reply.code.is_some() => Ok(BatchOutcome::Rejected),
        Ok(reply) => {
            let is_ours = ["accepted", "dropped"].iter().all(|name| reply.body.get(name).is_some_and(Value::is_number));
            if is_ours { Ok(BatchOutcome::Stored) } else { Err(NoResponse::unexpected_shape()) }
        }
        Err(failure) if failure.status == 413 => Ok(BatchOutcome::TooLarge),
        Err(failure) if failure.lists_faults => Ok(BatchOutcome::Rejected),
        Err(failure) => Err(failure),
    }
}

fn describe(client: &Client, install_id: &str, batch: &[Event]) -> Value {
    let part = |event: &Event, name: &str| event.json.get(name).cloned().unwrap_or_default();
    let events = batch.iter().map(|event| {
        let [id, name, at, props] = ["id", "name", "at", "props"].map(|field| part(event, field));
        json!({ "event_id": id, "name": name, "occurred_at": at, "props": props })
    });
    let mut body = json!({ "install_id": install_id, "events": events.collect::<Value>() });
    if let Some(first) = batch.first() {
        set(&mut body, "session_id", part(first, "session"));
        set(&mut body, "app_version", part(first, "app"));
    }
    if let Some(os_version) = &client.options.os_version {
        set(&mut body, "os_version", json!(os_version));
    }
    body
}

/// Returns a name as the service accepts it; none if nothing is left.
fn clean_name(name: &str) -> Option<String> {
    let printable = |c: char| if is_unprintable(c) { ' ' } else { c };
    let cut: String = name.trim().chars().take(MAX_NAME).map(printable).collect();
    Some(cut.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Controls, characters of formats, private use (category C), and separators of lines.
fn is_unprintable(c: char) -> bool {
    const FORMATS: &[std::ops::RangeInclusive<char>] = &[
        '\u{ad}'..='\u{ad}',
        '\u{600}'..='\u{605}',
        '\u{61c}'..='\u{61c}',
        '\u{6dd}'..='\u{6dd}',
        '\u{70f}'..='\u{70f}',
        '\u{180e}'..='\u{180e}',
        '\u{200b}'..='\u{200f}',
        '\u{2028}'..='\u{202e}',
        '\u{2060}'..='\u{206f}',
        '\u{e000}'..='\u{f8ff}',
        '\u{feff}'..='\u{feff}',
        '\u{fff9}'..='\u{ffff}',
        '\u{e0000}'..='\u{10ffff}',
    ];
    c.is_control() || FORMATS.iter().any(|range| range.contains(&c))
}

/// Returns props as the service accepts them.
fn clean_props(props: &[(&str, &str)]) -> BTreeMap<String, String> {
    let cut =
        |text: &str, max| text.chars().take(max).map(|c| if c == '\0' { '\u{fffd}' } else { c }).collect::<String>();
    let fitting = props.iter().filter(|(name, _)| name.chars().count() <= MAX_PROP_NAME).take(MAX_PROPS);
    fitting.map(|(name, value)| (cut(name, MAX_PROP_NAME), cut(value, MAX_PROP))).collect()
}

/// An event that waits to be sent.
#[derive(Clone)]
pub(crate) struct Event {
    pub(crate) json: Value,
    id: String,
    at_ms: i64,
    line: String,
}

impl Event {
    /// Reads an event; none if a field is missing.
    fn new(json: Value) -> Option<Self> {
        let has_texts = ["name", "session", "app"].iter().all(|name| text(&json, name).is_some());
        let has_props = json.get("props").is_some_and(Value::is_object);
        let at_ms = rules::parse_time(text(&json, "at")?).filter(|_| has_texts && has_props)?;
        Some(Self { id: owned(&json, "id")?, at_ms, line: format!("{json}\n"), json })
    }

    fn is_of_run(&self, other: &Self) -> bool {
        ["session", "app"].iter().all(|name| self.json.get(name) == other.json.get(name))
    }
}

/// Events that wait, the oldest first.
pub(crate) struct Queue {
    path: PathBuf,
    events: VecDeque<Event>,
    /// Whether the file was read. Until then, it is not written over, and new events wait in memory.
    is_loaded: bool,
    /// Whether the file has every event.
    is_stored: bool,
    pub(crate) dropped: usize,
    /// The ids of the batch that is being sent, and how many of them a full queue dropped.
    sending: HashSet<String>,
    dropped_of_sending: usize,
}

impl Queue {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            events: VecDeque::new(),
            is_loaded: false,
            is_stored: true,
            dropped: 0,
            sending: HashSet::new(),
            dropped_of_sending: 0,
        }
    }

    fn add(&mut self, event: Event) -> io::Result<()> {
        let loaded = self.load();
        let has_space = self.events.len() < MAX_EVENTS && self.byte_count() + event.line.len() <= MAX_BYTES;
        let ready = if has_space { loaded } else { loaded.and(self.make_space_for(&event)) };
        let stored = ready.and_then(|()| self.append(event.line.as_bytes()));
        self.events.push_back(event);
        self.is_stored &= stored.is_ok();
        stored
    }

    /// Makes a tenth of the space at once, so that a full queue is not written again for every event.
    fn make_space_for(&mut self, event: &Event) -> io::Result<()> {
        let refreshed = self.refresh();
        let (mut count, mut bytes) = (self.events.len() + 1, self.byte_count() + event.line.len());
        let dropped = self.drop_while(|oldest| {
            let is_full = count > MAX_EVENTS / 10 * 9 || bytes > MAX_BYTES / 10 * 9;
            count -= 1;
            bytes -= oldest.line.len();
            is_full
        });
        refreshed.and(dropped)
    }

    /// Drops events that are too old, and returns the oldest others of one run of the program.
    fn next_batch(&mut self, limit: usize, now_ms: i64) -> io::Result<Vec<Event>> {
        self.dropped += std::mem::take(&mut self.dropped_of_sending);
        self.sending.clear();
        let loaded = self.load();
        let dropped = self.drop_while(|event| now_ms - event.at_ms > MAX_AGE_MS);
        let Some(first) = self.events.front() else { return loaded.and(dropped).map(|()| Vec::new()) };
        let batch: Vec<_> =
            self.events.iter().take_while(|event| event.is_of_run(first)).take(limit).cloned().collect();
        self.sending = batch.iter().map(|event| event.id.clone()).collect();
        Ok(batch)
    }

    /// Removes the batch that was sent, and keeps what another process added since.
    fn remove_sent(&mut self) -> io::Result<()> {
        let refreshed = self.refresh();
        let sent = std::mem::take(&mut self.sending);
        // The service has them, or rejected them, which is counted.
        self.dropped_of_sending = 0;
        self.events.retain(|event| !sent.contains(&event.id));
        refreshed.and_then(|()| self.rewrite())
    }

    fn drop_while(&mut self, mut must_go: impl FnMut(&Event) -> bool) -> io::Result<()> {
        let gone = self.events.iter().take_while(|event| must_go(event)).count();
        if gone == 0 {
            return Ok(());
        }
        let of_sending = self.events.drain(..gone).filter(|event| self.sending.contains(&event.id)).count();
        self.dropped += gone - of_sending;
        self.dropped_of_sending += of_sending;
        self.rewrite()
    }

    fn clear(&mut self) -> io::Result<()> {
        self.events.clear();
        self.is_loaded = true;
        self.rewrite()
    }

    /// Removes all events, also those that cannot be read, and writes nothing if there are none.
    fn clear_unless_empty(&mut self) -> io::Result<()> {
        let is_empty = self.load().is_ok() && self.events.is_empty();
        if is_empty { Ok(()) } else { self.clear() }
    }

    fn rewrite(&mut self) -> io::Result<()> {
        if !self.is_loaded {
            return Ok(());
        }
        let content = self.events.iter().map(|event| event.line.as_str()).collect::<String>();
        let written = system::replace_file(&self.path, content.as_bytes(), false);
        self.is_stored = written.is_ok();
        written
    }

    /// Reads what other processes changed. If the file lacks an event, the memory has all that is known.
    fn refresh(&mut self) -> io::Result<()> {
        if self.is_loaded && self.is_stored {
            self.is_loaded = false;
            self.events.clear();
        }
        self.load()
    }

    /// Reads the file, and adds to it what waited in memory until it could be read.
    fn load(&mut self) -> io::Result<()> {
        if self.is_loaded {
            return Ok(());
        }
        let mut events = self.read()?;
        self.is_loaded = true;
        let added = self.events.iter().map(|event| event.line.as_str()).collect::<String>();
        events.append(&mut self.events);
        self.events = events;
        let stored = if added.is_empty() { Ok(()) } else { self.append(added.as_bytes()) };
        self.is_stored = stored.is_ok();
        stored
    }

    fn byte_count(&self) -> usize {
        self.events.iter().map(|event| event.line.len()).sum()
    }

    /// Returns what is stored.
    fn read(&self) -> io::Result<VecDeque<Event>> {
        let bytes = system::read_file(&self.path)?.unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        let events = lines.filter_map(|line| Event::new(serde_json::from_slice(line).ok()?)).collect::<VecDeque<_>>();
        if bytes.last().is_some_and(|last| *last != b'\n') {
            // A line that was cut when the program was killed would spoil the next one.
            let content = events.iter().map(|event| event.line.as_str()).collect::<String>();
            system::replace_file(&self.path, content.as_bytes(), false)?;
        }
        Ok(events)
    }

    fn append(&self, line: &[u8]) -> io::Result<()> {
        let open = || system::owner_only(OpenOptions::new().append(true).create(true)).open(&self.path);
        let mut file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(self.path.parent().unwrap_or(Path::new("")))?;
                open()?
            }
            opened => opened?,
        };
        file.write_all(line)
    }
}
