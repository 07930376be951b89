//! A comparison for people: the verdict, what the server offers, what differs call by call.
//!
//! ```text
//! c04d breaks what 7f3a does: 2 breaking; 31 exchanges compared, 29 of them the same
//!   left   7f3a  weather-server 1.2.0, 31 exchanges
//!   right  c04d  weather-server 1.3.0, 31 exchanges
//!
//! what the server offers
//!   breaking  tool search  input narrowed: `limit`: is required now
//!             result.tools[2].inputSchema.required
//!             was  ["query"]
//!             is   ["query","limit"]
//!             mcpreel open '7f3a#4'   mcpreel open 'c04d#4'
//! ```

use super::party::opens;
use super::said::{self, Entry, Group, grouped};
use super::{Compared, Party};
use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use mcpreel_replay::diff::words;
use mcpreel_replay::diff::{Change, Class, Counts, Offer, Report};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{count, cut, pad_end, plural, width};
use std::collections::HashMap;

/// Differences in what the server offers that are shown; `--json` has all that are kept.
const OFFERS: usize = 50;

/// Of more of them it is said first what they are about, one line each, so that a screen tells it.
const AT_A_GLANCE: usize = 8;

/// Methods and tools of which something is shown.
const GROUPS: usize = 50;

/// Differences that are shown of each.
const ENTRIES: usize = 10;

/// Rules that changed nothing, and problems, that are shown.
const NAMED: usize = 20;

/// Columns of a value; `--json` has more of it.
const VALUE: usize = 120;

/// Columns of the classes.
const CLASS: usize = 8;

/// What stands below a class is indented so.
const INDENT: &str = "            ";

/// Columns of what is said of each tool where they are listed.
const NOTE: usize = 90;

/// Writes a comparison for people.
pub fn write(compared: &Compared<'_>, out: &mut Output) -> Result<(), Failure> {
    let mut text = Text { out, compared };
    text.head()?;
    text.offers()?;
    text.groups()?;
    text.besides()
}

/// A text being written.
struct Text<'r, 'o> {
    out: &'o mut Output,
    compared: &'r Compared<'r>,
}

impl Text<'_, '_> {
    fn head(&mut self) -> Result<(), Failure> {
        let report = self.compared.report;
        let ink = match report.exit_code() {
            0 => Ink::Good,
            _ => Ink::Bad,
        };
        let verdict = said::verdict(self.compared);
        self.row("", &[(ink, &verdict)])?;
        for (word, party) in ["left", "right"].into_iter().zip(self.compared.parties) {
            self.fact(word, &named(party))?;
        }
        for file in self.compared.rules {
            self.fact("rules", file)?;
        }
        let others = report.troubles.iter();
        let others = others.filter(|(_, text)| !verdict.contains(&**text));
        for (trouble, text) in others.take(NAMED) {
            self.fact(trouble.as_str(), text)?;
        }
        Ok(())
    }

    fn fact(&mut self, word: &str, text: &str) -> Result<(), Failure> {
        let word = format!("{}  ", pad_end(word, 5));
        self.row("  ", &[(Ink::Faint, &word), (Ink::Plain, text)])
    }

    fn offers(&mut self) -> Result<(), Failure> {
        let report = self.compared.report;
        let mut offers: Vec<_> = report.offers.iter().collect();
        offers.retain(|offer| is_shown(Some(offer.difference.class), report));
        offers.sort_by_key(|offer| offer.difference.class);
        if offers.is_empty() {
            return Ok(());
        }
        self.title("what the server offers", "")?;
        if offers.len() > AT_A_GLANCE {
            for (subject, class, note) in at_a_glance(&offers).iter().take(OFFERS) {
                self.entry_head(Some(*class), subject, note, 1)?;
            }
            self.title("what the server offers, one by one", "")?;
        }
        for offer in offers.iter().take(OFFERS) {
            let mut entry = said::offered(offer);
            self.entry_head(entry.class, &entry.subject, entry.note(), 1)?;
            self.row(INDENT, &[(Ink::Faint, &offer.difference.path)])?;
            match whole(offer) {
                // All of a tool says no more than its name; and only one side has it.
                Some(Change::Removed) => entry.seqs[1] = None,
                Some(_) => entry.seqs[0] = None,
                None => self.values(&entry)?,
            }
            self.spots(entry.seqs)?;
        }
        self.more(offers.len().saturating_sub(OFFERS) as u64)
    }

