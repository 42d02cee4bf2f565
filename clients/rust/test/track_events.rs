//! Tracks and sends events until it is killed, and prints each event that is kept.
//! Arguments: the URL of the service, the folder, the key set, and the number of the run.
use std::thread;
use std::time::Duration;

use latchkey_client::{Fingerprint, Latchkey, Options, PublicKey};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [service, folder, keys, run] = arguments.as_slice() else { return Err("four arguments are required".into()) };
    let latchkey = Latchkey::open(Options {
        service: service.clone(),
        issuer: "https://license.example.com".into(),
        products: vec!["personal".into()],
        public_keys: PublicKey::list(keys)?,
        folder: folder.into(),
        app_version: "2.4.0".into(),
        machine: Some(Fingerprint::from_iter([("machine_id".to_owned(), "killed".into())])),
        ..Options::default()
    })?;
    latchkey.set_sharing(true)?;
    if run == "flush" {
        println!("{:?}", latchkey.flush()?);
        return Ok(());
    }
    for count in 0.. {
        let name = format!("{run}.{count}");
        latchkey.track("tracked", &[("name", &name)]);
        println!("{name}");
        if count % 5 == 0 {
            let latchkey = latchkey.clone();
            thread::spawn(move || latchkey.flush());
        }
        thread::sleep(Duration::from_millis(count % 2));
    }
    Ok(())
}
