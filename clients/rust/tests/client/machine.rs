//! The identity of machines, from recorded outputs.
use std::cell::RefCell;

use serde_json::{Value, json};

use crate::latchkey::kept::{choose_machine, kept_machine};
use crate::latchkey::rules::read_board_serial;
use crate::latchkey::system::read_machine_of;
use crate::support::{Folder, open, open_with};

const REG: &str = include_str!("../../../typescript/test/fixtures/reg.txt");
const REG_FORBIDDEN: &str = include_str!("../../../typescript/test/fixtures/reg-forbidden.txt");
const REG_MISSING: &str = include_str!("../../../typescript/test/fixtures/reg-missing-de.txt");
const IOREG: &str = include_str!("../../../typescript/test/fixtures/ioreg.txt");

/// Reads a machine whose programs print a text, and returns what was run.
fn read_with(system: &str, printed: &str) -> (Value, Vec<String>) {
    let ran = RefCell::new(Vec::new());
    let machine = read_machine_of(system, &|_| String::new(), &|program, args| {
        *ran.borrow_mut() = [&[program], args].concat().iter().map(ToString::to_string).collect();
        printed.to_owned()
    });
    (json!(machine), ran.into_inner())
}

#[test]
fn windows_is_read_by_reg_exe_with_its_full_path() {
    let (machine, ran) = read_with("windows", REG);
    assert_eq!(machine, json!({ "machine_id": "6f0a1b2c-3d4e-4f60-8182-93a4b5c6d7e8" }));
    assert!(ran[0].ends_with(r"\System32\reg.exe") && ran[0].contains(":\\"), "{ran:?}");
    assert_eq!(ran.last().unwrap(), "/reg:64");
    assert_eq!(read_with("windows", REG_FORBIDDEN).0, Value::Null);
    assert_eq!(read_with("windows", REG_MISSING).0, Value::Null);
}

#[test]
fn macos_is_read_by_ioreg() {
    let (machine, ran) = read_with("macos", IOREG);
    assert_eq!(machine, json!({ "machine_id": "E2A6F3B1-7C4D-5E8F-9A0B-1C2D3E4F5A6B" }));
    assert_eq!(ran[0], "/usr/sbin/ioreg");
    assert_eq!(read_with("macos", "").0, Value::Null);
}

#[test]
fn linux_is_read_from_files_with_the_serial_number_of_the_board() {
    let id = "0f3c9a7d5b1e4f2688c4d0a1b2e3f405";
    let read = |dbus: &'static str, serial: &'static str| {
        let read = move |path: &str| match path {
            "/var/lib/dbus/machine-id" => dbus.to_owned(),
            "/sys/class/dmi/id/board_serial" => serial.to_owned(),
            _ => "uninitialized\n".to_owned(),
        };
        json!(read_machine_of("linux", &read, &|_, _| panic!("no program is needed")))
    };
    assert_eq!(
        read("0f3c9a7d5b1e4f2688c4d0a1b2e3f405\n", "CN7016355A\n"),
        json!({ "machine_id": id, "board_serial": "CN7016355A" })
    );
    assert_eq!(read("0f3c9a7d5b1e4f2688c4d0a1b2e3f405\n", "Default string\n"), json!({ "machine_id": id }));
    assert_eq!(read("", "CN7016355A\n"), Value::Null);
}

#[test]
fn what_vendors_write_instead_of_a_number_is_none() {
    for placeholder in
        ["", "  \n", "0", "000", "xxx", "-", " . ", "None", "N/A", "To Be Filled By O.E.M.", "Not Specified"]
    {
        assert_eq!(read_board_serial(placeholder), None, "{placeholder:?}");
    }
    assert_eq!(read_board_serial(" 0x1 \n").as_deref(), Some("0x1"));
}

#[test]
fn the_last_good_reading_is_kept_and_a_random_one_stays_while_it_is_used() {
    let machine = |id: &str| kept_machine(&json!({ "machine": { "machine_id": id } })).cloned().unwrap();
    let kept = |id: &str, key: Value| json!({ "machine": { "machine_id": id }, "key": key });
    let choose = |kept: Value, reading| json!(choose_machine(&kept, reading, "uuid"))["machine_id"].clone();
    assert_eq!(choose(json!({}), None), "generated-uuid");
    assert_eq!(choose(json!({}), Some(machine("new"))), "new");
    assert_eq!(choose(kept("old", json!("LK")), None), "old");
    assert_eq!(choose(kept("old", json!("LK")), Some(machine("new"))), "new");
    assert_eq!(choose(kept("generated-1", json!("LK")), Some(machine("new"))), "generated-1");
    assert_eq!(choose(kept("generated-1", Value::Null), Some(machine("new"))), "new");
}

#[test]
fn the_identity_of_this_system_is_kept_and_survives() {
    let folder = Folder::new();
    drop(open_with(&folder, |options| options.machine = None));
    let first = folder.kept()["machine"].clone();
    let world = open_with(&folder, |options| options.machine = None);
    // It is read again by the first call.
    assert_eq!(world.client.machines().unwrap_err().code(), "not_activated");
    assert_eq!(folder.kept()["machine"], first);
    assert_eq!(open(&folder).client.state().reason.as_deref(), Some("not_activated"));
}
