//! `mcpreel run`: the recorder, in a host's pipe.
//!
//! Nothing here may keep the server from starting: whatever is wrong with the configuration is
//! put on record, and the session goes on.

use super::args::Run;
use super::folder::Settings;
use super::quantity;
use crate::record;
use std::process::ExitCode;

/// Records the session; ends as the server did.
pub fn run(args: Run) -> ExitCode {
    let settings = Settings::read();
    let mut faults: Vec<String> = settings.faults().collect();
    let max_size = args
        .max_size
        .or_else(|| configured_max_size(&settings, &mut faults));
    record::end_as(record::run(&record::Options {
        command: args.command,
        name: args.name,
        dir: settings.recordings_dir(&args.folder),
        origin: if args.demo { "demo" } else { "live" },
        max_size,
        remarks: faults,
    }))
}

/// `max-size` of the configuration; `none` sets no limit.
fn configured_max_size(settings: &Settings, faults: &mut Vec<String>) -> Option<u64> {
    let setting = settings.config().max_size.as_ref()?;
    if setting.text == "none" {
        return None;
    }
    quantity::size(&setting.text)
        .map_err(|message| faults.push(format!("{}: max-size: {message}", setting.at)))
        .ok()
}
