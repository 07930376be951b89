//! `mcpreel lint`: what is wrong in recordings, by rule.
//!
//! ```text
//! 7f3a weather-server: 2 errors, 1 note
//!
//! error    frame-not-json: a line is not JSON (2)
//!      #1  byte 0: expected a value: [INFO] listening
//!      #9  byte 0: expected a value: [INFO] request
//!          fix: write logs to stderr …
//! ```
//!
//! [`reports`] has what was found in a recording, and the formats.

mod reports;

use super::cassette::is_one as is_cassette;
use super::exit::{Exit, Failure, Outcome};
use super::folder::Folder;
use super::output::{Ink, Output};
use super::quantity::choice;
use super::{ci_reports, folder, output, quantity, rows, select};
use clap::{Args, ValueEnum};
use mcpreel_config::Config;
use mcpreel_lint::rule::{in_brackets, milder, revisions};
use mcpreel_lint::{Rule, Severity, catalogue, families};
use mcpreel_store::library::Library;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::text::{pad_end, width};
use reports::Checked;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Check recordings against rules of the protocol and of its practice
///
/// The rules know every revision of the protocol, and what servers and clients do in the wild. They
/// were applied when the recording was made; nothing is sent anywhere.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel lint                          the newest recording
  mcpreel lint 7f3a --fail-on warning
  mcpreel lint recordings/ --format junit > lint.xml
  mcpreel lint @ --allow frame-crlf --json | jq -r .rule | sort | uniq -c
  mcpreel lint --explain tool-args-invalid

Exit code: 0 nothing as bad as --fail-on says, 1 something is, 2 wrong arguments,
3 a recording that cannot be read.")]
pub struct Lint {
    /// Paths, @, @2, ids or their first four digits or more, or names; or folders of recordings
    /// and cassettes
    #[arg(value_name = "RECORDING", default_value = "@")]
    recordings: Vec<OsString>,
    #[command(flatten)]
    folder: Folder,
    /// One JSON object per finding and line; with --list and --explain per rule
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Exit with 1 from this severity on
    #[arg(long, value_name = "LEVEL", default_value = "error", value_parser = choice(&LEVELS))]
    fail_on: Level,
    /// Ignore findings of this rule (also `allow` in the configuration)
    #[arg(long, value_name = "RULE", value_parser = rule)]
    allow: Vec<String>,
    /// Say what a rule means, why it matters and what to do
    #[arg(long, value_name = "RULE", value_parser = rule)]
    #[arg(conflicts_with_all = ["recordings", "list"])]
    explain: Option<String>,
    /// List all rules
    #[arg(long, conflicts_with = "recordings")]
    list: bool,
}

/// The formats of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: by rule, the worst first
    Text,
    /// For code scanning: SARIF 2.1.0
    Sarif,
    /// For test reports: a suite per recording, a case per rule
    Junit,
    /// For GitHub Actions: annotations
    Github,
}

/// From which severity on something fails; `None`: nothing does.
type Level = Option<Severity>;

const LEVELS: [(&str, &str, Level); 4] = [
    (
        "error",
        "Something breaks the protocol",
        Some(Severity::Error),
    ),
    (
        "warning",
        "Something is very likely a mistake",
        Some(Severity::Warning),
    ),
    ("note", "Something is worth knowing", Some(Severity::Note)),
    ("never", "Nothing fails", None),
];

impl Format {
    /// The number of findings of one rule in one recording to show. In SARIF one rule leaves room for
    /// the others.
    fn limit(self) -> u32 {
        match self {
            Self::Text => 5,
            Self::Sarif => 100,
            Self::Junit => 20,
            Self::Github => 1,
        }
    }
}

/// The id of a rule, or what is wrong with `text`.
fn rule(text: &str) -> Result<String, String> {
    let known: Vec<_> = catalogue().iter().map(|rule| rule.id).collect();
    quantity::rule(text, &known, "mcpreel lint --list")
}

impl Lint {
    /// Looks at the recordings that are meant, or says what the rules are.
    pub fn run(&self) -> Outcome {
        if let Some(id) = &self.explain {
            return explain(id, self.json);
        }
        if self.list {
            return list(self.json);
        }
        let settings = folder::Settings::read();
        let library = Library::new(folder::of(&self.folder)?);
        let entries = library.list()?;
        let allowed = self.allowed(settings.config());
        let (mut all, mut exit) = (Vec::new(), Exit::Fine);
        let mut out = Output::stdout();
        for path in self.paths(&library)? {
            let recording = select::recording(&path, &library);
            let looked_at = recording.and_then(|recording| {
                let checked = Checked::new(&recording, &entries, &allowed, self.format.limit())?;
                if self.json {
                    checked.json(&recording, &mut out)?;
                } else if self.format == Format::Text {
                    if !all.is_empty() {
                        out.line("")?;
                    }
                    checked.text(&mut out)?;
                }
                all.push(checked);
                Ok(())
            });
            if let Err(failure) = looked_at {
                exit = failure.skipped("not looked at")?;
            }
        }
        match self.format {
            Format::Text => {}
            Format::Sarif => out.json(&reports::sarif(&all))?,
            Format::Junit => {
                let suites = all.iter().map(|one| one.suite(self.fail_on));
                ci_reports::junit("mcpreel lint", &suites.collect::<Vec<_>>(), &mut out)?;
            }
            Format::Github => {
                let annotations: Vec<_> = all.iter().flat_map(Checked::annotations).collect();
                ci_reports::github("finding", &annotations, 0, &mut out)?;
            }
        }
        out.flush()?;
        let mut groups = all.iter().flat_map(|checked| &checked.groups);
        let has_failed = groups.any(|group| group.fails(self.fail_on));
        Ok(match exit {
            Exit::Fine if has_failed => Exit::Found,
            exit => exit,
        })
    }

