//! `mcpreel demo`, and the two processes that it starts.

use super::args::{Demo, DemoHost, DemoServer};
use super::exit::{Exit, Failure, Outcome};
use super::tail::{self, Newcomers};
use super::{folder, output};
use crate::demo::{Pace, host, server};
use crate::store::library::{Entry, Library, create_dir};
use crate::store::tail::INTERVAL;
use crate::text::escape;
use anyhow::Context as _;
use nix::unistd::{AccessFlags, access};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

/// The built-in server, on this process's own pipes.
pub fn server(args: &DemoServer) -> Outcome {
    let pace = Pace::new(args.speed);
    server::run(io::stdin().lock(), io::stdout(), io::stderr(), pace)?;
    Ok(Exit::Fine)
}

/// The built-in host.
pub fn host(args: &DemoHost) -> Outcome {
    host::run(&args.command, Pace::new(args.speed), io::stderr()).map_err(anyhow::Error::from)?;
    Ok(Exit::Fine)
}

/// Records a session of the two, and shows it live.
pub fn run(args: &Demo) -> Outcome {
    let library = Library::new(folder::of(&args.folder)?);
    check(library.dir())?;
    let newcomers = Newcomers::since_now(library.dir());
    let mut host = start(library.dir(), args.speed)?;
    let recording = recording_of(&mut host, newcomers)?;
    let followed = tail::follow(&recording, &library, false);
    let ended = host.wait()?;
    followed?;
    if !ended.success() {
        return Err(anyhow::anyhow!("the demo's host ended with {ended}").into());
    }
    let id = Entry::read(&recording).id;
    output::say(&format!(
        "the recording is {id}; `mcpreel show {id}` shows it again"
    ));
    Ok(Exit::Fine)
}

/// Whether the recording can be made there: a demo that is not recorded shows nothing.
fn check(dir: &Path) -> Result<(), Failure> {
    let writable = create_dir(dir)
        .and_then(|()| access(dir, AccessFlags::W_OK | AccessFlags::X_OK).map_err(io::Error::from));
    writable.map_err(|error| {
        let dir = dir.display().to_string();
        let dir = escape(&dir);
        let message = format!("the folder {dir} cannot be written: {error}; --dir names another");
        Failure::Refused(anyhow::anyhow!(message))
    })
}

/// `demo-host … -- run … -- demo-server …`, all of them this program.
fn start(dir: &Path, speed: u32) -> Result<Child, Failure> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let speed = speed.to_string();
    let child = Command::new(&program)
        .args(["demo-host", "--speed", &speed, "--"])
        .arg(&program)
        .args(["run", "--demo", "--name", "weather-server", "--dir"])
        .arg(dir)
        .arg("--")
        .arg(&program)
        .args(["demo-server", "--speed", &speed])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .context("cannot start the demo's host")?;
    Ok(child)
}

/// The recording that `host` has made; others may begin at the same time.
fn recording_of(host: &mut Child, mut newcomers: Newcomers) -> Result<PathBuf, Failure> {
    loop {
        let gone = host.try_wait()?.is_some();
        for reel in newcomers.by_ref() {
            let entry = Entry::read(&reel);
            if entry
                .context()
                .is_some_and(|context| context.host.pid == host.id())
            {
                return Ok(reel);
            }
        }
        if gone {
            let reason = "the demo ran, but was not recorded; the reason stands above";
            return Err(anyhow::anyhow!(reason).into());
        }
        thread::sleep(INTERVAL);
    }
}
