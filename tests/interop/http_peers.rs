//! Servers and clients over HTTP, and the recorder between them.
//!
//! A server is named with a mode, and so is a client: `python1:sse`. All servers but `everything` and
//! `conformance` have the same tools, and all clients do the same with them (`clients/http_plan.py`).

use crate::packages::Packages;
use crate::support::proxy::later_upstream;
use crate::support::{self, Library};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// A program that ends with this value.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Starts a server on a port.
pub fn server(name: &str, port: u16) -> Running {
    let (kind, mode) = name.split_once(':').expect("a server has a mode");
    let port_said = port.to_string();
    let mut command = match kind {
        "everything" => {
            let script = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
            let mut command = node(&Packages::get().folder().join(script).to_string_lossy());
            command.arg(mode).env("PORT", &port_said);
            command
        }
        "v2" => node(&script("servers/http_v2.cjs")),
        "rmcp" => rust("rmcp-http-server"),
        "conformance" => python("python", "servers/conformance.py"),
        "fastmcp" => python("python", "servers/http_fastmcp.py"),
        environment => python(environment, "servers/http_python.py"),
    };
    if kind != "everything" {
        command.args([&port_said, mode]);
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let running = Running(command.spawn().expect("the server starts"));
    support::wait_for("the server listens", || {
        TcpStream::connect(("127.0.0.1", port)).ok()
    });
    running
}

/// A port on which a server can listen.
pub fn free_port() -> u16 {
    later_upstream().0.port()
}

fn script(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop");
    folder.join(name).display().to_string()
}

fn node(script: &str) -> Command {
    let mut command = Command::new("node");
    command
        .arg(script)
        .env("PACKAGES", Packages::get().folder());
    command
}

fn python(environment: &str, name: &str) -> Command {
    let folder = Packages::get().folder().join(environment);
    let mut command = Command::new(folder.join("bin/python"));
    command.args(["-Wignore", &script(name)]);
    command
}

fn rust(mode: &str) -> Command {
    let mut command = Command::new(support::peer());
    command.arg(mode);
    command
}

/// What a client prints, and its log.
pub fn converse(client: &str, url: &str, dir: &Path) -> (String, Vec<Value>) {
    let (kind, mode) = client.split_once(':').expect("a client has a mode");
    let mut command = match kind {
        "python" => python("python", "clients/http_python.py"),
        "python1" => python("python1", "clients/http_python1.py"),
        "fastmcp" => python("python", "clients/http_fastmcp.py"),
        "rmcp" => rust("rmcp-http-client"),
        version => node(&script(&format!("clients/http_{version}.cjs"))),
    };
    let log = dir.join("log");
    let output = command.arg(url).arg(&log).arg(mode).output();
    let output = output.expect("the client starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("\"closed\""),
        "{client}: {said} {}",
        support::text(&output)
    );
    let log = std::fs::read_to_string(log).expect("it keeps a log");
    let log = log
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"));
    (said, log.collect())
}

/// The recorder before the server at `url`, and its own URL.
pub fn proxy(url: &str, library: &Library) -> (Running, String) {
    listening(library, &["proxy", url])
}

/// A command of ours that serves at a free port, and its URL.
pub fn listening(library: &Library, words: &[&str]) -> (Running, String) {
    let mut command = library.mcpreel(words[0]);
    command
        .args(&words[1..])
        .args(["--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut line = String::new();
    let stderr = child.stderr.take().expect("it is piped");
    BufReader::new(stderr)
        .read_line(&mut line)
        .expect("it says its URL");
    let url = line
        .split(": put ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let url = url.unwrap_or_else(|| panic!("{line}")).to_owned();
    (Running(child), url)
}

impl Running {
    /// Ends it as Ctrl-C does.
    pub fn interrupt(mut self) -> ExitStatus {
        support::send(Signal::SIGINT, self.0.id());
        self.0.wait().expect("the child is ours")
    }
}
