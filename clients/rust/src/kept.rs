//! What is kept of a license: the file, and how it is joined with the changes of a run that could not read it.
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::{fs, io, thread};

use serde_json::{Value, json};

use super::client::{Client, is_true, lock};
use super::rules::{Clock, set, text};
use super::{Fingerprint, system};

const FILE: &str = "license.json";

impl Client {
    /// Reads what is kept, and the identity of the machine.
    pub(crate) fn load(&self) {
        system::remove_old_temporaries(&self.options.folder);
        match system::read_file_with_retries(&self.path(), thread::sleep) {
            Ok(bytes) => {
                self.adopt(self.parse(bytes));
                self.events.clear_refused(self);
            }
            Err(error) => {
                self.must_read_file.store(true, Ordering::Relaxed);
                self.report("folder_unreadable", format!("could not read {FILE}: {error}"));
            }
        }
        // The program does not wait for the system while a kept identity can be used.
        if self.options.machine.is_none() && kept_machine(&self.kept()).is_some() {
            self.must_read_machine.store(true, Ordering::Relaxed);
        } else {
            self.adopt_machine();
        }
    }

    fn path(&self) -> PathBuf {
        self.options.folder.join(FILE)
    }

    /// Returns what a file keeps: nothing without one, and after a damaged one, which is renamed.
    fn parse(&self, bytes: Option<Vec<u8>>) -> Value {
        let Some(bytes) = bytes else { return json!({}) };
        match serde_json::from_slice::<Value>(&bytes) {
            Ok(kept) if kept.is_object() => return kept,
            _ => self.report("file_damaged", format!("{FILE} is damaged and was renamed")),
        }
        if let Err(error) = fs::rename(self.path(), self.path().with_extension("json.damaged")) {
            self.report("folder_unwritable", format!("could not rename {FILE}: {error}"));
        }
        json!({})
    }

    /// Reads a file that could not be read before, and adds what this run changed since.
    pub(crate) fn read_again(&self) -> io::Result<()> {
        let file = self.parse(system::read_file(&self.path())?);
        self.adopt(join_run(&file, &self.kept(), self.has_own_license.load(Ordering::Relaxed)));
        // Afterwards, so that a flush on another thread never uses what the run alone knows.
        self.must_read_file.store(false, Ordering::Release);
        self.events.clear_refused(self);
        Ok(())
    }

    pub(crate) fn adopt_machine(&self) {
        let reading = self.options.machine.clone().or_else(system::read_machine);
        if reading.is_none() {
            self.report("machine_unreadable", "could not read the identity of the machine".to_owned());
        }
        let kept = self.kept();
        let chosen = choose_machine(&kept, reading, &system::random_uuid());
        if kept_machine(&kept) != Some(&chosen) {
            self.change(|kept| set(kept, "machine", Value::Object(chosen)));
        }
    }

    /// Changes what is kept, and writes it; but never over a file that could not be read.
    pub(crate) fn change(&self, edit: impl FnOnce(&mut Value)) {
        let mut kept = self.kept();
        edit(&mut kept);
        set(&mut kept, "version", json!(1));
        self.adopt(kept);
        if self.is_unread() && self.has_license() {
            self.has_own_license.store(true, Ordering::Relaxed);
        }
        match if self.is_unread() { self.read_again() } else { Ok(()) } {
            Ok(()) => self.write(),
            Err(error) => {
                self.report("folder_unwritable", format!("{FILE} is not written while it cannot be read: {error}"));
            }
        }
    }

    /// Whether the file exists, but could not be read yet.
    pub(crate) fn is_unread(&self) -> bool {
        self.must_read_file.load(Ordering::Acquire)
    }

    /// Whether there is a license that is no trial.
    fn has_license(&self) -> bool {
        let memory = lock(&self.memory);
        is_activated(&memory.kept) && !memory.claims.as_ref().is_some_and(|claims| claims.trial)
    }

    pub(crate) fn write(&self) {
        let content = format!("{}\n", self.kept());
        if let Err(error) = system::replace_file(&self.path(), content.as_bytes(), true) {
            self.report("folder_unwritable", format!("could not write {FILE}: {error}"));
        }
    }

    /// Takes state and claims at once, so that no state is derived from the old one and the new one.
    fn adopt(&self, kept: Value) {
        let claims = text(&kept, "entitlement").and_then(|token| self.read_token(token, &kept).ok());
        let mut memory = lock(&self.memory);
        memory.kept = kept;
        memory.claims = claims;
    }
}