    fn groups(&mut self) -> Result<(), Failure> {
        let report = self.compared.report;
        let mut groups = grouped(report);
        for group in &mut groups {
            group.entries.retain(|entry| is_shown(entry.class, report));
        }
        groups.retain(|group| !group.entries.is_empty());
        for group in groups.iter().take(GROUPS) {
            self.group(group)?;
        }
        let more = groups.len().saturating_sub(GROUPS) as u64;
        if more > 0 {
            let what = plural(more, "more method");
            let what = format!("… and {what} or tools; --json has all that is kept");
            self.title("", &what)?;
        }
        Ok(())
    }

    fn group(&mut self, group: &Group<'_>) -> Result<(), Failure> {
        let title = words::call((group.method, group.name));
        let compared = match group.tally.compared {
            0 => String::new(),
            compared => format!("{} compared", count(compared)),
        };
        self.title(&title, &compared)?;
        for entry in group.entries.iter().take(ENTRIES) {
            self.entry_head(entry.class, &entry.subject, entry.note(), entry.times)?;
            self.values(entry)?;
            self.spots(entry.seqs)?;
        }
        let unshown = group.entries.len().saturating_sub(ENTRIES) as u64;
        self.more(unshown + group.more)
    }

    /// `  breaking  result.isError  the call fails now  (3 times, the first below)`.
    fn entry_head(
        &mut self,
        class: Option<Class>,
        subject: &str,
        note: &str,
        times: u64,
    ) -> Result<(), Failure> {
        let word = pad_end(class.map_or("skipped", Class::as_str), CLASS);
        let gap = if note.is_empty() { "" } else { "  " };
        let times = match times {
            1 => String::new(),
            times => format!("  ({} times, the first below)", count(times)),
        };
        let pieces = [
            (ink(class), &*format!("{word}  ")),
            (Ink::Strong, subject),
            (Ink::Plain, gap),
            (Ink::Plain, note),
            (Ink::Faint, &times),
        ];
        self.row("  ", &pieces)
    }

    fn values(&mut self, entry: &Entry<'_>) -> Result<(), Failure> {
        let Some(difference) = entry.difference else {
            return Ok(());
        };
        for (word, value) in [("was  ", &difference.left), ("is   ", &difference.right)] {
            if let Some(value) = value {
                let value = cut(value, VALUE);
                self.row(INDENT, &[(Ink::Faint, word), (Ink::Plain, &value)])?;
            }
        }
        Ok(())
    }

    /// The commands that open both sides, on one line if it has room: they are never cut.
    fn spots(&mut self, seqs: [Option<Seq>; 2]) -> Result<(), Failure> {
        let spots = opens(self.compared.parties, seqs);
        let together = spots.join("   ");
        let room = self.out.columns().unwrap_or(usize::MAX);
        let lines = if INDENT.len() + width(&together) <= room && !spots.is_empty() {
            vec![together]
        } else {
            spots
        };
        for line in lines {
            let line = self.out.paint(Ink::Faint, &line);
            self.out.line(&format!("{INDENT}{line}"))?;
        }
        Ok(())
    }

    fn more(&mut self, more: u64) -> Result<(), Failure> {
        if more == 0 {
            return Ok(());
        }
        let more = plural(more, "more difference");
        let more = format!("… and {more}; --json has all that is kept");
        self.row("  ", &[(Ink::Faint, &more)])
    }

