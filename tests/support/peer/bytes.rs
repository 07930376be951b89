//! Peers that move bytes and do not look at them.

use std::process::ExitCode;

/// Runs the mode, if it is one of these.
pub fn run(mode: &str, _arguments: &[String]) -> Option<ExitCode> {
    match mode {
        "cat" => Some(cat()),
        _ => None,
    }
}

/// Sends back what it gets, until the end of file.
fn cat() -> ExitCode {
    let copied = std::io::copy(&mut std::io::stdin(), &mut std::io::stdout());
    ExitCode::from(u8::from(copied.is_err()))
}
