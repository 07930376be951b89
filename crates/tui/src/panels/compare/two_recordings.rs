//! Two recordings, call beside call; also a recording and its replay.

use super::compare_draw::{Compared, Row};
use super::{progress, short};
use crate::theme::Role;
use crate::worker::{Failure, Place, Which};
use mcpreel_replay::diff::{
    self, Account, Class, Difference, Judge, Outcome, Pair, PairSide, Report, Trouble, Wanted,
    words,
};
use mcpreel_replay::rules::files;
use mcpreel_share::phrases::recording;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::ItemKey;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{count, duration, escape, plural};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// How often progress is told, nanoseconds.
const TOLD_NS: u64 = 100_000_000;

/// Exchanges that are read at once.
const PAGE: u32 = 500;

/// A call, with the rounds of input that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only {
    pub id: ExchangeId,
    pub chain: Option<ExchangeId>,
}

impl Only {
    /// Whether `exchange` has to be made so that the call can be: the handshake, the call itself,
    /// and its rounds of input.
    pub fn needs(&self, exchange: &Exchange) -> bool {
        let same_chain = self.chain.is_some() && exchange.chain == self.chain;
        &*exchange.method == "initialize" || exchange.id == self.id || same_chain
    }
}

/// What a replay said that was made just now.
#[derive(Debug)]
pub struct Replayed {
    pub report: Report,
    /// Nothing after this frame was replayed.
    pub until: Seq,
    pub only: Option<Only>,
    /// Values that the server had chosen, and what was sent in their place.
    pub bound: Vec<(Box<str>, Box<str>)>,
    /// The frame of the request that the replay was made for.
    pub shows: Option<Seq>,
}

/// Compares two recordings as `mcpreel diff` does, with the rules beside the left one; `None` if a
/// newer question waits.
pub fn compare(
    place: &Place<'_>,
    left: &Which,
    right: &Path,
    replayed: Option<&Replayed>,
) -> Result<Option<Compared>, Failure> {
    let left = place.open(left)?;
    let right = place.open(&Which::File(right.to_owned()))?;
    let titles = [title(&left)?, title(&right)?];
    // What the server asked elsewhere, it may ask in a part of the session as well.
    let mut elsewhere = HashSet::new();
    let wanted = match replayed {
        Some(replayed) => Wanted::Part(part(&left, replayed, &mut elsewhere)?),
        None => Wanted::All,
    };
    let options = diff::Options {
        pairs: replayed.map_or_else(Vec::new, |replayed| replayed.bound.clone()),
        ..diff::Options::default()
    };
    let (rules, _) = files::read(&[], left.path())?;
    let mut judge = Judge::new(rules, options);
    let mut told_ns = place.means.clock.now().0;
    let mut goes_on = |done: usize, of: usize| {
        let now = place.means.clock.now().0;
        if now.saturating_sub(told_ns) >= TOLD_NS {
            told_ns = now;
            let of = plural(of as u64, "exchange");
            progress(place, format!("{} of {of} compared", count(done as u64)));
        }
        !place.is_stopped()
    };
    let done = diff::recordings([&left, &right], &wanted, &mut judge, &mut goes_on)?;
    let Some(diff::Compared { pairs, bound }) = done.filter(|_| !place.is_stopped()) else {
        return Ok(None);
    };
    let mut compared = Compared {
        title: titles.join(" | "),
        paths: [left.path().to_owned(), right.path().to_owned()],
        bound: Some(Arc::new(bound)),
        ..Compared::default()
    };
    let report = judge.finish();
    let whole = replayed.map_or(&report, |replayed| &replayed.report);
    add_whole(&mut compared.rows, whole);
    add_offers(&mut compared.rows, &report);
    compared.rows.push(Row::new(Role::Title, "call by call"));
    let first = compared.rows.len();
    let not_reached = add_calls(&mut compared.rows, &pairs, &report, replayed, &elsewhere);
    let calls = compared.rows[first..].iter();
    let calls = calls.filter(|row| row.class.is_none());
    let (same, not_tried): (Vec<_>, Vec<_>) = calls.partition(|row| row.same > 0);
    let told = [
        (Role::Text, same.len(), "the same"),
        (Role::Warn, not_tried.len(), "not tried"),
        (Role::Faint, not_reached, "not reached"),
    ];
    compared.is_untried = !not_tried.is_empty();
    for (role, number, what) in told.into_iter().filter(|(_, number, _)| *number > 0) {
        let text = format!("{} {what}", count(number as u64));
        compared.remarks.push((role, text));
    }
    Ok(Some(compared))
}

