//! A server that takes a known time to answer, and says how long it took by its own clock.

#![expect(
    clippy::disallowed_methods,
    reason = "it measures what the program is to have measured"
)]

use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Runs the mode, if it is one of these.
pub fn run(mode: &str, arguments: &[String]) -> Option<ExitCode> {
    match (mode, arguments) {
        ("sleeper", []) => Some(ExitCode::from(u8::from(sleeper().is_err()))),
        _ => None,
    }
}

/// Answers `sleep {ms}` after that time with `{"slept_ns"}`, calls at the same time among each
/// other; a call of `drawl` in two pieces, the same time between them. Everything else is answered
/// at once.
fn sleeper() -> io::Result<()> {
    let out = Arc::new(Mutex::new(io::stdout()));
    let mut calls = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let read = Instant::now();
        let call: serde_json::Value = serde_json::from_str(&line)?;
        let time = Duration::from_millis(call["params"]["ms"].as_u64().unwrap_or(0));
        let out = Arc::clone(&out);
        let answer = move || {
            let drawls = call["method"] == "drawl";
            if !drawls && !time.is_zero() {
                thread::sleep(time);
            }
            let mut out = out.lock().expect("no thread panics");
            let slept = u64::try_from(read.elapsed().as_nanos()).expect("it is a short time");
            let answer = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"slept_ns\":{slept}}}}}\n",
                call["id"]
            );
            let (first, rest) = answer.split_at(10);
            out.write_all(first.as_bytes())?;
            if drawls {
                out.flush()?;
                thread::sleep(time);
            }
            out.write_all(rest.as_bytes())?;
            out.flush()
        };
        if time.is_zero() {
            answer()?;
        } else {
            calls.push(thread::spawn(answer));
        }
    }
    calls
        .into_iter()
        .try_for_each(|call| call.join().expect("no thread panics"))
}
