//! A command of ours that is a stdio server, served over HTTP: a process of it for each session.

use super::exit::{Exit, Failure, Outcome};
use super::output;
use clap::Args;
use mcpreel_bridge::to_stdio::Sessions;
use mcpreel_capture::net::{Signals, is_loopback};
use mcpreel_capture::process::signals::ignored_but_ctrl_c;
use mcpreel_wire::text::escape;
use std::ffi::OsString;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::process::ExitCode;
use std::rc::Rc;
use tokio::net::TcpListener;
use tokio::task::LocalSet;

/// The path of most servers.
pub const PATH: &str = "/mcp";

/// Where to listen.
#[derive(Debug, Default, Args)]
pub struct Listen {
    /// Serve over streamable HTTP at this address or port, for example 127.0.0.1:8000
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    pub listen: Option<SocketAddr>,
    /// Allow an address that other machines can reach
    #[arg(long, requires = "listen")]
    pub expose: bool,
}

impl Listen {
    /// Serves sessions at `at`, under `path`, each by a process of this program with `arguments`. Ends with
    /// the worst of their exit codes.
    pub fn serve(
        &self,
        at: SocketAddr,
        path: &str,
        what: &str,
        arguments: Vec<OsString>,
    ) -> Outcome {
        check(Some(at), self.expose)?;
        let mut command = vec![std::env::current_exe()?.into()];
        command.extend(arguments);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let code = LocalSet::new().block_on(&runtime, async {
            let listener = TcpListener::bind(at).await.map_err(|error| {
                anyhow::anyhow!(
                    "cannot listen at {at}: {error}; another port, or 0 for any, may be free"
                )
            })?;
            let mut signals = Signals::catch(ignored_but_ctrl_c())?;
            let url = format!("http://{}{path}", listener.local_addr()?);
            output::say(&format!(
                "{what}: put {} into your host (Ctrl-C ends it)",
                escape(&url)
            ));
            let say = Rc::new(output::say);
            let sessions = Sessions::new(command, path.to_owned(), is_loopback(at.ip()), say);
            tokio::select! {
                () = sessions.serve(listener) => {}
                () = signals.arrived() => {}
            }
            anyhow::Ok(sessions.end().await)
        })?;
        let code = u8::try_from(code).unwrap_or(1);
        Ok(Exit::Process(ExitCode::from(code)))
    }
}

/// Refuses an address that other machines can reach, unless that is said to be meant.
pub fn check(at: Option<SocketAddr>, expose: bool) -> Result<(), Failure> {
    match at.filter(|at| !is_loopback(at.ip()) && !expose) {
        Some(at) => Err(Failure::Usage(format!(
            "other machines can reach {at} and the server behind it; --expose allows that"
        ))),
        None => Ok(()),
    }
}

/// The arguments that we have, but for those about listening.
pub fn own_arguments() -> Vec<OsString> {
    without_listening(std::env::args_os().skip(1))
}

fn without_listening(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let (mut kept, mut is_value) = (Vec::new(), false);
    for word in words {
        let text = word.to_string_lossy();
        let is_ours = text == "--listen" || text == "--expose" || text.starts_with("--listen=");
        if !is_value && !is_ours {
            kept.push(word.clone());
        }
        is_value = !is_value && text == "--listen";
    }
    kept
}

/// Reads an address with its port, or a port of this machine.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let text = match text.parse::<u16>() {
        Ok(port) => format!("127.0.0.1:{port}"),
        Err(_) => text.to_owned(),
    };
    let found = text
        .to_socket_addrs()
        .ok()
        .and_then(|mut found| found.next());
    found
        .ok_or_else(|| "an address and a port, for example 127.0.0.1:8000 or [::1]:8000".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_a_session_says_nothing_of_listening() {
        let words = [
            "mock",
            "--listen",
            "8000",
            "a.reel",
            "--expose",
            "--listen=1",
            "--once",
        ];
        let kept = without_listening(words.into_iter().map(OsString::from));
        assert_eq!(kept, ["mock", "a.reel", "--once"]);
    }
}
