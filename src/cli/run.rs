//! `mcpreel run`: the recorder, in a host's pipe.
//!
//! Nothing here may keep the server from starting: whatever is wrong with the configuration is
//! put on record, and the session goes on.

use super::args::Run;
use super::folder::Settings;
use super::quantity;
use mcpreel_store::record;
use std::process::ExitCode;

/// Records the session; ends as the server did.
pub fn run(args: Run) -> ExitCode {
    let settings = Settings::read();
    let mut faults: Vec<String> = settings.faults().collect();
    let max_size = args
        .max_size
        .or_else(|| configured_max_size(&settings, &mut faults));
    let slow_ns = configured_slow(&settings, &mut faults);
    record::end_as(record::run(&record::Options {
        command: args.command,
        name: args.name.and_then(|name| usable(name, &mut faults)),
        dir: settings.recordings_dir(&args.folder),
        cwd: None,
        origin: if args.demo { "demo" } else { "live" },
        parent: None,
        played: None,
        read_only_tools: Vec::new(),
        max_size,
        slow_ns,
        remarks: faults,
    }))
}

/// The name, if a selector can ever mean it; the command's is taken instead.
fn usable(name: String, faults: &mut Vec<String>) -> Option<String> {
    let why = match name.as_str() {
        "" => "it is empty",
        name if name.starts_with('@') => "it begins with @",
        name if name.contains(['#', ':']) => "it has # or : in it",
        _ => return Some(name),
    };
    faults.push(format!(
        "--name {name:?} is not used, because {why}: the recording has the command's name"
    ));
    None
}

/// `max-size` of the configuration; `none` sets no limit.
pub(super) fn configured_max_size(settings: &Settings, faults: &mut Vec<String>) -> Option<u64> {
    let setting = settings.config().max_size.as_ref()?;
    if setting.text == "none" {
        return None;
    }
    quantity::size(&setting.text)
        .map_err(|message| faults.push(format!("{}: max-size: {message}", setting.at)))
        .ok()
}

/// `slow` of the configuration, in nanoseconds.
pub(super) fn configured_slow(settings: &Settings, faults: &mut Vec<String>) -> Option<u64> {
    let setting = settings.config().slow.as_ref()?;
    quantity::nanoseconds(&setting.text)
        .map_err(|message| faults.push(format!("{}: slow: {message}", setting.at)))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_selector_could_mean_is_a_remark() {
        for name in ["", "@", "@2", "a#1", "a:1"] {
            let mut faults = Vec::new();
            assert_eq!(usable(name.to_owned(), &mut faults), None, "{name}");
            assert_eq!(faults.len(), 1, "{name}");
        }
        let mut faults = Vec::new();
        let name = usable("a b@c".to_owned(), &mut faults);
        assert_eq!((name.as_deref(), faults.len()), (Some("a b@c"), 0));
    }
}
