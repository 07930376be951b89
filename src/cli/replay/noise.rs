//! What differs between several runs of the same command, as rules that pass over it.

use super::plan::{Made, Plan, Played, Run};
use crate::cli::args::{Replay as Args, ReportFormat};
use crate::cli::comparison::{self, Judging};
use crate::cli::exit::Failure;
use crate::cli::output::{self, Output};
use crate::cli::select;
use mcpreel_replay::compare::Class;
use mcpreel_replay::recorded::{self, Wanted};
use mcpreel_replay::report::{Difference, Report};
use mcpreel_replay::rewrite::Rewrites;
use mcpreel_wire::text::plural;
use serde_json::json;
use std::collections::BTreeMap;

/// What varies.
#[derive(Default)]
struct Varying {
    /// Rules, and in how many runs each would have been needed.
    rules: BTreeMap<Box<str>, u8>,
    /// Where a rule would pass over more than what varies, or none can be written.
    refused: BTreeMap<String, u8>,
}

/// Runs it as often as is asked for, and lists what differed from the first run; the signal by
/// which the user stopped it.
pub fn runs(args: &Args, plan: &Plan<'_>, first: &Played) -> Result<Option<i32>, Failure> {
    let mut varying = Varying::default();
    let runs = args.learning.noise_runs;
    for run in 1..=runs {
        let played = plan.play(&Run {
            which: &format!("run {run} of {runs}: "),
            ..Run::default()
        })?;
        if let Some(signal) = played.outcome.interrupted {
            return Ok(Some(signal));
        }
        let strictness = &args.strictness;
        let path = plan.recorded().path();
        let Judging { mut judge, .. } = comparison::judge(strictness, Rewrites::default(), path)?;
        let read = |made: &Made| {
            let opened = select::open(made.path.as_os_str(), &args.driving.folder);
            opened.map(|(recording, _)| recording)
        };
        let (first, again) = (read(&first.made)?, read(&played.made)?);
        recorded::recordings(
            [&first, &again],
            &Wanted::All,
            &mut judge,
            &mut |_: usize, _: usize| {},
        )?;
        varying.add(&judge.finish());
    }
    varying.write(u64::from(runs) + 1, args.form.format())?;
    Ok(None)
}

impl Varying {
    /// What two runs differ in.
    fn add(&mut self, report: &Report) {
        let mut run = Self::default();
        for account in &report.accounts {
            for difference in &account.differences {
                let call = [Some(&*account.method), account.name.as_deref()];
                run.difference(difference, &call);
            }
        }
        for offer in &report.offers {
            run.difference(&offer.difference, &[Some(&*offer.name)]);
        }
        for rule in run.rules.into_keys() {
            *self.rules.entry(rule).or_default() += 1;
        }
        for what in run.refused.into_keys() {
            *self.refused.entry(what).or_default() += 1;
        }
    }

    fn difference(&mut self, difference: &Difference, of: &[Option<&str>]) {
        if difference.class == Class::Noise {
            return;
        }
        match &difference.rule {
            Some(rule) if !covers_more(difference) => {
                self.rules.insert(rule.clone(), 1);
            }
            _ => {
                let of: Vec<_> = of.iter().flatten().copied().collect();
                let what = format!("{} of {}", difference.path, of.join(" "));
                self.refused.insert(what, 1);
            }
        }
    }

    fn write(&self, runs: u64, format: ReportFormat) -> Result<(), Failure> {
        match format {
            ReportFormat::Text => self.text(runs),
            ReportFormat::Json => self.json(runs),
            ReportFormat::Junit | ReportFormat::Github => {
                for rule in self.rules.keys() {
                    output::say(&format!("differs between runs:\n{rule}"));
                }
                Ok(())
            }
        }
    }

    fn text(&self, runs: u64) -> Result<(), Failure> {
        let mut out = Output::stdout();
        out.line("")?;
        if self.rules.is_empty() && self.refused.is_empty() {
            out.line(&format!(
                "# {runs} runs: nothing that matters differs between them"
            ))?;
        }
        if !self.rules.is_empty() {
            out.line(&format!("# what differs between {runs} runs, as rules:"))?;
        }
        for (rule, times) in &self.rules {
            out.line(&format!("\n# in {}", plural(u64::from(*times), "run")))?;
            rule.lines().try_for_each(|line| out.line(line))?;
        }
        for (what, times) in &self.refused {
            let times = plural(u64::from(*times), "run");
            out.line(&format!(
                "# in {times}, no rule without passing over more: {what}"
            ))?;
        }
        Ok(out.flush()?)
    }

    fn json(&self, runs: u64) -> Result<(), Failure> {
        let mut out = Output::stdout();
        for (rule, times) in &self.rules {
            out.json(&json!({"kind": "noise", "runs": runs, "times": times, "rule": rule}))?;
        }
        for (what, times) in &self.refused {
            out.json(&json!({"kind": "noise", "runs": runs, "times": times, "path": what}))?;
        }
        Ok(out.flush()?)
    }
}

/// Whether a rule would pass over what is below as well, which did not vary on its own.
fn covers_more(difference: &Difference) -> bool {
    let holds = |value: &Option<Box<str>>| {
        let value = value.as_deref().unwrap_or_default();
        value.starts_with(['{', '['])
    };
    holds(&difference.left) && holds(&difference.right)
}
