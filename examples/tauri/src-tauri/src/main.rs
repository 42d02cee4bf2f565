//! A program with a window and a license.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use latchkey_client::{Options, PublicKey};
use license::License;
use serde_json::Value;
use tauri::{App, Emitter, Manager, State, WindowEvent};

/// What your program compiles in.
fn options(app: &App) -> Result<Options, Box<dyn std::error::Error>> {
    Ok(Options {
        service: "http://127.0.0.1:8080".into(),
        issuer: "http://127.0.0.1:8080".into(),
        products: vec!["personal".into(), "sellers".into()],
        public_keys: PublicKey::list("[]")?, // include_str!("jwks.json") of your service
        folder: app.path().app_local_data_dir()?,
        app_version: app.package_info().version.to_string(),
        ..Options::default()
    })
}

fn open(app: &mut App) -> Result<(), Box<dyn std::error::Error>> {
    let windows = app.handle().clone();
    let license = License::open(options(app)?, move |event: &str, payload: Value| {
        if let Err(error) = windows.emit(event, payload) {
            eprintln!("could not show the license: {error}");
        }
    })?;
    license.keep_checking();
    app.manage(license);
    Ok(())
}

#[tauri::command]
fn state(license: State<'_, License>) -> Value {
    license.state()
}

// Calls that ask the service run on other threads than that of the window.
#[tauri::command(async)]
fn activate(license: State<'_, License>, key: String) -> Value {
    license.activate(&key)
}

#[tauri::command(async)]
fn start_trial(license: State<'_, License>) -> Value {
    license.start_trial()
}

#[tauri::command(async)]
fn check(license: State<'_, License>) -> Value {
    license.check()
}

#[tauri::command(async)]
fn machines(license: State<'_, License>) -> Value {
    license.machines()
}

#[tauri::command(async)]
fn move_here(license: State<'_, License>, activation_id: String) -> Value {
    license.move_here(&activation_id)
}

#[tauri::command(async)]
fn deactivate(license: State<'_, License>) -> Value {
    license.deactivate()
}

#[tauri::command(async)]
fn after_purchase(license: State<'_, License>, transaction_id: String) -> Value {
    license.after_purchase(&transaction_id)
}

#[tauri::command]
fn explain(license: State<'_, License>) -> String {
    license.explain()
}

fn main() -> tauri::Result<()> {
    tauri::Builder::default()
        .setup(open)
        .invoke_handler(tauri::generate_handler![
            state,
            activate,
            start_trial,
            check,
            machines,
            move_here,
            deactivate,
            after_purchase,
            explain
        ])
        .on_window_event(|window, event| match event {
            WindowEvent::Focused(true) => window.state::<License>().notice_focus(),
            WindowEvent::Destroyed => window.state::<License>().close(),
            _ => {}
        })
        .run(tauri::generate_context!())
}
