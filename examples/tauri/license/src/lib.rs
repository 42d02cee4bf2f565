//! What the windows of a program call. It knows no Tauri, so that it is tested without a window.
use std::time::Duration;

use latchkey_client::{Failure, Latchkey, Options, Outcome, State, Trigger, WrongOptions};
use serde_json::{Map, Value, json};

/// Sends an event to every window.
pub trait Windows: Send + Sync + 'static {
    fn emit(&self, event: &str, payload: Value);
}

impl<Emit: Fn(&str, Value) + Send + Sync + 'static> Windows for Emit {
    fn emit(&self, event: &str, payload: Value) {
        self(event, payload);
    }
}

/// The license, as windows see it: they get its state, and never the key.
pub struct License(Latchkey);

impl License {
    /// Opens the license. Windows receive the event `license` with each change of the state.
    pub fn open(options: Options, windows: impl Windows) -> Result<Self, WrongOptions> {
        let latchkey = Latchkey::open(options)?;
        latchkey.on_change(move |state| windows.emit("license", render_state(state)));
        Ok(Self(latchkey))
    }

    /// Checks in the background from now on.
    pub fn keep_checking(&self) {
        self.0.keep_checking();
    }

    /// A window came to the front.
    pub fn notice_focus(&self) {
        self.0.notice_focus();
    }

    pub fn state(&self) -> Value {
        render_state(&self.0.state())
    }

    pub fn activate(&self, key: &str) -> Value {
        self.render(self.0.activate(key).map(|()| Value::Null))
    }

    pub fn start_trial(&self) -> Value {
        self.render(self.0.start_trial().map(|()| Value::Null))
    }

    pub fn check(&self) -> Value {
        self.render(self.0.check(Trigger::Manual).map(|()| Value::Null))
    }

    pub fn machines(&self) -> Value {
        let machines = self.0.machines().map(|list| {
            list.iter()
                .map(|each| {
                    json!({ "activationId": each.activation_id, "isActive": each.is_active, "isThis": each.is_this,
                        "activatedAt": each.activated_at })
                })
                .collect()
        });
        self.render(machines)
    }

    pub fn move_here(&self, activation_id: &str) -> Value {
        self.render(self.0.move_here(activation_id).map(|()| Value::Null))
    }

    pub fn deactivate(&self) -> Value {
        self.render(self.0.deactivate().map(|()| Value::Null))
    }

    /// Waits for the license of a purchase, for ten minutes at most.
    pub fn after_purchase(&self, transaction_id: &str) -> Value {
        let result = self.0.after_purchase(transaction_id, Duration::from_secs(600));
        self.render(result.map(|()| Value::Null))
    }

    pub fn explain(&self) -> String {
        self.0.explain()
    }

    /// The program ends.
    pub fn close(&self) {
        self.0.close();
    }

    /// Renders a result, and the state after it.
    fn render(&self, result: Outcome<Value>) -> Value {
        let mut fields = Map::from_iter([("ok".to_owned(), json!(result.is_ok())), ("state".to_owned(), self.state())]);
        match result {
            Ok(value) => fields.insert("value".to_owned(), value),
            Err(failure) => {
                if let Failure::NoAnswer { cause, .. } = failure {
                    fields.insert("cause".to_owned(), json!(cause.as_str()));
                }
                fields.insert("code".to_owned(), json!(failure.code()))
            }
        };
        Value::Object(fields)
    }
}

fn render_state(state: &State) -> Value {
    json!({
        "mayRun": state.may_run,
        "kind": state.kind.as_str(),
        "reason": state.reason,
        "tier": state.tier,
        "features": state.features,
        "until": state.until,
        "daysLeft": state.days_left,
        "clockWentBack": state.clock_went_back,
    })
}
