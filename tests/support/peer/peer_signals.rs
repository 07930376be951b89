//! A server that catches signals.
//!
//! * `signals`: says `ready`, then the name of every signal that it catches, until its stdin ends;
//! * `signals once`: ends with code 42 at the first, after the time that a server takes to tidy up.

use nix::sys::signal::Signal;
use signal_hook::iterator::Signals;
use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::Duration;

/// Those that a recorder handles.
const CAUGHT: [Signal; 6] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

const TIDYING_UP: Duration = Duration::from_millis(20);

/// Runs the mode, if it is one of these.
pub fn run(mode: &str, arguments: &[String]) -> Option<ExitCode> {
    (mode == "signals").then(|| signals(arguments.first().is_some_and(|word| word == "once")))
}

fn signals(once: bool) -> ExitCode {
    let mut signals = Signals::new(CAUGHT.map(|signal| signal as i32)).expect("they can be caught");
    let handle = signals.handle();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        handle.close();
    });
    say("ready");
    for signal in signals.forever() {
        say(Signal::try_from(signal).map_or("?", Signal::as_str));
        if once {
            std::thread::sleep(TIDYING_UP);
            return ExitCode::from(42);
        }
    }
    ExitCode::SUCCESS
}

fn say(line: &str) {
    let mut out = std::io::stdout();
    // A host that has gone is no reason to panic.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
