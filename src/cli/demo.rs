//! `mcpreel demo`, and the two processes that it starts.

use super::exit::{Exit, Failure, Outcome};
use super::folder::Folder;
use super::listen::{self, Listen};
use super::open::Appearance;
use super::tail;
use super::{folder, open, output};
use crate::demo::{Pace, host, server};
use anyhow::Context as _;
use clap::Args;
use mcpreel_share::phrases;
use mcpreel_store::follow::INTERVAL;
use mcpreel_store::library::{Entry, Library, Standing, create_dir};
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_wire::text::escape_bytes;
use nix::unistd::{AccessFlags, access};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

/// Server and recorder have this long to leave after the host, nanoseconds: the server may be in
/// the middle of something.
const LEAVING: Moment = Moment(5_000_000_000);

/// Record a built-in host and server, and show them live
///
/// Some 13 seconds of traffic worth looking at, through the real recorder. Needs nothing else.
/// On a terminal the viewer shows it, and quitting ends it; elsewhere it is printed like `tail`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel demo
  mcpreel demo --http            requests, event streams and heads instead of pipes
  mcpreel demo | cat             as lines")]
pub struct Demo {
    #[command(flatten)]
    folder: Folder,
    #[command(flatten)]
    appearance: Appearance,
    /// The same over HTTP: the server has a URL, and the recorder stands in front of it
    #[arg(long)]
    http: bool,
    /// How many times faster than normal
    #[arg(long, value_name = "N", default_value_t = 1, hide = true)]
    speed: u32,
}

/// The server of the demo
#[derive(Debug, Args)]
pub struct DemoServer {
    #[command(flatten)]
    listen: Listen,
    /// How many times faster than normal
    #[arg(long, default_value_t = 1)]
    speed: u32,
}

