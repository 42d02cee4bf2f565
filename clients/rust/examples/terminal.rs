//! A program with a license: `cargo run --example terminal help` lists what it does.
use std::env;
use std::error::Error;
use std::path::PathBuf;

use latchkey_client::{Failure, Kind, Latchkey, Options, Outcome, State, Trigger};

fn main() -> Result<(), Box<dyn Error>> {
    let variable = |name: &str, default: &str| env::var(name).unwrap_or_else(|_| default.to_owned());
    let service = variable("LICENSE_SERVICE", "http://127.0.0.1:8080");
    let home = PathBuf::from(variable("HOME", &variable("USERPROFILE", ".")));
    let latchkey = Latchkey::open(Options {
        issuer: variable("LICENSE_ISSUER", &service),
        service,
        products: vec!["personal".into(), "sellers".into()],
        public_keys: Vec::new(), // compile in PublicKey::list(include_str!("jwks.json"))? of your service
        folder: env::var_os("LICENSE_FOLDER").map_or_else(|| home.join(".example-program"), PathBuf::from),
        app_version: "1.0.0".into(),
        on_problem: Box::new(|problem| eprintln!("{}: {}", problem.code, problem.message)),
        ..Options::default()
    })?;
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (command, argument) = match arguments.as_slice() {
        [] => ("state", ""),
        [command] => (command.as_str(), ""),
        [command, argument, ..] => (command.as_str(), argument.as_str()),
    };
    match command {
        "state" => println!("{}", describe(&latchkey.state())),
        "activate" => report(&latchkey, &latchkey.activate(argument)),
        "trial" => report(&latchkey, &latchkey.start_trial()),
        "check" => report(&latchkey, &latchkey.check(Trigger::Manual)),
        "machines" => list_machines(&latchkey),
        "move" => report(&latchkey, &latchkey.move_here(argument)),
        "deactivate" => report(&latchkey, &latchkey.deactivate()),
        "explain" => print!("{}", latchkey.explain()),
        _ => println!("Commands: state, activate KEY, trial, check, machines, move ID, deactivate, explain, help"),
    }
    latchkey.close();
    Ok(())
}

fn describe(state: &State) -> String {
    let days = state.days_left.unwrap_or_default();
    match (state.kind, state.reason.as_deref().unwrap_or_default()) {
        (Kind::Licensed, _) => {
            let tier = state.tier.as_deref().unwrap_or_default();
            format!("Licensed: {tier}. Runs without a network for {days} days.")
        }
        (Kind::Trial, _) => format!("Trial: {days} days left."),
        (_, "not_activated") => "No license yet: activate KEY, or trial.".to_owned(),
        (_, reason) => format!("May not run: {reason}."),
    }
}

fn report(latchkey: &Latchkey, result: &Outcome) {
    match result {
        Ok(()) => println!("{}", describe(&latchkey.state())),
        Err(Failure::NoAnswer { cause, .. }) => println!("No answer of the service: {cause}."),
        Err(failure) => println!("Refused: {}.", failure.code()),
    }
}

fn list_machines(latchkey: &Latchkey) {
    match latchkey.machines() {
        Err(failure) => report(latchkey, &Err(failure)),
        Ok(machines) => machines.iter().for_each(|machine| {
            let status = if machine.is_active { "active" } else { "free" };
            let this = if machine.is_this { "  (this one)" } else { "" };
            println!("{}  {status}{this}", machine.activation_id);
        }),
    }
}
