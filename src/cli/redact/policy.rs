//! What is secret, from the configuration and the arguments.

use crate::cli::args::Secrets;
use crate::cli::exit::Failure;
use crate::cli::folder::Settings as File;
use mcpreel_config::reading::nearest;
use mcpreel_config::{Redact, Setting};
use mcpreel_redact::{Policy, PolicyError, SPECIAL, Settings, rules};
use mcpreel_wire::text::escape;
use std::sync::Arc;

/// The policy of this user.
pub fn of(args: &Secrets) -> Result<Arc<Policy>, Failure> {
    let file = File::read();
    if let Some(fault) = file.faults().next() {
        return Err(Failure::Usage(fault));
    }
    made(&file.config().redact, args).map(Arc::new)
}

fn made(config: &Redact, args: &Secrets) -> Result<Policy, Failure> {
    let is_on = |setting: &Option<Setting>| {
        setting
            .as_ref()
            .is_some_and(|setting| setting.text == "true")
    };
    let texts = |list: &[Setting]| list.iter().map(|setting| setting.text.clone()).collect();
    for setting in &config.without {
        rule(&setting.text).map_err(|why| Failure::Usage(format!("{}: {why}", setting.at)))?;
    }
    for name in &args.without {
        rule(name).map_err(|why| Failure::Usage(format!("--without: {why}")))?;
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
    Policy::new(&settings).map_err(|error| Failure::Usage(in_words(&error, config)))
}

/// Whether there is such a rule, or which one may be meant.
fn rule(name: &str) -> Result<(), String> {
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

fn in_words(error: &PolicyError, config: &Redact) -> String {
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
        match made(&config.redact, &Secrets::default()) {
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
        let sample = made(&Config::defaults().redact, &Secrets::default());
        let none = made(&Redact::default(), &Secrets::default());
        assert_eq!(
            format!("{:?}", sample.unwrap()),
            format!("{:?}", none.unwrap())
        );
    }
}