/// The host of the demo
#[derive(Debug, Args)]
pub struct DemoHost {
    /// How many times faster than normal
    #[arg(long, default_value_t = 1)]
    speed: u32,
    /// The server's command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// The built-in server, on this process's own pipes.
pub fn server(args: &DemoServer) -> Outcome {
    if let Some(at) = args.listen.listen {
        return args.listen.serve(
            at,
            listen::PATH,
            "the demo's server",
            listen::own_arguments(),
        );
    }
    let pace = Pace::new(args.speed);
    server::run(io::stdin().lock(), io::stdout(), io::stderr(), pace)?;
    Ok(Exit::Fine)
}

/// The built-in host.
pub fn host(args: &DemoHost) -> Outcome {
    let ended = host::run(&args.command, Pace::new(args.speed));
    // That the server has closed a pipe is no reader of ours that has gone.
    ended.map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(Exit::Fine)
}

/// Records a session of the two, and shows it live: in the viewer, or without a terminal as lines.
pub fn run(args: &Demo) -> Outcome {
    let viewer = open::is_terminal().then(|| open::options(&args.folder, &args.appearance));
    let viewer = viewer.transpose()?;
    let command = if viewer.is_some() { "open" } else { "show" };
    let library = match &viewer {
        Some(options) => options.library.clone(),
        None => Library::new(folder::of(&args.folder)?),
    };
    let dir = library.dir();
    check(dir)?;
    // Nobody else may write on the viewer's screen.
    let mut errors = tempfile::tempfile()?;
    let server = args
        .http
        .then(|| HttpServer::start(args.speed))
        .transpose()?;
    let url = server.as_ref().map(|server| &*server.url);
    let mut host = start(dir, args.speed, url, errors.try_clone()?)?;
    let mut exit = Exit::Fine;
    let shown = recording_of(&mut host, dir).and_then(|path| {
        match viewer {
            Some(mut options) => {
                options.open = Some(path.clone());
                exit = open::show(options)?;
            }
            None => tail::follow(&path, &library, None, false)?,
        }
        Ok(path)
    });
    // Who quits the viewer early ends the demo: the pipes close, which ends the recorder and the
    // server as any host's leaving does.
    let quit_early = command == "open" && host.try_wait()?.is_none();
    if quit_early {
        let _ = host.kill();
    }
    let ended = host.wait()?;
    errors.rewind()?;
    for line in BufReader::new(errors).split(b'\n').map_while(Result::ok) {
        output::raw_diagnostic(&format!("{}\n", escape_bytes(&line)));
    }
    let path = shown?;
    if !quit_early && !ended.success() {
        return Err(anyhow::anyhow!("the demo's host ended with {ended}").into());
    }
    let clock = Clock::start();
    while Entry::read(&path).standing == Standing::Live && clock.now() < LEAVING {
        thread::sleep(INTERVAL);
    }
    let id = Entry::read(&path).id;
    let dir = args.folder.dir.as_deref().map_or_else(String::new, |dir| {
        let dir = dir.to_string_lossy().into_owned();
        format!(" --dir {}", phrases::command(&[dir]))
    });
    output::say(&format!(
        "the recording is {id}; `mcpreel {command} {id}{dir}` shows it again"
    ));
    Ok(exit)
}

/// Whether the recording can be made there: a demo that is not recorded shows nothing.
fn check(dir: &Path) -> Result<(), Failure> {
    let writable = create_dir(dir)
        .and_then(|()| access(dir, AccessFlags::W_OK | AccessFlags::X_OK).map_err(io::Error::from));
    Ok(writable.with_context(|| {
        let dir = output::shown(dir);
        format!("the folder {dir} cannot be written (--dir names another)")
    })?)
}

/// The demo's server behind a URL. It ends with the demo.
struct HttpServer {
    process: Child,
    url: String,
}

impl HttpServer {
    fn start(speed: u32) -> Result<Self, Failure> {
        let mut command = Command::new(this_program()?);
        command.args([
            "demo-server",
            "--speed",
            &speed.to_string(),
            "--listen",
            "0",
        ]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let process = command.stderr(Stdio::piped()).spawn();
        let mut process = process.context("cannot start the demo's server")?;
        let mut said = String::new();
        if let Some(stderr) = process.stderr.take() {
            BufReader::new(stderr).read_line(&mut said)?;
        }
        let url = said.split(' ').find(|word| word.starts_with("http://"));
        let url = url.map(str::to_owned);
        let mut server = Self {
            process,
            url: String::new(),
        };
        server.url = url.with_context(|| format!("the demo's server does not listen: {said}"))?;
        Ok(server)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn this_program() -> Result<PathBuf, Failure> {
    Ok(std::env::current_exe().context("cannot find this program's own file")?)
}

/// `demo-host … -- run … -- demo-server …`, all of them this program; with a URL `demo-host … -- proxy
/// --stdio URL …`.
fn start(dir: &Path, speed: u32, url: Option<&str>, stderr: File) -> Result<Child, Failure> {
    let program = this_program()?;
    let speed = speed.to_string();
    let mut command = Command::new(&program);
    command.args(["demo-host", "--speed", &speed, "--"]);
    command.arg(&program);
    match url {
        Some(url) => command.args(["proxy", "--stdio", url, "--origin", "demo"]),
        None => command.args(["run", "--demo"]),
    };
    command.args(["--name", "weather-server", "--dir"]).arg(dir);
    if url.is_none() {
        command.arg("--").arg(&program);
        command.args(["demo-server", "--speed", &speed]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let child = command.stderr(stderr).spawn();
    Ok(child.context("cannot start the demo's host")?)
}

/// The live recording of `host` in the folder `dir`; others may begin at the same time.
fn recording_of(host: &mut Child, dir: &Path) -> Result<PathBuf, Failure> {
    loop {
        let gone = host.try_wait()?.is_some();
        let is_of_host = |reel: &PathBuf| {
            let entry = Entry::read(reel);
            let context = entry.context();
            context.is_some_and(|context| context.host.pid == host.id())
        };
        if let Some(reel) = tail::begun(dir).into_iter().find(is_of_host) {
            return Ok(reel);
        }
        if gone {
            let reason = "the demo ran, but was not recorded; see the reason above";
            return Err(anyhow::anyhow!(reason).into());
        }
        thread::sleep(INTERVAL);
    }
}
