//! What is said of two sessions: `cases/*.toml`.
//!
//! ```toml
//! about = "what these cases promise"
//! left = 'call weather {} {"a":1}'      # what every case has unless it says otherwise
//! [[cases]]
//! right = 'call weather {} {"a":2}'     # lines as for `Story::told`
//! args = ["--fail-on", "breaking"]
//! rules = "…"                           # NAME.rules.toml beside the left recording
//! says = ["changed result.a"]           # how each thing that is said begins; no noise
//! noise = true                          # some noise was counted
//! exit = 0                              # without it 1 where something but an addition is said
//! verdict = ["part of a sentence"]      # somewhere in the rows
//! alone = [4]                           # the exchanges at these frames, compared alone, are the same
//! swapped = true                        # the same holds the other way round
//! ```

use super::made::Story;
use super::{LEFT, RIGHT, code, compare, diff, text};
use crate::files;
use crate::support::Library;
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    about: String,
    #[serde(flatten)]
    all: Case,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    left: Option<String>,
    right: Option<String>,
    rules: Option<String>,
    says: Option<Vec<String>>,
    exit: Option<i32>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    verdict: Vec<String>,
    #[serde(default)]
    alone: Vec<u64>,
    #[serde(default)]
    noise: bool,
    #[serde(default)]
    swapped: bool,
}

#[test]
fn every_case_is_said_as_told() {
    for path in files::files("tests/replay/diff/cases") {
        let cases: File = files::read(&path);
        for (nth, case) in cases.cases.iter().enumerate() {
            let side = |own: &Option<String>, common: &Option<String>| {
                Story::told(own.as_ref().or(common.as_ref()).unwrap())
            };
            let about = format!("{}, case {nth}", cases.about);
            let left = side(&case.left, &cases.all.left);
            let right = side(&case.right, &cases.all.right);
            check(&about, case, &cases.all, [&left, &right]);
            if case.swapped {
                check(&about, case, &cases.all, [&right, &left]);
            }
        }
    }
}

fn check(about: &str, case: &Case, all: &Case, [left, right]: [&Story; 2]) {
    let library = Library::new();
    let reel = left.record(&library, LEFT);
    right.record(&library, RIGHT);
    if let Some(rules) = case.rules.as_ref().or(all.rules.as_ref()) {
        std::fs::write(reel.with_extension("rules.toml"), rules).unwrap();
    }
    let args: Vec<_> = case.args.iter().map(String::as_str).collect();
    let found = compare(&library, &args);
    let said = found.said();
    if let Some(expected) = case.says.as_ref().or(all.says.as_ref()) {
        let begins = |(said, part): (&String, &String)| said.starts_with(part.as_str());
        let is_all = said.len() == expected.len() && said.iter().zip(expected).all(begins);
        assert!(is_all, "{about}: {said:#?}");
    }
    let fails = said.iter().any(|line| !line.starts_with("added"));
    let exit = case.exit.or(all.exit).unwrap_or(i32::from(fails));
    assert_eq!(found.code, exit, "{about}: {said:#?}");
    assert_eq!(found.summary()["exit_code"], exit, "{about}");
    assert!(!case.noise || found.count("noise") > 0, "{about}");
    let told: String = found.rows.iter().map(ToString::to_string).collect();
    let missing = case
        .verdict
        .iter()
        .find(|part| !told.contains(part.as_str()));
    assert_eq!(missing, None, "{about}: {told}");
    for frame in &case.alone {
        let both = [format!("7f3a#{frame}"), format!("c04d#{frame}")];
        let output = diff(&library, &[&both[0], &both[1]]);
        assert_eq!(code(&output), 0, "{about}: {}", text(&output.stdout));
    }
}
