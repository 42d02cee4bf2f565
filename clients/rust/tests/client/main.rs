//! The tests of the client, without a network.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

// The source of the crate, because some tests are about parts that are not public.
#[allow(dead_code, unused_imports, clippy::module_inception)]
#[path = "../../src/lib.rs"]
mod latchkey;

mod calls;
mod events;
mod faults;
#[cfg(unix)]
mod files;
mod join;
mod machine;
mod schedule;
mod speed;
mod support;
mod threads;
mod time;
mod vectors;
