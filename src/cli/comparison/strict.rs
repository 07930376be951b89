//! The judge that the command line asks for, with its rules.

use crate::cli::args::Strictness;
use crate::cli::exit::Failure;
use mcpreel_replay::judge::{Judge, Options};
use mcpreel_replay::rewrite::Rewrites;
use mcpreel_replay::rules::Rules;
use mcpreel_replay::rules::files::{self, FileError};
use mcpreel_share::phrases::sentence;
use mcpreel_wire::text::{escape, plural};
use std::path::{Path, PathBuf};

/// What is wrong with a file of rules is told so often; more does not help.
const MOST_PROBLEMS: usize = 20;

/// A judge, and where its rules are from.
pub struct Judging {
    /// The judge.
    pub judge: Judge,
    /// The files of its rules, each with how many it has, escaped.
    pub files: Vec<String>,
}

/// The judge of what is compared with `recording`. A bad file of rules is a mistake of whoever
/// asked.
pub fn judge(
    strictness: &Strictness,
    rewrites: Rewrites,
    recording: &Path,
) -> Result<Judging, Failure> {
    let (rules, files) = rules(&strictness.rules, recording)?;
    let options = Options {
        latency_budget: strictness.latency_budget,
        exact_numbers: strictness.exact_numbers,
        fail_on: strictness.fail_on,
        rewrites,
        pairs: Vec::new(),
    };
    Ok(Judging {
        judge: Judge::new(rules, options),
        files,
    })
}

/// The rules of the files `named` and of the one beside `recording`; and where they are from.
pub fn rules(named: &[PathBuf], recording: &Path) -> Result<(Rules, Vec<String>), Failure> {
    let (rules, files) = files::read(named, recording).map_err(|error| refusal(&error))?;
    let files = files.iter().map(|file| {
        let name = file.path.display().to_string();
        let count = plural(file.rules as u64, "rule");
        format!("{count} of {}", escape(&name))
    });
    Ok((rules, files.collect()))
}

fn refusal(error: &FileError) -> Failure {
    let FileError::Wrong { problems } = error else {
        return Failure::Usage(sentence(error));
    };
    let mut told: Vec<_> = problems
        .iter()
        .take(MOST_PROBLEMS)
        .map(|problem| sentence(problem))
        .collect();
    if problems.len() > MOST_PROBLEMS {
        let more = problems.len() - MOST_PROBLEMS;
        told.push(format!("and {}", plural(more as u64, "more problem")));
    }
    Failure::Usage(told.join("\nmcpreel: "))
}