fn title(of: &Recording) -> Result<String, ReadError> {
    let summary = of.summary()?;
    let title = format!("{} {}", short(&summary.id), recording::title_of(&summary));
    Ok(match &*summary.origin {
        "live" => title,
        origin => format!("{title}, {}", escape(origin)),
    })
}

/// The exchanges that were to be replayed, and all that the server asked; requests of the server
/// that the replay may do without are added to `elsewhere`.
fn part(
    left: &Recording,
    replayed: &Replayed,
    elsewhere: &mut HashSet<Seq>,
) -> Result<HashSet<ExchangeId>, ReadError> {
    let mut part = HashSet::new();
    let mut after = ExchangeId(0);
    loop {
        let page = left.exchanges(after, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(part);
        };
        after = last.id;
        for exchange in &page {
            let is_reached = exchange.request.0 <= replayed.until;
            let is_needed = replayed.only.as_ref().is_none_or(|only| {
                let parent = exchange.parent;
                only.needs(exchange) || parent.is_some_and(|parent| part.contains(&parent))
            });
            if is_reached && is_needed {
                part.insert(exchange.id);
            } else if exchange.direction == Direction::ServerToClient {
                part.insert(exchange.id);
                elsewhere.insert(exchange.request.0);
            }
        }
    }
}

/// Adds what is said of the sessions as a whole.
fn add_whole(rows: &mut Vec<Row>, report: &Report) {
    let mut said: Vec<(Option<Class>, String)> = Vec::new();
    if report.redacted > 0 {
        let values = plural(report.redacted, "value");
        said.push((None, format!("{values} {}", words::REDACTED)));
    }
    for account in &report.accounts {
        if let Outcome::Remark(text) = &account.outcome {
            let call = words::call((&account.method, account.name.as_deref()));
            let text = match &*account.method {
                "" => text.to_string(),
                _ => format!("{call}: {text}"),
            };
            said.push((account.class, text));
        }
    }
    for (trouble, text) in &report.troubles {
        // A call that was refused says so itself.
        let is_told =
            *trouble == Trouble::Refused || said.iter().any(|(_, known)| **known == **text);
        if !is_told {
            said.push((None, text.to_string()));
        }
    }
    if !said.is_empty() {
        rows.push(Row::new(Role::Title, "as a whole"));
    }
    rows.extend(said.into_iter().map(|(class, text)| Row {
        class,
        head: "as a whole".to_owned(),
        below: vec![(None, text.clone())],
        ..Row::new(Role::Text, text)
    }));
}

/// Adds what differs in what the server offers, the gravest first.
fn add_offers(rows: &mut Vec<Row>, report: &Report) {
    let mut offers: Vec<_> = report.offers.iter().collect();
    offers.sort_by_key(|offer| offer.difference.class);
    if !offers.is_empty() {
        rows.push(Row::new(Role::Title, "what the server offers"));
    }
    rows.extend(offers.into_iter().map(|offer| {
        let difference = &offer.difference;
        let what = words::offered(offer);
        let note = difference.note.as_ref().unwrap_or(&difference.path);
        Row {
            class: Some(difference.class),
            calls: [offer.left, offer.right].map(|seq| Some(ItemKey::of_part(seq?, 0))),
            head: what.clone(),
            below: vec![paragraph(difference)],
            ..Row::new(Role::Text, format!("{what}: {note}"))
        }
    }));
}

