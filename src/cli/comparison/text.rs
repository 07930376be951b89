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

use super::grouped::{Entry, Group, What, grouped};
use super::members::{Member, members};
use super::party::opens;
use super::pen::Pen;
use super::words;
use super::{Compared, Party};
use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use mcpreel_replay::compare::{Change, Class};
use mcpreel_replay::report::{Difference, Offer, Report};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{count, cut, pad_end, plural};

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

/// Writes it.
pub fn write(compared: &Compared<'_>, out: &mut Output) -> Result<(), Failure> {
    let mut text = Text {
        pen: Pen::new(out),
        compared,
    };
    text.head()?;
    text.offers()?;
    text.groups()?;
    text.besides()
}

/// A text being written.
struct Text<'r, 'o> {
    pen: Pen<'o>,
    compared: &'r Compared<'r>,
}

impl<'r> Text<'r, '_> {
    fn head(&mut self) -> Result<(), Failure> {
        let report = self.compared.report;
        let ink = match report.exit_code() {
            0 => Ink::Good,
            _ => Ink::Bad,
        };
        let verdict = words::verdict(self.compared);
        self.pen.row("", &[(ink, &verdict)])?;
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
        self.pen
            .row("  ", &[(Ink::Faint, &word), (Ink::Plain, text)])
    }

    fn offers(&mut self) -> Result<(), Failure> {
        let report = self.compared.report;
        let mut offers: Vec<_> = report.offers.iter().collect();
        offers.retain(|offer| is_shown(Some(offer.difference.class), report));
        offers.sort_by_key(|offer| offer.difference.class);
        if offers.is_empty() {
            return Ok(());
        }
        self.pen.title("what the server offers", "")?;
        if offers.len() > AT_A_GLANCE {
            for Member {
                subject,
                class,
                note,
            } in members(&offers).iter().take(OFFERS)
            {
                self.entry_head(Some(*class), subject, note, 1)?;
            }
            self.pen.title("what the server offers, one by one", "")?;
        }
        for offer in offers.iter().take(OFFERS) {
            let difference = &offer.difference;
            let note = difference.note.as_deref().unwrap_or_default();
            let subject = words::offered(offer);
            self.entry_head(Some(difference.class), &subject, note, 1)?;
            self.pen.row(INDENT, &[(Ink::Faint, &difference.path)])?;
            let (left, right) = (offer.left, offer.right);
            let spots = match whole(offer) {
                // All of a tool says no more than its name; and only one side has it.
                Some(Change::Removed) => [left, None],
                Some(_) => [None, right],
                None => {
                    self.values(difference)?;
                    [left, right]
                }
            };
            self.spots(spots)?;
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
            self.pen.title("", &what)?;
        }
        Ok(())
    }

    fn group(&mut self, group: &Group<'r>) -> Result<(), Failure> {
        let title = words::call((group.method, group.name));
        let compared = match group.tally.compared {
            0 => String::new(),
            compared => format!("{} compared", count(compared)),
        };
        self.pen.title(&title, &compared)?;
        for entry in group.entries.iter().take(ENTRIES) {
            self.entry(entry)?;
        }
        let unshown = group.entries.len().saturating_sub(ENTRIES) as u64;
        self.more(unshown + group.more)
    }

    fn entry(&mut self, entry: &Entry<'r>) -> Result<(), Failure> {
        let (subject, note, difference) = match &entry.what {
            What::Said(said) => (said.clone(), "", None),
            What::Differs(difference) => {
                let note = difference.note.as_deref().unwrap_or_default();
                (words::place(difference), note, Some(*difference))
            }
        };
        self.entry_head(entry.class, &subject, note, entry.times)?;
        if let Some(difference) = difference {
            self.values(difference)?;
        }
        self.spots(entry.seqs)
    }

    /// `  breaking  result.isError  the call fails now  (3 times, the first below)`.
    fn entry_head(
        &mut self,
        class: Option<Class>,
        subject: &str,
        note: &str,
        times: u64,
    ) -> Result<(), Failure> {
        let word = format!(
            "{}  ",
            pad_end(class.map_or("skipped", Class::as_str), CLASS)
        );
        let gap = if note.is_empty() { "" } else { "  " };
        let times = match times {
            1 => String::new(),
            times => format!("  ({} times, the first below)", count(times)),
        };
        let pieces = [
            (ink(class), word.as_str()),
            (Ink::Strong, subject),
            (Ink::Plain, gap),
            (Ink::Plain, note),
            (Ink::Faint, &times),
        ];
        self.pen.row("  ", &pieces)
    }

    fn values(&mut self, difference: &Difference) -> Result<(), Failure> {
        for (word, value) in [("was  ", &difference.left), ("is   ", &difference.right)] {
            if let Some(value) = value {
                let value = cut(value, VALUE);
                self.pen
                    .row(INDENT, &[(Ink::Faint, word), (Ink::Plain, &value)])?;
            }
        }
        Ok(())
    }

    /// The commands that open both sides.
    fn spots(&mut self, seqs: [Option<Seq>; 2]) -> Result<(), Failure> {
        let spots = opens(self.compared.parties, seqs);
        let together = spots.join("   ");
        if spots.len() > 1 && self.pen.fits(INDENT, &together) {
            return self.pen.whole(INDENT, Ink::Faint, &together);
        }
        let mut spots = spots.iter();
        spots.try_for_each(|spot| self.pen.whole(INDENT, Ink::Faint, spot))
    }

    fn more(&mut self, more: u64) -> Result<(), Failure> {
        if more == 0 {
            return Ok(());
        }
        let more = plural(more, "more difference");
        let more = format!("… and {more}; --json has all that is kept");
        self.pen.row("  ", &[(Ink::Faint, &more)])
    }

    fn besides(&mut self) -> Result<(), Failure> {
        let report = self.compared.report;
        let noise = report.count(Class::Noise);
        let mut lines = words::left_out(report);
        if noise > 0 && !is_shown(Some(Class::Noise), report) {
            let noise = plural(noise, "difference");
            lines.insert(
                0,
                format!("{noise} as between any two runs: ids, times, tokens"),
            );
        }
        lines.extend(words::unfired(report, NAMED));
        if lines.is_empty() {
            return Ok(());
        }
        self.pen.title("besides", "")?;
        let mut lines = lines.iter();
        lines.try_for_each(|line| self.pen.row("  ", &[(Ink::Plain, line)]))
    }
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
