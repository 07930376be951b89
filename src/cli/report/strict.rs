//! The judge that the command line asks for, with its rules.

use crate::cli::args::Strictness;
use crate::cli::exit::Failure;
use crate::replay::judge::{Judge, Options};
use crate::replay::rewrite::Rewrites;
use crate::replay::rules::{Rules, sidecar};
use crate::text::{escape, plural};
use crate::words::sentence;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Longer files of rules are refused: the one beside a recording may come from a stranger.
const MAX_RULES_FILE: u64 = 1 << 20;

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
        strict_logs: strictness.strict_logs,
        fail_on: strictness.fail_on,
        rewrites,
    };
    Ok(Judging {
        judge: Judge::new(rules, options),
        files,
    })
}

/// The rules of the files `named` and of the one beside `recording`; and where they are from.
pub fn rules(named: &[PathBuf], recording: &Path) -> Result<(Rules, Vec<String>), Failure> {
    let mut rules = Rules::default();
    let mut files = Vec::new();
    let beside = sidecar(recording);
    let named = named.iter().map(|path| &**path);
    for path in named.chain(beside.is_file().then_some(&*beside)) {
        let before = rules.len();
        add(&mut rules, path)?;
        let name = path.display().to_string();
        let count = plural((rules.len() - before) as u64, "rule");
        files.push(format!("{count} of {}", escape(&name)));
    }
    Ok((rules, files))
}

fn add(rules: &mut Rules, path: &Path) -> Result<(), Failure> {
    let text = read(path).map_err(|error| {
        let path = path.display().to_string();
        let why = escape(&error.to_string()).into_owned();
        Failure::Usage(format!("the rules {} cannot be read: {why}", escape(&path)))
    })?;
    rules.add(&text, path).map_err(|problems| {
        let mut told: Vec<_> = problems
            .iter()
            .take(MOST_PROBLEMS)
            .map(|problem| escape(&sentence(problem)).into_owned())
            .collect();
        if problems.len() > MOST_PROBLEMS {
            let more = problems.len() - MOST_PROBLEMS;
            told.push(format!("and {}", plural(more as u64, "more problem")));
        }
        Failure::Usage(told.join("\nmcpreel: "))
    })
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = File::open(path)?;
    file.take(MAX_RULES_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_RULES_FILE {
        return Err(io::Error::other("it is too long for a file of rules"));
    }
    Ok(text)
}
