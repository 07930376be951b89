//! `mcpreel run`: the recorder, in a host's pipe.
//!
//! Nothing here may keep the server from starting: whatever is wrong with the configuration is
//! said, and the session goes on.

use super::args::Run;
use super::folder::Settings;
use super::{output, quantity};
use std::process::ExitCode;

/// Records the session; ends as the server did.
pub fn run(args: Run) -> ExitCode {
    let settings = Settings::read();
    let mut faults: Vec<String> = settings.faults().collect();
    let max_size = args
        .max_size
        .or_else(|| configured_max_size(&settings, &mut faults));
    for fault in &faults {
        output::say(fault);
    }
    let dir = settings.recordings_dir(&args.folder);
    let _ = (args.command, args.name, dir, max_size, args.demo);
    ExitCode::from(125)
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
