//! `mcpreel redact`: a recording without its secrets, what would be replaced in one, and leaks in
//! files of any kind (`scan`).

pub mod redact_scan;

use super::exit::{Exit, Failure, Outcome, usage};
use super::export::{progress, tell_unfinished};
use super::folder::Folder;
use super::output::Output;
use super::{folder, select};
use clap::Args;
use mcpreel_config::reading::nearest;
use mcpreel_config::{self as config, Setting};
use mcpreel_redact::{
    LIMITS, OPTIONAL, Policy, PolicyError, Redactor, Replaced, Report, SPECIAL, Settings, rules,
};
use mcpreel_share::export::Selection;
use mcpreel_share::outgoing::file::{Replace, Whole};
use mcpreel_share::outgoing::{self, redacted, told};
use mcpreel_store::reader::Recording;
use mcpreel_wire::text::{escape, plural, size};
use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Places that are listed; --json has more.
const MOST_PLACES: usize = 200;

const EXAMPLES: &str = "\
Examples:
  mcpreel redact 7f3a                      what would be replaced, where, by which rule
  mcpreel redact 7f3a -o shared.reel       a recording without it
  mcpreel redact @ --email --home -o shared.reel
  mcpreel redact --scan bug-report/        looks for leaks; exit code 1 if there is one
  mcpreel redact --list                    the rules";

const KINDS: &str = "\
What is secret: values of keys, variables, options and headers with names such as
password, apiKey, GITHUB_TOKEN, --token, Authorization; tokens of clouds, of code
hosting and of other services; JSON Web Tokens, private keys, passwords in URLs;
and whatever is one of these in one place, wherever it appears again: in both
directions, on stderr, in the command line, in keys, in JSON in strings, as base64,
in hex digits and percent-encoded. [redact] in the configuration adds names,
patterns and paths.

`‹secret:1›` stands in place of a value, wherever it stood; another value has
another number. So what belongs together still does: a redacted recording is
compared and replayed like any other, with --bind secret:1=env:TOKEN.";

/// Take secrets out of a recording, or look for leaks
///
/// Without -o nothing is written: the report says what would be replaced where, and by which rule,
/// never what it is. With -o a recording is made that has the same frames, times and marks, and
/// everything in it is derived from what was redacted; its id is its own, and it says which
/// recording it was made of. `mcpreel export` does the same on its way.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{LIMITS}"))]
#[command(after_long_help = format!("{EXAMPLES}\n\n{KINDS}\n\n{LIMITS}"))]
pub struct Redact {
    /// A path, @, @2, an id or its first four digits or more, or a name
    #[arg(value_name = "RECORDING", default_value = "@")]
    recording: OsString,
    #[command(flatten)]
    folder: Folder,
    /// The recording that is made
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it is there already
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    what: Secrets,
    /// The report as one JSON object; of --scan one for each place
    #[arg(long)]
    json: bool,
    /// Look for secrets in files of any kind and in folders, and say where
    #[arg(
        long,
        value_name = "PATH",
        num_args = 1..,
        conflicts_with_all = ["recording", "output", "list"]
    )]
    scan: Vec<PathBuf>,
    /// Say which rules there are
    #[arg(long)]
    list: bool,
}

/// What is taken for a secret besides what always is.
#[derive(Debug, Default, Args)]
pub struct Secrets {
    /// Replace addresses of e-mail as well
    #[arg(long)]
    pub email: bool,
    /// Replace the names of home folders as well
    #[arg(long)]
    pub home: bool,
    /// Do without a rule
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
        return redact_scan::run(&args.scan, &policy, args.json);
    }
    let (recording, selected) = select::open(&args.recording, &args.folder)?;
    if selected.seq.is_some() {
        return Err(usage(
            "#SEQ names one frame; a recording is redacted as a whole",
        ));
    }
    let report = match &args.output {
        Some(path) => write(&recording, path, args.force, &policy)?,
        None => look(&recording, &policy)?,
    };
    let mut out = Output::stdout();
    if args.json {
        out.json(&report)?;
    } else {
        let lines = report_lines(&report, args.output.as_deref());
        lines.iter().try_for_each(|line| out.line(line))?;
    }
    out.flush()?;
    Ok(Exit::Fine)
}

