//! `mcpreel redact`: a recording without its secrets, what would be replaced in one, and leaks in
//! files of any kind (`scan`).

pub mod redact_scan;

use super::exit::{Exit, Failure, Outcome};
use super::export::{progress, save, tell_unfinished};
use super::output::{Output, shown};
use super::select::RecordingArgs;
use super::{folder, quantity};
use clap::Args;
use mcpreel_config::Config;
use mcpreel_redact::{LIMITS, OPTIONAL, Policy, PolicyError, Report, SPECIAL, Settings, rules};
use mcpreel_share::export::Selection;
use mcpreel_share::export::otlp::Bodies;
use mcpreel_share::outgoing::{self, Format, Order, recording_copy};
use mcpreel_store::reader::Recording;
use mcpreel_wire::text::{escape, plural};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Places that are listed; --json has more.
const MOST_PLACES: usize = 200;

/// The warning below every report.
const WARNING: &str = "Not a guarantee: read it before you share it";

const EXAMPLES: &str = "\
Examples:
  mcpreel redact 7f3a                      what would be replaced, where, by which rule
  mcpreel redact 7f3a -o shared.reel       a recording without it
  mcpreel redact @ --email --home -o shared.reel
  mcpreel redact --scan 7f3a bug-report/   looks for leaks; exit code 1 if there is one,
                                           3 if a file, such as a packed one, was not looked through
  mcpreel redact --list                    the rules";

/// Take secrets out of a recording, or look for leaks
///
/// Without -o it writes nothing: it reports where it would replace values and by which rule, never
/// the values. With -o it writes a recording with the same frames, times and marks, an id of its own,
/// and the id of the original. `mcpreel export` redacts in the same way.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\ndocs/redaction.md tells what counts as a secret.\n\n{LIMITS}"))]
pub struct Redact {
    #[command(flatten)]
    which: RecordingArgs,
    /// The redacted recording
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    what: Secrets,
    /// The report as one JSON object; of --scan one for each place
    #[arg(long)]
    json: bool,
    /// Look for secrets in recordings, in files of any kind, also in a ZIP, and in folders, and say where;
    /// other packed files are not opened
    #[arg(
        long,
        value_name = "PATH|RECORDING",
        num_args = 1..,
        conflicts_with_all = ["recording", "output", "list"]
    )]
    scan: Vec<PathBuf>,
    /// List the rules
    #[arg(long)]
    list: bool,
}

/// The options that say what is secret besides what always is.
#[derive(Debug, Default, Args)]
pub struct Secrets {
    /// Replace e-mail addresses too
    #[arg(long)]
    pub email: bool,
    /// Replace names of home folders too
    #[arg(long)]
    pub home: bool,
    /// Disable a rule
    #[arg(long, value_name = "RULE")]
    pub without: Vec<String>,
}

/// Does what the arguments ask for.
pub fn run(args: &Redact) -> Outcome {
    if args.list {
        list_rules(args.json)?;
        return Ok(Exit::Fine);
    }
    let policy = policy(&args.what)?;
    if !args.scan.is_empty() {
        let folder = &args.which.folder;
        return redact_scan::run(&args.scan, folder, &policy, args.json);
    }
    let recording = args.which.open()?;
    let (report, redacted) = match &args.output {
        Some(path) => {
            let order = Order {
                format: Format::Recording,
                bodies: Bodies::Without,
                selection: &Selection::default(),
                now: None,
                policy: Some(policy),
            };
            let report = save(&recording, &order, path, args.force)?.report;
            (report.unwrap_or_default(), &Recording::open(path)?)
        }
        None => (look(&recording, &policy)?, &recording),
    };
    let mut out = Output::stdout();
    if args.json {
        out.json(&report)?;
    } else {
        let lines = report_lines(&report, args.output.as_deref());
        lines.iter().try_for_each(|line| out.line(line))?;
        out.line(&warning([(redacted, &report)])?)?;
    }
    out.flush()?;
    tell_unfinished(&recording)?;
    Ok(Exit::Fine)
}

/// The warning below recordings that were redacted, with the addresses and home folders that stay in them, as far
/// as none of that kind was replaced.
pub fn warning<'r>(
    made: impl IntoIterator<Item = (&'r Recording, &'r Report)>,
) -> Result<String, Failure> {
    let others = all_rules().filter(|(id, _)| !OPTIONAL.contains(id));
    let policy = Policy::new(&Settings {
        email: true,
        home: true,
        without: others.map(|(id, _)| id.to_owned()).collect(),
        ..Settings::default()
    });
    let policy = Arc::new(policy.map_err(anyhow::Error::from)?);
    let mut found = BTreeMap::<_, u64>::new();
    for (redacted, replaced) in made {
        for (rule, count) in look(redacted, &policy)?.rules {
            if !replaced.rules.contains_key(&rule) {
                *found.entry(rule).or_default() += count;
            }
        }
    }
    let mut warning = WARNING.to_owned();
    let what = ["e-mail addresses", "names of home folders"];
    for ((rule, what), option) in OPTIONAL.iter().zip(what).zip(["--email", "--home"]) {
        if let Some(count) = found.get(*rule) {
            let places = plural(*count, "place");
            let stay = format!("; {what} stay in {places} ({option} replaces them)");
            warning.push_str(&stay);
        }
    }
    Ok(warning)
}

