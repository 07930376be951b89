//! The result of a comparison in every form: of two recordings, or of a replay with what it replays.
//!
//! ```text
//!  Report ─ verdict ─┬─ text       for people
//!                    └─ comparison_reports  for programs, test reports, annotations; without secrets
//! ```
//!
//! Texts in a [`Report`] are escaped already; what comes from elsewhere is escaped here.

mod comparison_reports;
mod comparison_text;

use super::exit::Failure;
use super::folder::Folder;
use super::output::{Output, shown};
use super::redact::Secrets;
use super::{folder, quantity, redact, select};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use mcpreel_redact::{Learner, Place};
use mcpreel_replay::diff::{Budget, Class, Judge, Options, Outcome, Report, Threshold};
use mcpreel_replay::rewrite::Rewrites;
use mcpreel_replay::rules::{Rules, files};
use mcpreel_share::phrases;
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::{Library, short_id};
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{escape, plural, size};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What counts as a difference, and from where on it is a failure.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What counts")]
pub struct Strictness {
    /// A file of rules about values that may differ; NAME.rules.toml beside the left recording is
    /// read as well
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// How long an answer may take: 500ms, or 2x for twice as long as on the left
    #[arg(long, hide_short_help = true, value_name = "TIME", value_parser = budget)]
    pub latency_budget: Option<Budget>,
    /// Numbers are equal only if written alike: 1 and 1.0 differ
    #[arg(long, hide_short_help = true)]
    pub exact_numbers: bool,
    /// Exit with 1 from this class of difference on
    #[arg(long, value_name = "CLASS", default_value = "changed", value_parser = threshold())]
    pub fail_on: Threshold,
}

/// As what a report is written.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "How it is written")]
pub struct Form {
    /// Output format
    #[arg(long, hide_short_help = true, default_value = "text")]
    pub format: ReportFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// What a report is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people: the verdict first, then what the server offers, then call by call
    #[default]
    Text,
    /// For programs: one JSON object per difference and line, a summary first
    Json,
    /// For test reports: a case per method and tool
    Junit,
    /// For GitHub Actions: annotations
    Github,
}

impl Form {
    /// The format that is asked for.
    pub fn format(self) -> ReportFormat {
        if self.json {
            ReportFormat::Json
        } else {
            self.format
        }
    }
}

/// A class, or `never`.
fn threshold() -> impl TypedValueParser<Value = Threshold> {
    let mut all = Class::ALL.map(Class::as_str).to_vec();
    all.push("never");
    let class = |word: String| Threshold::parse(&word).expect("it is one of the words");
    PossibleValuesParser::new(all).map(class)
}

/// `500ms`, or `2x`.
fn budget(text: &str) -> Result<Budget, String> {
    let Some(times) = text.strip_suffix(['x', '×']) else {
        let nanos = quantity::nanoseconds(text).map(Budget::Absolute);
        return nanos.map_err(|_| {
            format!("`{text}` is not a budget; for example 500ms, or 2x for twice as long")
        });
    };
    let times = times.parse::<f64>().ok();
    let usable = times.filter(|times| times.is_finite() && *times >= 1.0);
    usable
        .map(Budget::Times)
        .ok_or_else(|| format!("`{text}` is not a budget; the least is 1x, as long as on the left"))
}

/// `OLD=NEW`.
pub fn rewrite(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(old, _)| !old.is_empty());
    let (old, new) = parts.ok_or_else(|| {
        format!("`{text}` rewrites nothing; for example /home/ada/work=/tmp/copy")
    })?;
    Ok((old.to_owned(), new.to_owned()))
}

/// A comparison that is done.
#[derive(Clone, Copy)]
pub struct Compared<'r> {
    pub report: &'r Report,
    /// The two sides, the reference first.
    pub parties: &'r [Party; 2],
    /// The files of rules that were used, escaped.
    pub rules: &'r [String],
    /// The command, as reports for machines call it: `mcpreel diff`.
    pub command: &'r str,
    /// Whether somebody stopped it: what was not reached is not known.
    pub is_cut_short: bool,
}

/// Writes what came of a comparison.
pub fn write(compared: &Compared<'_>, format: ReportFormat) -> Result<(), Failure> {
    let mut out = Output::stdout();
    if format == ReportFormat::Text {
        comparison_text::write(compared, &mut out)?;
        return Ok(out.flush()?);
    }
    let compared = &Compared {
        report: &redacted(compared.report)?,
        ..*compared
    };
    match format {
        ReportFormat::Text | ReportFormat::Json => comparison_reports::json(compared, &mut out)?,
        ReportFormat::Junit => comparison_reports::junit(compared, &mut out)?,
        ReportFormat::Github => comparison_reports::github(compared, &mut out)?,
    }
    Ok(out.flush()?)
}