/// What would be replaced.
pub fn look(recording: &Recording, policy: &Arc<Policy>) -> Result<Report, Failure> {
    Ok(looked(recording, policy)?.0)
}

/// The same, and what knows the secrets.
fn looked(recording: &Recording, policy: &Arc<Policy>) -> Result<(Report, Redactor), Failure> {
    let mut tell = progress(recording)?;
    let mut redacting = outgoing::learn(recording, policy, &mut tell)?;
    redacted::look(&mut redacting, &Selection::default(), &mut tell)?;
    Ok((redacting.take_report(), redacting.into_redactor()))
}

/// Makes a redacted recording.
fn write(
    recording: &Recording,
    path: &Path,
    force: bool,
    policy: &Arc<Policy>,
) -> Result<Report, Failure> {
    let may = if force { Replace::Yes } else { Replace::No };
    let whole = Whole::begin(path, recording.path(), may)?;
    let mut tell = progress(recording)?;
    let all = Selection::default();
    let what = (&all, Some(policy));
    let report = outgoing::copy(recording, what, whole.draft.path(), &mut tell)?;
    drop(tell);
    whole.finish()?;
    tell_unfinished(recording)?;
    Ok(report.unwrap_or_default())
}

/// The report, of what stands in `path` now, or would.
pub fn report_lines(report: &Report, path: Option<&Path>) -> Vec<String> {
    let places = plural(report.hits(), "place");
    let values = plural(report.values() as u64, "value");
    let (rules, done) = (
        plural(report.rules.len() as u64, "rule"),
        match path {
            Some(_) => "replaced",
            None => "to be replaced",
        },
    );
    let head = match path {
        Some(path) => format!("{}: ", escape(&path.display().to_string())),
        None => String::new(),
    };
    let mut lines = vec![format!("{head}{values} {done} in {places}, by {rules}")];
    lines.extend(report.places.iter().take(MOST_PLACES).map(|replaced| {
        let path = match where_in(replaced) {
            path if path.is_empty() => path,
            path => format!("  {path}"),
        };
        let place = format!("{:<18}", replaced.place.to_string());
        let (token, rule) = (replaced.token.to_string(), escape(&replaced.rule));
        format!("  {place} {token:<12} {rule}{path}")
    }));
    let told = report.places.len().min(MOST_PLACES) as u64;
    if report.hits() > told {
        lines.push(format!(
            "  and {}",
            plural(report.hits() - told, "more place")
        ));
    }
    lines.extend(beside(report));
    lines.push(LIMITS.to_owned());
    lines
}

/// Where in a message something stands, and by which name in a text; escaped.
fn where_in(replaced: &Replaced) -> String {
    let (path, key) = (escape(&replaced.path), escape(&replaced.key));
    match (path.is_empty(), key.is_empty()) {
        (_, true) => path.into_owned(),
        (true, false) => key.into_owned(),
        (false, false) => format!("{path} ({key})"),
    }
}

/// What was not done.
fn beside(report: &Report) -> Vec<String> {
    let left = report.left.iter().map(|left| {
        format!(
            "#{} is left out: {} are too long to be looked through",
            left.seq,
            size(left.bytes)
        )
    });
    let mut lines: Vec<_> = told::off(report).into_iter().chain(left).collect();
    lines.extend(told::unplaced(report));
    if report.short > 0 {
        let values = plural(report.short, "value");
        lines.push(format!("too short to be looked for elsewhere: {values}"));
    }
    if report.beyond > 0 {
        let values = plural(report.beyond, "value");
        lines.push(format!(
            "too many or too long to be looked for elsewhere: {values}"
        ));
    }
    lines
}

