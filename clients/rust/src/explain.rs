//! Describes a license for support.
use std::env;

use serde_json::Value;

use super::client::{Client, is_true, lock};
use super::kept::own_machine_id;
use super::rules::{self, Clock, text};

impl Client {
    /// Returns a text without key, token and machine id.
    pub(crate) fn explain(&self) -> String {
        let (state, kept) = (self.state(), self.kept());
        let device_ms = self.now_ms();
        let last_failure = lock(&self.memory).last_failure.clone();
        let waiting = [("release", "to be freed"), ("request", "request without a connection")];
        let is_waiting = |(name, _): &(&str, &str)| kept.get(name).is_some_and(Value::is_object);
        let waiting = waiting.into_iter().filter(is_waiting).map(|(_, what)| what);
        let trial = is_true(&kept, "trial_wanted").then_some("trial to be started");
        let machine: String = rules::hash(own_machine_id(&kept)).chars().take(8).collect();
        let key =
            text(&kept, "key").map(|key| key.chars().rev().take(5).collect::<Vec<_>>().into_iter().rev().collect());
        let refused = kept.get("refused").filter(|refused| refused.is_object());
        let set_back = if state.clock_went_back { " (was set back)" } else { "" };
        let mut lines = vec![
            ("state", [state.kind.as_str()].into_iter().chain(state.reason.as_deref()).collect::<Vec<_>>().join(", ")),
            ("until", state.until.unwrap_or_default()),
            ("tier", state.tier.unwrap_or_default()),
            ("features", state.features.join(", ")),
            ("key", key.map(|key: String| format!("…{key}")).unwrap_or_default()),
            ("machine", format!("{machine} (SHA-256)")),
            ("last answer", state.last_answer_at.unwrap_or_else(|| "never".to_owned())),
            ("last request", last_failure.unwrap_or_else(|| "answered, or none".to_owned())),
            (
                "refused",
                refused
                    .map(|each| ["reason", "at"].map(|name| text(each, name).unwrap_or("")).join(" at "))
                    .unwrap_or_default(),
            ),
            ("waiting", waiting.chain(trial).collect::<Vec<_>>().join(", ")),
            ("time", rules::format_time(Clock::of(&kept).read(device_ms).0)),
            ("device clock", format!("{}{set_back}", rules::format_time(device_ms))),
            ("service", self.options.service.clone()),
            ("program", self.options.app_version.clone()),
            ("client", format!("latchkey-client {}, {} {}", super::VERSION, env::consts::OS, env::consts::ARCH)),
            ("events dropped", self.events.dropped().to_string()),
        ];
        lines.extend(lock(&self.problems).iter().map(|each| ("problem", format!("{}: {}", each.code, each.message))));
        lines.retain(|(_, content)| !content.is_empty());
        lines.iter().map(|(name, content)| format!("{name}: {content}\n")).collect()
    }
}