    fn besides(&mut self) -> Result<(), Failure> {
        let report = self.compared.report;
        let noise = report.count(Class::Noise);
        let mut lines = Vec::new();
        if noise > 0 && !is_shown(Some(Class::Noise), report) {
            let noise = plural(noise, "difference");
            lines.push(format!(
                "{noise} as between any two runs: ids, times, tokens"
            ));
        }
        lines.extend(said::left_out(report));
        lines.extend(said::unfired(report, NAMED));
        if lines.is_empty() {
            return Ok(());
        }
        self.title("besides", "")?;
        let mut lines = lines.iter();
        lines.try_for_each(|line| self.row("  ", &[(Ink::Plain, line)]))
    }

    /// The title of a part, with an empty line before it.
    fn title(&mut self, title: &str, besides: &str) -> Result<(), Failure> {
        let gap = if besides.is_empty() { "" } else { "  " };
        self.out.line("")?;
        let pieces = [
            (Ink::Strong, title),
            (Ink::Plain, gap),
            (Ink::Faint, besides),
        ];
        self.row("", &pieces)
    }

    /// A line of pieces, cut to the width of the terminal.
    fn row(&mut self, indent: &str, pieces: &[(Ink, &str)]) -> Result<(), Failure> {
        let mut room = self.out.columns().unwrap_or(usize::MAX);
        room = room.saturating_sub(indent.len());
        let mut line = indent.to_owned();
        for (ink, text) in pieces {
            if room == 0 {
                break;
            }
            let text = cut(text, room);
            room = room.saturating_sub(width(&text));
            line.push_str(&self.out.paint(*ink, &text));
        }
        Ok(self.out.line(&line)?)
    }
}

/// Each tool, prompt and resource of which something differs, with the worst class and a note. The
/// offers come by their classes.
fn at_a_glance(offers: &[&Offer]) -> Vec<(String, Class, String)> {
    let mut at = HashMap::new();
    let mut all: Vec<(Counts, &Offer)> = Vec::new();
    for offer in offers {
        let nth = *at.entry(words::offered(offer)).or_insert(all.len());
        if nth == all.len() {
            all.push((Counts::default(), offer));
        }
        all[nth].0.add(offer.difference.class, 1);
    }
    let classes = Class::ALL.iter().filter(|class| **class != Class::Noise);
    let told = all.into_iter().map(|(counts, worst)| {
        let note = worst.difference.note.as_deref().unwrap_or_default();
        let note = match classes.clone().map(|class| counts.of(*class)).sum() {
            0 | 1 => note.to_owned(),
            2_u64.. => format!("{}, such as {note}", words::counted(counts)),
        };
        (
            words::offered(worst),
            worst.difference.class,
            cut(&note, NOTE),
        )
    });
    told.collect()
}

/// How something that is offered came or went as a whole, `None` where something in it differs.
fn whole(offer: &Offer) -> Option<Change> {
    let difference = &offer.difference;
    let is_whole = !offer.name.is_empty() && difference.path.ends_with(']');
    let one_sided = matches!(difference.change, Change::Removed | Change::Added);
    (is_whole && one_sided).then_some(difference.change)
}

/// What differs between any two runs is counted only, unless it fails.
fn is_shown(class: Option<Class>, report: &Report) -> bool {
    class != Some(Class::Noise) || report.fail_on.fails(Class::Noise)
}

/// `7f3a  weather-server 1.2.0, 31 exchanges`.
fn named(party: &Party) -> String {
    let extent = party.extent();
    let comma = if extent.is_empty() { "" } else { ", " };
    format!("{}  {}{comma}{extent}", party.short(), party.server())
}

fn ink(class: Option<Class>) -> Ink {
    match class {
        Some(Class::Breaking) => Ink::Bad,
        Some(Class::Changed | Class::Latency) => Ink::Warn,
        Some(Class::Added) => Ink::Good,
        Some(Class::Order) => Ink::Plain,
        Some(Class::Noise) | None => Ink::Faint,
    }
}