#[derive(Serialize)]
struct RuleLine {
    id: &'static str,
    about: &'static str,
    optional: bool,
}

/// Prints the rules.
fn list_rules(json: bool) -> Result<(), Failure> {
    let mut out = Output::stdout();
    let shapes = mcpreel_redact::rules().map(|rule| (rule.id, rule.about));
    for line in SPECIAL.iter().copied().chain(shapes) {
        let (id, about) = line;
        let optional = OPTIONAL.contains(&id);
        if json {
            out.json(&RuleLine {
                id,
                about,
                optional,
            })?;
        } else {
            let only = if optional {
                " (only where it is asked for)"
            } else {
                ""
            };
            out.line(&format!("{id:<20} {about}{only}"))?;
        }
    }
    Ok(out.flush()?)
}

/// The policy of this user.
pub fn policy(args: &Secrets) -> Result<Arc<Policy>, Failure> {
    let file = folder::Settings::read();
    if let Some(fault) = file.faults().next() {
        return Err(Failure::Usage(fault));
    }
    policy_of(&file.config().redact, args).map(Arc::new)
}

fn policy_of(config: &config::Redact, args: &Secrets) -> Result<Policy, Failure> {
    let is_on = |setting: &Option<Setting>| {
        setting
            .as_ref()
            .is_some_and(|setting| setting.text == "true")
    };
    let texts = |list: &[Setting]| list.iter().map(|setting| setting.text.clone()).collect();
    for setting in &config.without {
        check_rule(&setting.text)
            .map_err(|why| Failure::Usage(format!("{}: {why}", setting.at)))?;
    }
    for name in &args.without {
        check_rule(name).map_err(|why| Failure::Usage(format!("--without: {why}")))?;
    }
    let mut paths = Vec::new();
    for setting in &config.paths {
        let path = setting.text.parse();
        paths.push(path.map_err(|error| Failure::Usage(format!("{}: {error}", setting.at)))?);
    }
    let patterns = config.patterns.iter();
    let patterns = patterns.map(|(name, pattern)| (name.clone(), pattern.text.clone()));
    let mut without: Vec<String> = texts(&config.without);
    without.extend(args.without.iter().cloned());
    let settings = Settings {
        email: args.email || is_on(&config.email),
        home: args.home || is_on(&config.home),
        names: texts(&config.names),
        patterns: patterns.collect(),
        paths,
        without,
        allow: texts(&config.allow),
    };
    Policy::new(&settings).map_err(|error| Failure::Usage(policy_error(&error, config)))
}

/// Whether there is such a rule, or which one may be meant.
fn check_rule(name: &str) -> Result<(), String> {
    let known: Vec<_> = SPECIAL
        .iter()
        .map(|(id, _)| *id)
        .chain(rules().map(|rule| rule.id))
        .collect();
    if known.contains(&name) {
        return Ok(());
    }
    let hint = match nearest(name, &known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`mcpreel redact --list` has them".to_owned(),
    };
    Err(format!("there is no rule `{}`; {hint}", escape(name)))
}

fn policy_error(error: &PolicyError, config: &config::Redact) -> String {
    let PolicyError::Pattern { name, .. } = error else {
        return error.to_string();
    };
    let place = config.patterns.iter().find(|(of, _)| of == name);
    match place {
        Some((_, setting)) => format!("{}: {error}", setting.at),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_config::Config;
    use std::path::Path;

    fn refusal(text: &str) -> String {
        let (config, problems) = Config::parse(text, Path::new("c.toml"));
        assert!(problems.is_empty(), "{problems:?}");
        match policy_of(&config.redact, &Secrets::default()) {
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
        let sample = policy_of(&Config::defaults().redact, &Secrets::default());
        let none = policy_of(&config::Redact::default(), &Secrets::default());
        assert_eq!(
            format!("{:?}", sample.unwrap()),
            format!("{:?}", none.unwrap())
        );
    }
}
