//! A server under load that keeps what it got in a file, for tests that kill what is in between.

use crate::dice::Dice;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::thread;

/// Runs the mode, if it is one of these.
pub fn run(mode: &str, arguments: &[String]) -> Option<ExitCode> {
    let done = match (mode, arguments) {
        ("chatter", [dir]) => chatter(Path::new(dir)),
        _ => return None,
    };
    Some(ExitCode::from(u8::from(done.is_err())))
}

/// Standard output; a line of one thread is not torn by another.
type Out = Arc<Mutex<io::Stdout>>;

/// Answers every request, sends notifications, requests and free text without end, nearly all in
/// pieces. What it reads is in the file `got` of the folder before anything else happens; the file
/// is locked for as long as it lives.
fn chatter(dir: &Path) -> io::Result<()> {
    let got = File::create(dir.join("got"))?;
    let got = Flock::lock(got, FlockArg::LockExclusive).map_err(|(_, error)| error)?;
    let out: Out = Arc::new(Mutex::new(io::stdout()));
    let news = Arc::clone(&out);
    thread::spawn(move || notify(&news));
    thread::spawn(murmur);
    let mut dice = Dice(1);
    for line in BufReader::new(Kept {
        source: io::stdin(),
        got,
    })
    .lines()
    {
        if let Some(id) = id_of(&line?) {
            let length = dice.length_below(2000);
            let text = "r".repeat(length);
            send(
                &out,
                &mut dice,
                &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"text":"{text}"}}}}"#),
            )?;
        }
    }
    Ok(())
}

/// The id of a request as it stands there.
fn id_of(line: &str) -> Option<&str> {
    let id = line.split_once(r#""id":"#)?.1;
    id.split_once(r#","method""#).map(|(id, _)| id)
}

/// Progress and requests the other way, numbered from 1.
fn notify(out: &Out) {
    let mut dice = Dice(2);
    for n in 1_u64.. {
        let line = if n % 7 == 0 {
            format!(
                r#"{{"jsonrpc":"2.0","id":"s{n}","method":"sampling/createMessage","params":{{"n":{n}}}}}"#
            )
        } else {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":{n}}}}}"#
            )
        };
        if send(out, &mut dice, &line).is_err() {
            return;
        }
    }
}

/// Free text, numbered from 1.
fn murmur() {
    let mut dice = Dice(3);
    for n in 1_u64.. {
        let line = format!(
            "line {n} of stderr, {}\n",
            "e".repeat(dice.length_below(120))
        );
        if in_pieces(io::stderr(), &mut dice, line.as_bytes()).is_err() {
            return;
        }
    }
}

fn send(out: &Out, dice: &mut Dice, line: &str) -> io::Result<()> {
    let out = out.lock().expect("no thread panics");
    in_pieces(
        super::peer_bytes::Unbuffered(&out),
        dice,
        format!("{line}\n").as_bytes(),
    )
}

/// Writes a line at once, or in two pieces with everything else in between.
fn in_pieces(mut sink: impl Write, dice: &mut Dice, line: &[u8]) -> io::Result<()> {
    let at = dice.length_below(line.len());
    sink.write_all(&line[..at])?;
    thread::yield_now();
    sink.write_all(&line[at..])
}

/// A source that keeps what was read.
struct Kept<R> {
    source: R,
    got: Flock<File>,
}

impl<R: Read> Read for Kept<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buffer)?;
        self.got.write_all(&buffer[..n])?;
        Ok(n)
    }
}
