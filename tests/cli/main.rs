//! The commands, as the real program.
//!
//! * [`cli_help`]: what the program says about itself, and its exit codes;
//! * [`documents`]: what the README and the help say is so;
//! * [`typed`]: each command of the README and the pages, run;
//! * [`cli_rows`]: the objects of `--json`, and what people see of the same recording;
//! * [`copy`]: `export --format recording`: a copy in one plain file;
//! * [`cli_export`]: `cli_export`, and cassettes in place of recordings;
//! * [`formats`]: `cli_export` for reading and for other people's programs;
//! * [`cli_import`]: cassettes and logs of other programs become recordings;
//! * [`cli_report`]: all that a bug report needs, in a folder or one file;
//! * [`filter`]: `-q` and `search`: which rows, and where a text stands;
//! * [`cli_why`]: the causes of sessions that really went wrong, ten of them told in `wrong.toml`;
//! * [`cli_hosts`]: hosts, and what is started by their configurations;
//! * [`cli_live`]: `tail` and `demo`, while something is recorded;
//! * [`lint`]: what is wrong, for people and for machines;
//! * [`folder`]: which folder is looked in, what `ls`, `prune` and `reindex` do with it;
//! * [`hostile`]: nothing off the wire reaches a terminal.

#[path = "../support/mod.rs"]
mod support;

mod cli_export;
mod cli_help;
mod cli_hosts;
mod cli_import;
mod cli_live;
mod cli_report;
mod cli_rows;
mod cli_why;
mod copy;
mod documents;
mod filter;
mod folder;
mod formats;
mod hostile;
mod import_logs;
mod lint;
mod typed;

use std::io::Write as _;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use support::{Library, MCPREEL};

/// Pauses of the demo are divided by this.
const SPEED: &str = "40";

/// A session that goes on, of which one frame is on record: the recorder, the server's input, and
/// the path of the recording. The frame comes after the file was created, which must not be copied
/// half done.
fn live_with_a_frame(library: &Library) -> (Child, ChildStdin, String) {
    let run = library.run_sh("cat > /dev/null").spawn();
    let mut run = run.expect("mcpreel starts");
    let mut stdin = run.stdin.take().expect("it is a pipe");
    writeln!(stdin, "{{\"n\":1}}").expect("it reads");
    let live = support::wait_for("a frame is listed", || {
        let listed = library.json(&["ls"]);
        let live = listed.first()?;
        let path = live["path"]
            .as_str()
            .filter(|_| live["frames"].as_u64() > Some(0));
        path.map(str::to_owned)
    });
    (run, stdin, live)
}

/// A folder with a recorded demo.
fn demo() -> Library {
    demo_at(SPEED)
}

/// The same at another speed: where the order of answers matters, pauses must be longer than what
/// a busy machine adds to them.
fn demo_at(speed: &str) -> Library {
    let library = Library::new();
    let host = demo_host(&library, speed)
        .output()
        .expect("the host starts");
    assert!(host.status.success(), "{}", support::text(&host));
    // On a busy machine a part of it may still be in the spool; whoever reads it adds that.
    library.json(&["show", "@"]);
    library
}

/// The scripted host, its server behind the recorder.
fn demo_host(library: &Library, speed: &str) -> Command {
    let mut host = library.mcpreel("demo-host");
    host.args([
        "--speed",
        speed,
        "--",
        MCPREEL,
        "run",
        "--demo",
        "--name",
        "weather-server",
    ])
    .args(["--", MCPREEL, "demo-server", "--speed", speed])
    .stdin(Stdio::null());
    host
}

/// `mcpreel ARGS…` on a folder, without a terminal.
fn mcpreel(library: &Library, args: &[&str]) -> Output {
    let mut command = library.mcpreel(args[0]);
    command.args(&args[1..]).stdin(Stdio::null());
    command.output().expect("mcpreel starts")
}

/// What a command that must succeed prints.
fn stdout(library: &Library, args: &[&str]) -> String {
    let output = mcpreel(library, args);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        support::text(&output)
    );
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// What a command says on stderr, and its exit code.
fn refusal(library: &Library, args: &[&str]) -> (Option<i32>, String) {
    let output = mcpreel(library, args);
    let said = String::from_utf8(output.stderr).expect("the output is UTF-8");
    (output.status.code(), said)
}

/// A command ends with this exit code and says why on stderr.
fn refused(library: &Library, args: &[&str], code: i32, why: &str) {
    let (exit, said) = refusal(library, args);
    assert_eq!(exit, Some(code), "{args:?}: {said}");
    assert!(said.contains(why), "{args:?}: {said}");
}

/// The path of a sample recording.
fn sample(name: &str) -> String {
    format!("{}/recordings/{name}.reel", env!("CARGO_MANIFEST_DIR"))
}