/// Adds a row for each pair. Returns how many exchanges a replay was to make and never reached: they
/// have no row.
fn add_calls(
    rows: &mut Vec<Row>,
    pairs: &[Pair],
    report: &Report,
    replayed: Option<&Replayed>,
    elsewhere: &HashSet<Seq>,
) -> usize {
    let accounts = report.accounts.iter().rev();
    let accounts = accounts.filter(|one| !matches!(one.outcome, Outcome::Remark(_)));
    let accounts: HashMap<_, _> = accounts.map(|one| ([one.left, one.right], one)).collect();
    // The replay knows why something was not tried.
    let missing = replayed
        .iter()
        .flat_map(|replayed| &replayed.report.accounts);
    let missing = missing.filter(|account| is_missing(account));
    let missing: HashMap<_, _> = missing.map(|account| (account.left, account)).collect();
    let mut lists: HashMap<_, Class> = HashMap::new();
    for offer in &report.offers {
        let class = offer.difference.class;
        let worst = lists.entry([offer.left, offer.right]).or_insert(class);
        *worst = class.min(*worst);
    }
    let mut not_reached = 0;
    for pair in pairs {
        let seqs = pair.sides.map(|side| side.map(|side| side.request.0));
        let account = match (replayed, seqs) {
            (Some(_), [Some(left), None]) => {
                let account = missing.get(&Some(left)).copied();
                if account.is_none() {
                    not_reached += usize::from(!elsewhere.contains(&left));
                    continue;
                }
                account
            }
            _ => accounts.get(&seqs).copied(),
        };
        let mut row = row_of(pair, account);
        if let Some(class) = lists.get(&seqs) {
            // Rows of what the server offers count the difference.
            row.is_told = account.is_none();
            // What the list has more is added, the list is changed.
            let class = match class {
                Class::Added if !seqs.contains(&None) => Class::Changed,
                class => *class,
            };
            row.class = Some(row.class.map_or(class, |known| known.min(class)));
            row.same = 0;
        }
        rows.push(row);
    }
    not_reached
}

fn is_missing(account: &Account) -> bool {
    match &account.outcome {
        // The server has not got so far as to ask it.
        Outcome::NeverAsked => account.left.is_some(),
        Outcome::Differs | Outcome::More | Outcome::Remark(_) => false,
        _ => true,
    }
}

fn row_of(pair: &Pair, account: Option<&Account>) -> Row {
    let name = pair.name.as_deref().map(diff::name);
    let label = words::call((&diff::name(&pair.method), name.as_deref()));
    let said = account.and_then(|account| words::outcome(account).1);
    let sides = pair.sides.map(|side| match side {
        Some(side) => {
            let latency = side.latency_ns.map(duration).unwrap_or_default();
            let text = format!("#{} {} {latency}", side.request.0.0, side.status.as_str());
            Some(text.trim_end().into())
        }
        // What became of the exchange stands where the other side would be.
        None => Some(said.as_deref().unwrap_or_default().into()),
    });
    let class = match (pair.sides, account) {
        ([Some(_), None], Some(account)) => account.class,
        _ => pair.class,
    };
    let mut paragraphs: Vec<_> = said.iter().map(|said| (None, said.clone())).collect();
    if let Some(account) = account {
        let differences = account.differences.iter();
        paragraphs.extend(differences.map(paragraph));
        if account.more > 0 {
            let more = plural(account.more, "more difference");
            paragraphs.push((None, format!("and {more}")));
        }
    }
    let is_same = class.is_none_or(|class| class == Class::Noise) && said.is_none();
    let call = |side: PairSide| ItemKey::of_part(side.request.0, side.request.1);
    Row {
        class,
        same: u64::from(is_same),
        calls: pair.sides.map(|side| side.map(call)),
        // Most rows have no paragraphs: the name is not kept twice.
        head: if paragraphs.is_empty() {
            String::new()
        } else {
            label.clone()
        },
        below: paragraphs,
        sides,
        ..Row::new(Role::Text, label)
    }
}

fn paragraph(difference: &Difference) -> (Option<Class>, String) {
    let class = difference.class;
    let text = format!("{}  {}", class.as_str(), words::in_words(difference));
    (Some(class), text)
}