/// The judge of what is compared with `recording`, and the files of its rules in words. A bad file of
/// rules is a wrong argument.
pub fn judge(
    strictness: &Strictness,
    rewrites: Rewrites,
    recording: &Path,
) -> Result<(Judge, Vec<String>), Failure> {
    let (rules, files) = rules(&strictness.rules, recording)?;
    let options = Options {
        latency_budget: strictness.latency_budget,
        exact_numbers: strictness.exact_numbers,
        fail_on: strictness.fail_on,
        rewrites,
        pairs: Vec::new(),
    };
    Ok((Judge::new(rules, options), files))
}

/// The rules of the files `named` and of the one beside `recording`; and how many are of which file,
/// in words.
pub fn rules(named: &[PathBuf], recording: &Path) -> Result<(Rules, Vec<String>), Failure> {
    let read = files::read(named, recording);
    let (rules, files) = read.map_err(|error| Failure::Usage(sentence(&error)))?;
    let files = files.iter();
    let files =
        files.map(|it| format!("{} of {}", plural(it.rules as u64, "rule"), shown(&it.path)));
    Ok((rules, files.collect()))
}

/// The same report with tokens in place of secrets: reports for machines end in the logs of build
/// servers, which strangers read. Each value is looked at under the name of its member.
fn redacted(report: &Report) -> Result<Report, Failure> {
    let mut report = report.clone();
    let mut learner = Learner::new(redact::policy(&Secrets::default())?);
    texts(&mut report, &mut |name, text| {
        learner.text(&format!("{name}{text}"));
    });
    let mut redactor = learner.finish();
    texts(&mut report, &mut |name, text| {
        let all = format!("{name}{text}");
        let all = redactor.text(Place::Start, &all, &mut mcpreel_redact::Report::default());
        *text = all.strip_prefix(name).unwrap_or(&all).into();
    });
    Ok(report)
}

/// Gives each text of a report to `visit`, and before it the name of the member that it is the
/// value of: `"token": `.
fn texts(report: &mut Report, visit: &mut dyn FnMut(&str, &mut Box<str>)) {
    let offers = report.offers.iter_mut().map(|offer| &mut offer.difference);
    let accounts = report.accounts.iter_mut();
    let differences = accounts.flat_map(|account| &mut account.differences);
    for difference in offers.chain(differences) {
        let name = match last_member(&difference.path) {
            "" => String::new(),
            name => format!("\"{name}\": "),
        };
        let values = [&mut difference.left, &mut difference.right].into_iter();
        values.flatten().for_each(|value| visit(&name, value));
        if let Some(note) = &mut difference.note {
            visit("", note);
        }
    }
    for account in &mut report.accounts {
        if let Outcome::Remark(text) = &mut account.outcome {
            visit("", text);
        }
    }
    for (_, text) in &mut report.troubles {
        visit("", text);
    }
}

/// `token` of `result.list[2].token[0]`
fn last_member(path: &str) -> &str {
    let path = path.trim_end_matches(|sign: char| sign.is_ascii_digit() || "[]".contains(sign));
    let name = path.rsplit(['.', '[']).next().unwrap_or_default();
    name.trim_matches(|sign| "[]\"".contains(sign))
}

/// One of the two that were compared.
#[derive(Clone, Debug, Serialize)]
pub struct Party {
    /// The whole id.
    pub id: String,
    /// The name of the recording. Not escaped.
    pub name: String,
    /// The version that its server says it has. Not escaped.
    pub version: Option<Box<str>>,
    /// The name that its server gives itself. Not escaped.
    #[serde(skip)]
    pub server: Option<String>,
    /// The file of the recording. Not escaped.
    pub path: String,
    pub exchanges: u64,
    /// The state of the recording, unless it is complete.
    pub state: Option<&'static str>,
    /// Bytes that are not on record.
    pub gap_bytes: u64,
    /// The exchange of it that was compared, where it is one.
    pub seq: Option<u64>,
    /// The beginning of its id that names it, or the file of a cassette, whose id nobody can open.
    /// Escaped.
    #[serde(skip)]
    short: String,
    /// The name for other commands, ready for a shell.
    #[serde(skip)]
    address: String,
}

impl Party {
    /// A recording, as a command names it that works in the folder `dir`. Other commands look for
    /// ids there only if nobody named it by an option.
    pub fn new(recording: &Recording, dir: &Folder) -> Result<Self, Failure> {
        let summary = recording.summary()?;
        let library = Library::new(folder::of(dir)?);
        let path = recording.path().display().to_string();
        let entries = match dir.dir {
            None => library.list().unwrap_or_default(),
            Some(_) => Vec::new(),
        };
        let short = match mcpreel_replay::cassette_name(recording) {
            Some(file) => escape(&file).into_owned(),
            None => short_id(&summary.id, &entries).to_owned(),
        };
        let alone = entries.iter().filter(|entry| entry.id == summary.id);
        let by_id = alone.count() == 1 && library.contains(recording.path());
        Ok(Self {
            state: (!summary.state.is_final()).then(|| select::state(recording, &summary)),
            id: summary.id,
            name: summary.name,
            version: summary.session.server.version.map(Into::into),
            server: summary.session.server.name.map(Into::into),
            exchanges: summary.exchanges,
            gap_bytes: summary.gap_bytes,
            seq: None,
            address: if by_id { short.clone() } else { path.clone() },
            path,
            short,
        })
    }

