//! How the command ends with real servers, and what it says: `cases/*.toml`.
//!
//! ```toml
//! about = "what these runs promise"
//! record = [[0, "c2s", "request 1 a"], [1, "s2c", "result 1"]]   # milliseconds, stream, what
//! ended = "exit 9"                 # how the recorded server ended; without it well
//! script = ['< "id":1']            # how the script of the server begins in each run
//! rules = "…"                      # NAME.rules.toml beside the recording
//! files = { "mine.toml" = "…" }    # files in the folder in which the command is started
//! runs = [
//!   { options = ["--only", "method:a"], env = { TOKEN = "x" }, script = ['> result 1'], exit = 0,
//!     says = ["part of stdout"], warns = ["part of stderr"], quiet = true },   # nothing on stderr
//! ]
//! made = 1                         # recordings that were made in all
//! ```

use crate::files;
use crate::process::{Case, Replayed};
use crate::told;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    about: String,
    record: Vec<(u64, String, String)>,
    ended: Option<String>,
    #[serde(default)]
    script: Vec<String>,
    rules: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    runs: Vec<Run>,
    made: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    script: Vec<String>,
    exit: i32,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    warns: Vec<String>,
    #[serde(default)]
    quiet: bool,
}

#[test]
fn every_case_ends_as_told() {
    // Some wait for a time limit of a user's: beside each other they wait once.
    std::thread::scope(|scope| {
        for path in files::files("tests/replay/cases") {
            scope.spawn(move || play(&files::read(&path)));
        }
    });
}

fn play(cases: &Cases) {
    let rows = cases.record.iter();
    let rows: Vec<_> = rows
        .map(|(t, stream, what)| (*t, &**stream, &**what))
        .collect();
    let case = Case::ended(
        &rows,
        &told::event(cases.ended.as_deref().unwrap_or("exit 0")),
    );
    for (name, text) in &cases.files {
        std::fs::write(case.library.path().join(name), text).unwrap();
    }
    if let Some(rules) = &cases.rules {
        std::fs::write(case.recording.with_extension("rules.toml"), rules).unwrap();
    }
    for (nth, run) in cases.runs.iter().enumerate() {
        let options: Vec<_> = run.options.iter().map(String::as_str).collect();
        let script = cases.script.iter().chain(&run.script);
        let script: Vec<_> = script.map(String::as_str).collect();
        let mut command = case.command(&options, &script);
        command.envs(&run.env).current_dir(case.library.path());
        let replayed = Replayed::of(&command.output().unwrap());
        let about = &cases.about;
        assert_eq!(
            replayed.code,
            Some(run.exit),
            "{about}, run {nth}: {replayed:#?}"
        );
        for (said, parts) in [(&replayed.out, &run.says), (&replayed.err, &run.warns)] {
            let missing = parts.iter().find(|part| !said.contains(part.as_str()));
            assert_eq!(missing, None, "{about}, run {nth}: {replayed:#?}");
        }
        assert!(
            !run.quiet || replayed.err.is_empty(),
            "{about}, run {nth}: {replayed:#?}"
        );
    }
    // On a busy machine a recording is made of its journal a moment later.
    crate::support::wait_for(&cases.about, || {
        let made = case.library.recordings().len() - 1;
        (made == cases.made.unwrap_or(made)).then_some(())
    });
}