/// Reports what would be replaced, and writes nothing.
pub fn look(recording: &Recording, policy: &Arc<Policy>) -> Result<Report, Failure> {
    let mut tell = progress(recording)?;
    let mut redacting = outgoing::learn(recording, policy, &mut tell)?;
    recording_copy::look(&mut redacting, &Selection::default(), &mut tell)?;
    Ok(redacting.take_report())
}

/// The report for people. `path` is the redacted file, if one was written.
pub fn report_lines(report: &Report, path: Option<&Path>) -> Vec<String> {
    let places = plural(report.hits(), "place");
    let values = plural(report.values() as u64, "value");
    let rules = plural(report.rules.len() as u64, "rule");
    let found = match report.hits() {
        0 => String::new(),
        _ => format!(" in {places}, by {rules}"),
    };
    let mut lines = vec![match path {
        Some(path) => format!("{}: {values} replaced{found}", shown(path)),
        None => format!("{values} to be replaced{found}"),
    }];
    for replaced in report.places.iter().take(MOST_PLACES) {
        let (path, key) = (escape(&replaced.path), escape(&replaced.key));
        let inside = match (&*path, &*key) {
            ("", "") => String::new(),
            (one, "") | ("", one) => format!("  {one}"),
            (path, key) => format!("  {path} ({key})"),
        };
        let (place, token) = (replaced.place.to_string(), replaced.token.to_string());
        let rule = escape(&replaced.rule);
        lines.push(format!("  {place:<18} {token:<12} {rule}{inside}"));
    }
    let told = report.places.len().min(MOST_PLACES) as u64;
    if report.hits() > told {
        let more = plural(report.hits() - told, "more place");
        lines.push(format!("  and {more}"));
    }
    lines.extend(outgoing::undone(report));
    lines
}

/// Prints the rules.
fn list_rules(json: bool) -> Result<(), Failure> {
    let mut out = Output::stdout();
    for (id, about) in all_rules() {
        let optional = OPTIONAL.contains(&id);
        let only = ["", " (only where it is asked for)"][usize::from(optional)];
        if json {
            out.json(&json!({"id": id, "about": about, "optional": optional}))?;
        } else {
            out.line(&format!("{id:<20} {about}{only}"))?;
        }
    }
    Ok(out.flush()?)
}

/// The ids of all rules, and what they are about.
fn all_rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    let shapes = rules().map(|rule| (rule.id.as_str(), rule.about.as_str()));
    SPECIAL.iter().copied().chain(shapes)
}

/// The policy of this user.
pub fn policy(args: &Secrets) -> Result<Arc<Policy>, Failure> {
    let file = folder::Settings::checked()?;
    policy_of(file.config(), args).map(Arc::new)
}

fn policy_of(config: &Config, args: &Secrets) -> Result<Policy, Failure> {
    let fault = |at: &dyn Display, why: &dyn Display| Failure::Usage(format!("{at}: {why}"));
    let texts = |key| config.all(key).map(|setting| setting.text.clone());
    let mut settings = Settings {
        email: args.email || config.is_on("redact.email") == Some(true),
        home: args.home || config.is_on("redact.home") == Some(true),
        names: texts("redact.names").collect(),
        allow: texts("redact.allow").collect(),
        ..Settings::default()
    };
    for setting in config.all("redact.without") {
        let rule = check_rule(&setting.text).map_err(|why| fault(&setting.at, &why))?;
        settings.without.push(rule);
    }
    for name in &args.without {
        let rule = check_rule(name).map_err(|why| fault(&"--without", &why))?;
        settings.without.push(rule);
    }
    for setting in config.all("redact.paths") {
        let path = setting.text.parse();
        settings
            .paths
            .push(path.map_err(|error| fault(&setting.at, &error))?);
    }
    let mut places = BTreeMap::new();
    for (name, setting) in config.below("redact.patterns") {
        let name: String = name.iter().map(|part| &*part.text).take(1).collect();
        places.insert(name.clone(), &setting.at);
        settings.patterns.push((name, setting.text.clone()));
    }
    Policy::new(&settings).map_err(|error| match &error {
        PolicyError::Pattern { name, .. } if places.contains_key(name) => {
            fault(places[name], &error)
        }
        _ => Failure::Usage(error.to_string()),
    })
}

/// Refuses a name that no rule has, with the one that may be meant.
fn check_rule(name: &str) -> Result<String, String> {
    let known: Vec<_> = all_rules().map(|(id, _)| id).collect();
    quantity::rule(name, &known, "mcpreel redact --list")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn refusal(text: &str) -> String {
        let (config, problems) = Config::parse(text, Path::new("c.toml"));
        assert!(problems.is_empty(), "{problems:?}");
        match policy_of(&config, &Secrets::default()) {
            Err(Failure::Usage(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place_and_the_nearest_that_is_right() {
        let why = refusal("[redact]\nwithout = ['github-tokn']");
        assert_eq!(
            why,
            "c.toml:2:12: there is no rule `github-tokn`; did you mean `github-token`?"
        );
        let why = refusal("[redact]\npaths = ['a..b']");
        assert!(why.starts_with("c.toml:2:10: expected a name"), "{why}");
        let why = refusal("[redact.patterns]\nmine = '('");
        assert!(why.starts_with("c.toml:2:8: the pattern `mine`"), "{why}");
    }

    #[test]
    fn the_sample_is_what_holds_without_a_file() {
        let sample = policy_of(&Config::defaults(), &Secrets::default());
        let none = policy_of(&Config::default(), &Secrets::default());
        assert_eq!(
            format!("{:?}", sample.unwrap()),
            format!("{:?}", none.unwrap())
        );
    }
}