    /// The rules whose findings are passed over. Whatever the configuration names and is no rule is
    /// a warning: a rule of a later version must not keep this one from working.
    fn allowed(&self, config: &Config) -> BTreeSet<String> {
        let mut allowed: BTreeSet<_> = self.allow.iter().cloned().collect();
        for setting in config.all("lint.allow") {
            if let Err(fault) = rule(&setting.text) {
                output::say(&format!("{}: {fault}", setting.at));
            }
            allowed.insert(setting.text.clone());
        }
        allowed
    }

    /// The recordings that are meant; of a folder all that are in it, the newest first, then its cassettes.
    fn paths(&self, library: &Library) -> Result<Vec<PathBuf>, Failure> {
        let mut paths = Vec::new();
        for text in &self.recordings {
            let path = Path::new(text);
            if !path.is_dir() {
                paths.push(select::find(text, library)?.path);
                continue;
            }
            let recordings = Library::new(path).list()?.into_iter();
            let mut inside: Vec<_> = recordings.map(|entry| entry.path).collect();
            let files = path.read_dir().into_iter().flatten().flatten();
            let cassettes = files.map(|file| file.path()).filter(|it| is_cassette(it));
            inside.extend(cassettes.collect::<BTreeSet<_>>());
            if inside.is_empty() {
                output::say(&format!("no recordings in {}", output::shown(path)));
            }
            paths.extend(inside);
        }
        Ok(paths)
    }
}

/// A rule as JSON.
fn object(family: &str, rule: &Rule) -> Value {
    let milder = milder(rule).into_iter();
    let milder =
        milder.map(|(severity, place)| json!({"severity": severity.as_str(), "where": place}));
    json!({
        "rule": rule.id,
        "family": family,
        "severity": rule.severity.as_str(),
        "milder": milder.collect::<Vec<_>>(),
        "revisions": rule.revisions.iter().map(Revision::as_str).collect::<Vec<_>>(),
        "summary": rule.summary,
        "why": rule.why,
        "fix": rule.fix,
        "section": rule.reference().map(|(title, _)| title),
        "url": rule.reference().map(|(_, url)| url),
    })
}

/// Prints every rule.
fn list(json: bool) -> Outcome {
    let mut out = Output::stdout();
    let ids = catalogue().iter().map(|rule| width(rule.id));
    let widest = ids.max().unwrap_or(0);
    for family in families() {
        if json {
            let mut rules = family.rules.iter();
            rules.try_for_each(|rule| out.json(&object(family.name, rule)))?;
            continue;
        }
        out.inked(Ink::Strong, family.name)?;
        for rule in &family.rules {
            let severity = rows::severity(rule.severity.as_str(), &out);
            let id = pad_end(rule.id, widest);
            let milder = out.paint(Ink::Faint, &in_brackets(rule, str::to_owned));
            out.line(&format!("  {severity}  {id}  {}{milder}", rule.summary))?;
        }
        out.line("")?;
    }
    out.flush()?;
    Ok(Exit::Fine)
}

/// Prints what a rule means.
fn explain(id: &str, json: bool) -> Outcome {
    let mut out = Output::stdout();
    let mut families = families().iter();
    let of_family = families.find_map(|family| {
        let rule = family.rules.iter().find(|rule| rule.id == id)?;
        Some((family.name, rule))
    });
    if let Some((family, rule)) = of_family.filter(|_| json) {
        out.json(&object(family, rule))?;
    } else if let Some((_, rule)) = of_family {
        let (severity, milder) = (rule.severity.as_str(), in_brackets(rule, str::to_owned));
        let (revisions, summary) = (revisions(rule.revisions), rule.summary);
        out.inked(Ink::Strong, id)?;
        out.line(&format!("  {severity}{milder}, {revisions}: {summary}\n"))?;
        out.line(&format!("  why      {}\n  fix      {}", rule.why, rule.fix))?;
        if let Some((title, url)) = rule.reference() {
            out.line(&format!("  section  {title}  {url}"))?;
        }
    }
    out.flush()?;
    Ok(Exit::Fine)
}