/// Returns the identity that is kept.
pub(crate) fn kept_machine(kept: &Value) -> Option<&Fingerprint> {
    kept.get("machine")?.as_object().filter(|machine| machine_id(machine).is_some())
}

pub(crate) fn machine_id(machine: &Fingerprint) -> Option<&str> {
    machine.get("machine_id")?.as_str().filter(|id| !id.is_empty())
}

const GENERATED: &str = "generated-";

/// The machine of this activation is wanted again: it is not released any more.
pub(crate) fn cancel_release(kept: &mut Value, activation_id: Option<&str>) {
    let released = kept.get("release").and_then(|release| text(release, "activation_id"));
    if released.is_some() && released == activation_id {
        set(kept, "release", Value::Null);
    }
}

/// Whether there is a key or an entitlement.
pub(crate) fn is_activated(kept: &Value) -> bool {
    text(kept, "key").or(text(kept, "entitlement")).is_some()
}

/// Returns the content of a file that could not be read at first, with the changes of the run since then. A trial of the run does not
/// replace a license. `has_own_license`: the run activated a license, apart from a trial, or removed it again.
pub(crate) fn join_run(file: &Value, run: &Value, has_own_license: bool) -> Value {
    let mut joined = file.clone();
    let is_trial_kept = !is_activated(file) || text(run, "activation_id") == text(file, "activation_id");
    if has_own_license || (is_activated(run) && is_trial_kept) {
        replace_license(&mut joined, run);
    } else {
        keep_license(&mut joined, file, run);
    }
    set(&mut joined, "version", json!(1));
    set(&mut joined, "clock", Clock::of(file).join(Clock::of(run)).write());
    set_present(&mut joined, run, &["sharing", "last_answer_at"]);
    if text(file, "install_id").is_none() {
        set_present(&mut joined, run, &["install_id"]);
    }
    joined
}

fn replace_license(joined: &mut Value, run: &Value) {
    let id = text(run, "activation_id");
    let is_same = text(run, "entitlement").is_some() && id == text(joined, "activation_id");
    // The answer to a machine without a connection has no key.
    if text(run, "key").is_some() || !is_same {
        set(joined, "key", run.get("key").cloned().unwrap_or_default());
    }
    for name in ["activation_id", "entitlement", "refused", "request", "trial_wanted"] {
        set(joined, name, run.get(name).cloned().unwrap_or_default());
    }
    cancel_release(joined, id);
    set_present(joined, run, &["release", "keys", "machine"]);
}

fn keep_license(joined: &mut Value, file: &Value, run: &Value) {
    cancel_release(joined, text(run, "activation_id"));
    set_present(joined, run, &["release", "request"]);
    if is_true(run, "trial_wanted") && !is_activated(file) {
        set(joined, "trial_wanted", json!(true));
    }
    if !has(file, "keys") {
        set_present(joined, run, &["keys"]);
    }
    if kept_machine(file).is_none() {
        set_present(joined, run, &["machine"]);
    } else {
        // A system that cannot read the file may not have read the machine either.
        let reading = kept_machine(run).filter(|machine| !is_generated(machine)).cloned();
        set(joined, "machine", Value::Object(choose_machine(file, reading, "")));
    }
}

/// Copies the fields that have a value.
fn set_present(to: &mut Value, from: &Value, names: &[&str]) {
    for name in names.iter().filter(|name| has(from, name)) {
        set(to, name, from.get(*name).cloned().unwrap_or_default());
    }
}

fn has(kept: &Value, name: &str) -> bool {
    kept.get(name).is_some_and(|value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()))
}

/// Whether an identity is a random one, because the system has none.
fn is_generated(machine: &Fingerprint) -> bool {
    machine_id(machine).is_some_and(|id| id.starts_with(GENERATED))
}

/// Chooses the identity of the machine: the new reading, else the last good one, else a random one that is kept from now on. A
/// random one stays while a license uses it.
pub(crate) fn choose_machine(kept: &Value, reading: Option<Fingerprint>, uuid: &str) -> Fingerprint {
    let before = kept_machine(kept);
    match (before, reading) {
        (Some(before), None) => before.clone(),
        (Some(before), Some(_)) if is_generated(before) && is_activated(kept) => before.clone(),
        (_, Some(reading)) => reading,
        (None, None) => Fingerprint::from_iter([("machine_id".to_owned(), json!(format!("{GENERATED}{uuid}")))]),
    }
}

pub(crate) fn own_machine_id(kept: &Value) -> &str {
    kept_machine(kept).and_then(machine_id).unwrap_or_default()
}
