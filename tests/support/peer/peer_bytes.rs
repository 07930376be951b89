//! Peers that move bytes and do not look at them.

use crate::pattern;
use crate::pieces::Pieces;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::thread;

/// Runs the mode, if it is one of these.
pub fn run(mode: &str, arguments: &[String]) -> Option<ExitCode> {
    let done = match (mode, arguments) {
        ("cat", []) => io::copy(&mut io::stdin(), &mut io::stdout()).map(drop),
        ("pieces", [dir]) => pieces(Path::new(dir)),
        ("long-line", [size]) => long_line(size.parse().expect("a size is a number")),
        _ => return None,
    };
    Some(ExitCode::from(u8::from(done.is_err())))
}

/// Writes the pieces `s2c` and `stderr` of the folder, and what it reads into `got` there. Ends
/// when both are written and the input has ended.
fn pieces(dir: &Path) -> io::Result<()> {
    let (s2c, stderr) = (
        Pieces::load(&dir.join("s2c"))?,
        Pieces::load(&dir.join("stderr"))?,
    );
    let s2c = thread::spawn(move || s2c.write_to(Unbuffered(&io::stdout())));
    let stderr = thread::spawn(move || stderr.write_to(io::stderr()));
    let mut got = File::create(dir.join("got"))?;
    let mut buffer = [0; 8192];
    loop {
        match io::stdin().read(&mut buffer)? {
            0 => break,
            n => got.write_all(&buffer[..n])?,
        }
    }
    for writer in [s2c, stderr] {
        writer.join().expect("a writer does not panic")?;
    }
    Ok(())
}

/// Reads a line of that size and says whether it was right, then writes one, and waits for the end
/// of its input.
fn long_line(size: usize) -> io::Result<()> {
    let right = pattern::is_read_from(io::stdin().take(size as u64), size)?;
    eprintln!("{right}");
    pattern::write(Unbuffered(&io::stdout()), size)?;
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop)
}

/// Standard output as it is: the library's own cuts at newlines.
pub struct Unbuffered<'a>(pub &'a io::Stdout);

impl Write for Unbuffered<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(nix::unistd::write(self.0, bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