    /// `7f3a`, or `search.jsonl` for a cassette; `7f3a#12` where one exchange is meant.
    pub fn short(&self) -> String {
        match self.seq {
            Some(seq) => format!("{}#{seq}", self.short),
            None => self.short.clone(),
        }
    }

    /// The name that is the same in every run: the file of a cassette, the name of a recording. Not escaped.
    pub fn lasting_name(&self) -> String {
        let file = Path::new(&self.path).file_name();
        match file.filter(|_| self.is_cassette()) {
            Some(file) => file.to_string_lossy().into_owned(),
            None => self.name.clone(),
        }
    }

    fn is_cassette(&self) -> bool {
        mcpreel_replay::is_cassette(Path::new(&self.path))
    }

    /// The file that annotations are about: a cassette, which lies beside the code, or the right
    /// recording. From the folder where we are, where it lies below that. Not escaped.
    pub fn file(parties: &[Self; 2]) -> String {
        let cassette = parties.iter().find(|party| party.is_cassette());
        let path = Path::new(&cassette.unwrap_or(&parties[1]).path);
        let here = std::env::current_dir().ok();
        let below = here.and_then(|here| path.strip_prefix(here).ok());
        below.unwrap_or(path).display().to_string()
    }

    /// `7f3a  weather-server 1.2.0, 31 exchanges, live`, escaped.
    pub fn in_words(&self) -> String {
        let mut words = format!("{}  {}", self.short(), escape(&self.name));
        if let Some(version) = self.version.as_deref().filter(|text| !text.is_empty()) {
            _ = write!(words, " {}", escape(version));
        }
        if self.seq.is_none() {
            _ = write!(words, ", {}", plural(self.exchanges, "exchange"));
        }
        if let Some(state) = self.state {
            _ = write!(words, ", {state}");
        }
        if self.gap_bytes > 0 {
            _ = write!(words, ", {} not on record", size(self.gap_bytes));
        }
        words
    }

    /// The command that opens a frame of it, to be pasted into a shell.
    pub fn open(&self, seq: Seq) -> String {
        let place = format!("{}#{}", escape(&self.address), seq.0);
        format!("mcpreel open '{}'", place.replace('\'', r"'\''"))
    }

    /// The same of a recording that cannot be read yet: this is its id, and this its file.
    pub fn placed(mut self, id: &str, path: &Path) -> Self {
        id.clone_into(&mut self.id);
        id.get(..4).unwrap_or(id).clone_into(&mut self.short);
        self.path = path.display().to_string();
        self.address.clone_from(&self.path);
        self
    }

    /// A command on all of it, to be pasted into a shell.
    pub fn command(&self, name: &str) -> String {
        format!(
            "mcpreel {name} {}",
            phrases::command(std::slice::from_ref(&self.address))
        )
    }
}

/// The commands that open the places of both sides, as far as there are any.
pub fn opens(parties: &[Party; 2], seqs: [Option<Seq>; 2]) -> Vec<String> {
    let places = parties.iter().zip(seqs);
    let commands = places.filter_map(|(party, seq)| seq.map(|seq| party.open(seq)));
    commands.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_time_or_a_factor() {
        assert_eq!(budget("500ms"), Ok(Budget::Absolute(500_000_000)));
        assert_eq!(budget("1.5x"), Ok(Budget::Times(1.5)));
        for wrong in ["2", "x", "0.5x", "-1x", "NaNx", "infx", "2 days"] {
            assert!(budget(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_value_has_the_name_of_its_member() {
        for (path, name) in [
            ("result.list[2].token[0]", "token"),
            ("params.api_key", "api_key"),
            (r#"params["api.key"]"#, "key"),
            ("result", "result"),
            ("", ""),
        ] {
            assert_eq!(last_member(path), name, "{path}");
        }
    }
}

#[cfg(test)]
mod party_tests {
    use super::*;

    #[test]
    fn no_name_of_a_file_breaks_out_of_the_command() {
        let party = Party {
            id: "7f3a9c21".into(),
            name: "n\u{1b}".into(),
            version: Some("1\u{202e}".into()),
            server: None,
            path: String::new(),
            exchanges: 0,
            state: None,
            gap_bytes: 0,
            seq: None,
            short: "7f3a".into(),
            address: "a'; rm -r \u{1b}x".into(),
        };
        assert_eq!(party.open(Seq(7)), r"mcpreel open 'a'\''; rm -r \x1bx#7'");
        assert_eq!(party.in_words(), "7f3a  n\\x1b 1\\u{202e}, 0 exchanges");
        let other = party.placed("c04d9c21", Path::new("/r/b.reel"));
        assert_eq!((&*other.short(), &*other.id), ("c04d", "c04d9c21"));
        assert_eq!(other.open(Seq(7)), "mcpreel open '/r/b.reel#7'");
    }
}
