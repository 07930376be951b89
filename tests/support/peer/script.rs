//! A server that does what its arguments say, one after the other.
//!
//! | step | what it does |
//! |---|---|
//! | `< text` | waits for a line of its input with this text in it; lines that came before count, each once |
//! | `> what` | says a line; `told.rs` has the short forms |
//! | `err text` | writes a line to stderr |
//! | `exit 3`, `raise SIGSEGV` | ends |
//! | `close stdout`, `close stdin` | closes that |
//! | `ignore SIGTERM` | from now on |
//! | `sleep` | reads nothing more, and does not end |
//!
//! After the last step it reads to the end of its input and ends with 0. Where it waits for a line
//! that does not come it says so on stderr and ends with 9.

use super::told;
use nix::sys::signal::{SigHandler, Signal, raise, signal};
use std::collections::VecDeque;
use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;
use std::str::FromStr as _;
use std::thread;

/// Runs the mode, if it is one of these.
pub fn run(mode: &str, arguments: &[String]) -> Option<ExitCode> {
    if mode != "script" {
        return None;
    }
    let mut server = Server::default();
    let ended = arguments.iter().find_map(|step| server.step(step));
    Some(ended.unwrap_or_else(|| server.read_to_end()))
}

/// What came and was not waited for yet.
#[derive(Default)]
struct Server {
    lines: VecDeque<String>,
    deaf: bool,
}

impl Server {
    fn step(&mut self, step: &str) -> Option<ExitCode> {
        let (verb, what) = step.split_once(' ').unwrap_or((step, ""));
        match verb {
            "<" => return self.wait_for(what),
            ">" => {
                let mut out = io::stdout();
                let said = out.write_all(&told::bytes(what)).and_then(|()| out.flush());
                // Nobody listens any more.
                return said.is_err().then_some(ExitCode::from(8));
            }
            "err" => eprintln!("{what}"),
            "exit" => return Some(ExitCode::from(what.parse::<u8>().expect("a code"))),
            "raise" => {
                let which = Signal::from_str(what).expect("a signal");
                // The runtime of Rust looks at some of them first.
                handle(which, SigHandler::SigDfl);
                raise(which).expect("it may");
            }
            "close" => self.close(what),
            "ignore" => handle(
                Signal::from_str(what).expect("a signal"),
                SigHandler::SigIgn,
            ),
            "sleep" => sleep(),
            _ => panic!("no step {step}"),
        }
        None
    }

    fn wait_for(&mut self, text: &str) -> Option<ExitCode> {
        if let Some(at) = self.lines.iter().position(|line| line.contains(text)) {
            self.lines.remove(at);
            return None;
        }
        let mut line = String::new();
        loop {
            line.clear();
            match io::stdin().lock().read_line(&mut line) {
                Ok(1..) if line.contains(text) => return None,
                Ok(1..) => self.lines.push_back(line.clone()),
                _ => {
                    eprintln!("script: waited for {text} and got {:?}", self.lines);
                    return Some(ExitCode::from(9));
                }
            }
        }
    }

    fn close(&mut self, which: &str) {
        let nothing = std::fs::File::open("/dev/null").expect("it is there");
        match which {
            "stdout" => nix::unistd::dup2_stdout(&nothing).expect("it may"),
            "stdin" => {
                self.deaf = true;
                nix::unistd::dup2_stdin(&nothing).expect("it may");
            }
            _ => panic!("no stream {which}"),
        }
    }

    fn read_to_end(&self) -> ExitCode {
        if self.deaf {
            sleep();
        }
        let read = io::copy(&mut io::stdin().lock(), &mut io::sink());
        ExitCode::from(u8::from(read.is_err()))
    }
}

fn sleep() -> ! {
    loop {
        thread::park();
    }
}

#[expect(unsafe_code, reason = "there is no other way to ignore a signal")]
fn handle(which: Signal, how: SigHandler) {
    // SAFETY: neither the default nor to ignore runs code of ours.
    unsafe { signal(which, how) }.expect("it may be handled");
}
