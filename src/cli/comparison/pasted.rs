//! Rules to be pasted into a file: numbered where something is said, written out below.

use super::Party;
use super::pen::Pen;
use crate::cli::exit::Failure;
use crate::cli::output::Ink;
use mcpreel_replay::rules::sidecar;
use mcpreel_wire::text::escape;
use std::path::Path;

/// Rules that are shown.
const MOST: usize = 20;

/// The rules that are mentioned, each with the number that is its place.
#[derive(Default)]
pub struct Pasted<'r> {
    rules: Vec<&'r str>,
}

impl<'r> Pasted<'r> {
    /// What a rule is called, `None` where there are too many.
    pub fn number(&mut self, rule: &'r str) -> Option<String> {
        let known = self.rules.iter().position(|known| *known == rule);
        let at = known.unwrap_or(self.rules.len());
        if known.is_none() && at < MOST {
            self.rules.push(rule);
        }
        (at < MOST).then(|| format!("rule {}", at + 1))
    }

    /// Writes them out; they are about what `left` was compared with.
    pub fn write(&self, left: &Party, pen: &mut Pen<'_>) -> Result<(), Failure> {
        if self.rules.is_empty() {
            return Ok(());
        }
        let beside = sidecar(Path::new(&left.path)).display().to_string();
        let beside = format!("for --rules FILE, or {}", escape(&beside));
        pen.title("rules that would pass over these", &beside)?;
        for (rule, number) in self.rules.iter().zip(1..) {
            pen.whole("  ", Ink::Faint, &format!("# {number}"))?;
            let mut lines = rule.lines();
            lines.try_for_each(|line| pen.whole("  ", Ink::Plain, line))?;
        }
        Ok(())
    }
}
