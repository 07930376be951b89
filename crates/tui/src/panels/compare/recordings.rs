//! Two recordings, call beside call; also a recording and its replay.

use super::compare_calls::Call as OneCall;
use super::draw::{role, sign};
use super::{Content, Drawing, Opens, progress, short};
use crate::theme::{Glyph, Look, Role};
use crate::widget::spans::{self, Spans};
use crate::worker::{Place, Which};
use mcpreel_replay::diff::{
    self, Account, Bound, Call, Class, Difference, Judge, Missing, Outcome, PairSide, Report, Skip,
    Trouble, Wanted, words,
};
use mcpreel_replay::rules::files;
use mcpreel_share::phrases::{recording, sentence};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{count, cut, duration, escape, pad_end, plural, width, wrap};
use ratatui::text::Line;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often it is told how far it is, nanoseconds.
const TOLD_NS: u64 = 100_000_000;

/// Exchanges that are read at once.
const PAGE: u32 = 500;

#[derive(Debug)]
struct Recordings {
    /// The one to go by, and the other one.
    sides: [Side; 2],
    report: Report,
    /// Methods, each with its tool, prompt or resource. Escaped.
    calls: Vec<Call>,
    /// All exchanges, in the order of the left side.
    pairs: Vec<Pair>,
    /// What the server chose on the left and what stands for it on the right, as far as known.
    bound: Arc<Bound>,
    /// Sentences about the sessions as a whole, escaped, and how much each matters.
    said: Vec<(Option<Class>, Box<str>)>,
    /// Exchanges of the left side that were not to be replayed.
    left_out: u64,
    /// Why the call that was to be replayed was not made: one sentence, escaped.
    not_made: Option<Box<str>>,
    rows: Vec<Row>,
    changes: Vec<usize>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    /// Calls, offers and sentences about the whole of each class.
    of: [u64; Class::ALL.len()],
    same: u64,
    not_tried: u64,
}

#[derive(Debug)]
struct Side {
    path: PathBuf,
    short: String,
    /// The server and what made the recording, escaped.
    title: String,
}

/// An exchange of both sides, or of one.
#[derive(Debug)]
struct Pair {
    sides: [Option<PairSide>; 2],
    /// Which call it is: a place in [`Recordings::calls`].
    call: usize,
    /// The worst that differs; none where nothing does, or where it was not tried.
    class: Option<Class>,
    /// Whether the difference is said already, of what the server offers.
    is_listed: bool,
    /// The account of it: a place in the accounts of [`Recordings::report`].
    account: Option<usize>,
    /// What became of it, in a sentence, escaped.
    said: Option<Box<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Head(&'static str),
    /// A sentence about the sessions as a whole.
    Said(usize),
    /// Something that the server offers.
    Offer(usize),
    Pair(usize),
    /// So many exchanges that are the same; of so many of them but for noise.
    Folded(usize, usize),
}

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

/// Compares two recordings as `mcpreel diff` does, with the rules beside the left one; nothing if a
/// newer question waits.
pub fn compare(
    place: &Place<'_>,
    left: &Which,
    right: &Path,
    replayed: Option<&Replayed>,
) -> Result<Option<Box<dyn Content>>, String> {
    let both = [
        place.open(left)?,
        place.open(&Which::File(right.to_owned()))?,
    ];
    let [left, right] = &both;
    let sides = [side(left)?, side(right)?];
    let mut besides = HashSet::new();
    let wanted = match replayed {
        Some(replayed) => {
            let part = part(left, replayed, &mut besides);
            Wanted::Part(part.map_err(|error| sentence(&error))?)
        }
        None => Wanted::All,
    };
    let options = diff::Options {
        pairs: replayed.map_or_else(Vec::new, |replayed| replayed.bound.clone()),
        ..diff::Options::default()
    };
    let (rules, _) = files::read(&[], left.path()).map_err(|error| sentence(&error))?;
    let mut judge = Judge::new(rules, options);
    let (mut is_stopped, mut told_ns) = (false, place.means.clock.now().0);
    let mut goes_on = |done: usize, of: usize| {
        let now = place.means.clock.now().0;
        if now.saturating_sub(told_ns) >= TOLD_NS {
            told_ns = now;
            let of = plural(of as u64, "exchange");
            let far = match done {
                0 => format!("{of} read"),
                done => format!("{} of {of} compared", count(done as u64)),
            };
            progress(place, far);
            is_stopped |= place.is_stopped();
        }
        !is_stopped
    };
    let done = diff::recordings([left, right], &wanted, &mut judge, &mut goes_on);
    let done = done.map_err(|error| sentence(&error))?;
    let Some(diff::Compared { pairs, bound }) = done.filter(|_| !is_stopped) else {
        return Ok(None);
    };
    let mut calls = Calls::default();
    let mut compared = Recordings {
        sides,
        pairs: pairs.iter().map(|pair| calls.pair(pair)).collect(),
        calls: calls.all,
        report: judge.finish(),
        bound: Arc::new(bound),
        said: Vec::new(),
        left_out: 0,
        not_made: None,
        rows: Vec::new(),
        changes: Vec::new(),
        counts: Counts::default(),
    };
    compared.tell_of_lists();
    compared.tell_of_accounts();
    match replayed {
        Some(replayed) => {
            compared.tell_of_replay(&replayed.report, &besides);
            compared.not_made = compared.why_not_made(replayed);
        }
        None => tell_of_whole(&mut compared.said, &compared.report),
    }
    compared.counts = compared.counted();
    compared.fold(false);
    Ok(Some(Box::new(compared)))
}

/// The exchanges that were to be replayed, and what the server asked within them; and, noted in
/// `besides`, what it asked elsewhere, which it may ask in a part of the session as well.
fn part(
    left: &Recording,
    replayed: &Replayed,
    besides: &mut HashSet<Seq>,
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
                besides.insert(exchange.request.0);
            }
        }
    }
}

fn side(of: &Recording) -> Result<Side, String> {
    let summary = of.summary().map_err(|error| sentence(&error))?;
    let title = recording::title_of(&summary);
    Ok(Side {
        path: of.path().to_owned(),
        short: short(&summary.id),
        title: match &*summary.origin {
            "live" => title,
            origin => format!("{title}, {}", escape(origin)),
        },
    })
}

/// Calls that are told apart, each kept once.
#[derive(Default)]
struct Calls {
    all: Vec<Call>,
    known: HashMap<Call, usize>,
}

impl Calls {
    fn pair(&mut self, pair: &diff::Pair) -> Pair {
        let name = pair.name.as_deref().map(diff::name);
        let calls = &mut self.all;
        let call = self.known.entry((diff::name(&pair.method), name));
        let call = *call.or_insert_with_key(|call| {
            calls.push(call.clone());
            calls.len() - 1
        });
        Pair {
            sides: pair.sides,
            call,
            class: pair.class,
            is_listed: false,
            account: None,
            said: None,
        }
    }
}

/// The frames of the requests on both sides.
fn seqs(pair: &Pair) -> [Option<Seq>; 2] {
    pair.sides.map(|side| side.map(|side| side.request.0))
}

impl Recordings {
    /// What differs in a list is known when all pages of it are there.
    fn tell_of_lists(&mut self) {
        let mut worst = HashMap::new();
        for offer in &self.report.offers {
            let class = offer.difference.class;
            let known = worst.entry([offer.left, offer.right]).or_insert(class);
            *known = class.min(*known);
        }
        for pair in &mut self.pairs {
            if let Some(class) = worst.get(&seqs(pair)) {
                pair.is_listed = true;
                pair.class = Some(pair.class.map_or(*class, |known| known.min(*class)));
            }
        }
    }

    /// What is said of single exchanges.
    fn tell_of_accounts(&mut self) {
        let mut places = HashMap::new();
        for (at, account) in self.report.accounts.iter().enumerate() {
            if !matches!(account.outcome, Outcome::Remark(_)) {
                places.entry([account.left, account.right]).or_insert(at);
            }
        }
        for pair in &mut self.pairs {
            pair.account = places.get(&seqs(pair)).copied();
            pair.is_listed &= pair.account.is_none();
            let account = pair.account.and_then(|at| self.report.accounts.get(at));
            pair.said = account.and_then(words::said).map(Into::into);
        }
    }

    /// What the replay itself said counts more: it knows why something was not tried. Exchanges
    /// that were not to be replayed are left out.
    fn tell_of_replay(&mut self, replay: &Report, besides: &HashSet<Seq>) {
        let missing = replay.accounts.iter().filter(|account| is_missing(account));
        let missing: HashMap<Option<Seq>, &Account> =
            missing.map(|account| (account.left, account)).collect();
        let mut left_out = 0;
        self.pairs.retain_mut(|pair| {
            let [Some(left), None] = pair.sides else {
                return true;
            };
            let Some(account) = missing.get(&Some(left.request.0)) else {
                left_out += u64::from(!besides.contains(&left.request.0));
                return false;
            };
            pair.class = account.class;
            pair.account = None;
            pair.said = words::said(account).map(Into::into);
            true
        });
        self.left_out = left_out;
        tell_of_whole(&mut self.said, replay);
    }

    /// Why the call that was replayed was not made, if it was not.
    fn why_not_made(&self, replayed: &Replayed) -> Option<Box<str>> {
        let shows = replayed.shows?;
        let accounts = replayed.report.accounts.iter();
        let mut accounts = accounts.filter(|account| account.left == Some(shows));
        let why = accounts.find_map(|account| match &account.outcome {
            Outcome::Missing(Missing::Skipped(Skip::Unreached(what))) => Some(what.to_string()),
            Outcome::Missing(Missing::Skipped(_) | Missing::Refused(_)) => words::said(account),
            _ => None,
        })?;
        let is_it =
            |pair: &Pair| matches!(pair.sides, [Some(left), Some(_)] if left.request.0 == shows);
        if self.pairs.iter().any(is_it) {
            return None;
        }
        // What the call lacks may be had with more of the session.
        let hint = match replayed.only {
            Some(_) if why.starts_with("needs") => "; on the call `a u` sends all up to it",
            _ => "",
        };
        Some(format!("not replayed: {why}{hint}").into())
    }

    fn counted(&self) -> Counts {
        let mut counts = Counts::default();
        let said = self.said.iter().filter_map(|(class, _)| *class);
        let offers = self.report.offers.iter();
        for class in said.chain(offers.map(|offer| offer.difference.class)) {
            counts.of[class as usize] += 1;
        }
        for pair in self.pairs.iter().filter(|pair| !pair.is_listed) {
            match (pair.class, &pair.said) {
                (Some(class), _) => counts.of[class as usize] += 1,
                (None, None) => counts.same += 1,
                (None, Some(_)) => counts.not_tried += 1,
            }
        }
        counts
    }

    fn pair(&self, row: Row) -> Option<&Pair> {
        match row {
            Row::Pair(at) => self.pairs.get(at),
            _ => None,
        }
    }

    fn class_of(&self, row: Row) -> Option<Class> {
        match row {
            Row::Head(_) | Row::Folded(..) => None,
            Row::Said(at) => self.said.get(at)?.0,
            Row::Offer(at) => Some(self.report.offers.get(at)?.difference.class),
            Row::Pair(at) => self.pairs.get(at)?.class,
        }
    }

    /// The requests on both sides that a row is about.
    fn requests(&self, row: usize) -> [Option<(Seq, u32)>; 2] {
        match self.rows.get(row) {
            Some(Row::Offer(at)) => {
                let offer = self.report.offers.get(*at);
                let seqs = offer.map_or([None; 2], |offer| [offer.left, offer.right]);
                seqs.map(|seq| seq.map(|seq| (seq, 0)))
            }
            Some(row) => {
                let sides = self.pair(*row).map_or([None; 2], |pair| pair.sides);
                sides.map(|side| side.map(|side| side.request))
            }
            None => [None; 2],
        }
    }

    /// `tools/call search`, escaped.
    fn call(&self, pair: &Pair) -> String {
        let call = self.calls.get(pair.call);
        call.map_or_else(String::new, |(method, name)| {
            words::call((method, name.as_deref()))
        })
    }

    /// The text of a row that is about no single call.
    fn told(&self, row: Row) -> String {
        match row {
            Row::Said(at) => self
                .said
                .get(at)
                .map_or(String::new(), |(_, text)| text.to_string()),
            Row::Offer(at) => self
                .report
                .offers
                .get(at)
                .map_or_else(String::new, |offer| {
                    let note = offer
                        .difference
                        .note
                        .as_ref()
                        .unwrap_or(&offer.difference.path);
                    format!("{}: {note}", words::offered(offer))
                }),
            _ => String::new(),
        }
    }

    fn line_of_pair(&self, pair: &Pair, drawing: &Drawing<'_>) -> Vec<Line<'static>> {
        let call = self.call(pair);
        let seq = |side: usize| pair.sides[side].map(|side| format!("#{}", side.request.0.0));
        let said = || pair.said.as_deref().unwrap_or_default().to_owned();
        if drawing.beside {
            let rooms = drawing.sides();
            // What became of it stands where the other side would be.
            let side = |at: usize| match (seq(at), pair.sides[at]) {
                (Some(seq), Some(side)) => justified(
                    &format!("{seq} {call}"),
                    &went(drawing.look, &side),
                    rooms[at],
                ),
                _ => said(),
            };
            return drawing.both(pair.class, [Some(side(0)), Some(side(1))]);
        }
        let arrow = drawing.look.glyph(Glyph::ToServer);
        let (seqs, went) = match (seq(0), seq(1)) {
            (Some(left), Some(right)) => {
                let [was, is] = pair
                    .sides
                    .map(|side| side.map_or("", |side| side.status.as_str()));
                let went = if was == is {
                    was.to_owned()
                } else {
                    format!("{was} {arrow} {is}")
                };
                (format!("{left} {arrow} {right}"), went)
            }
            (left, right) => (left.or(right).unwrap_or_default(), said()),
        };
        let text = justified(&format!("{seqs} {call}"), &went, drawing.room());
        vec![drawing.one(pair.class, pair.class.map_or(Role::Text, role), &text)]
    }
}

fn is_missing(account: &Account) -> bool {
    match &account.outcome {
        // The server has not got so far as to ask it.
        Outcome::Missing(Missing::NeverAsked) => account.left.is_some(),
        Outcome::Missing(_) => true,
        _ => false,
    }
}

/// What is said of the sessions as a whole, the decisive first.
fn tell_of_whole(said: &mut Vec<(Option<Class>, Box<str>)>, report: &Report) {
    let remarks = report.accounts.iter().filter_map(|account| {
        let is_remark = matches!(account.outcome, Outcome::Remark(_));
        let text = words::said(account).filter(|_| is_remark)?;
        let text = match &*account.method {
            "" => text,
            method => {
                let call = words::call((method, account.name.as_deref()));
                format!("{call}: {text}")
            }
        };
        Some((account.class, text.into()))
    });
    let remarks: Vec<(Option<Class>, Box<str>)> = remarks.collect();
    if report.redacted > 0 {
        let values = plural(report.redacted, "value");
        let text = format!("{values} {}", words::REDACTED);
        said.push((None, text.into()));
    }
    for (trouble, text) in &report.troubles {
        // A call that was refused says so itself.
        let is_told = *trouble == Trouble::Refused || said.iter().any(|(_, known)| known == text);
        if !is_told && !remarks.iter().any(|(_, known)| known == text) {
            said.push((None, text.clone()));
        }
    }
    said.extend(remarks);
}

impl Content for Recordings {
    fn title(&self) -> String {
        let sides = self.sides.each_ref();
        sides
            .map(|side| format!("{} {}", side.short, side.title))
            .join(" | ")
    }

    fn fold(&mut self, unfolded: bool) {
        let mut rows = Vec::new();
        if !self.said.is_empty() {
            rows.push(Row::Head("as a whole"));
            rows.extend((0..self.said.len()).map(Row::Said));
        }
        let mut offers: Vec<_> = (0..self.report.offers.len()).map(Row::Offer).collect();
        offers.retain(|row| unfolded || self.class_of(*row) != Some(Class::Noise));
        offers.sort_by_key(|row| self.class_of(*row));
        if !offers.is_empty() {
            rows.push(Row::Head("what the server offers"));
            rows.extend(offers);
        }
        rows.push(Row::Head("call by call"));
        let (mut same, mut noise) = (0, 0);
        for (at, pair) in self.pairs.iter().enumerate() {
            let is_same =
                pair.class.is_none_or(|class| class == Class::Noise) && pair.said.is_none();
            if !unfolded && is_same {
                same += 1;
                noise += usize::from(pair.class.is_some());
                continue;
            }
            if same > 0 {
                rows.push(Row::Folded(same, noise));
                (same, noise) = (0, 0);
            }
            rows.push(Row::Pair(at));
        }
        if same > 0 {
            rows.push(Row::Folded(same, noise));
        }
        let of = |wanted: fn(Class) -> bool| {
            let is_listed = |row: &Row| self.pair(*row).is_some_and(|pair| pair.is_listed);
            let rows = rows.iter().enumerate().filter(|(_, row)| !is_listed(row));
            let changes = rows.filter(|(_, row)| self.class_of(**row).is_some_and(wanted));
            changes.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let changes = of(|class| class != Class::Noise);
        self.changes = if changes.is_empty() {
            of(|_| true)
        } else {
            changes
        };
        self.rows = rows;
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn changes(&self) -> &[usize] {
        &self.changes
    }

    fn class(&self, row: usize) -> Option<Class> {
        self.class_of(*self.rows.get(row)?)
    }

    fn count(&self, class: Class) -> u64 {
        self.counts.of[class as usize]
    }

    fn not_made(&self) -> Option<&str> {
        self.not_made.as_deref()
    }

    fn remarks(&self, look: &Look) -> Spans {
        let mut remarks = vec![(Role::Text, format!("{} the same", count(self.counts.same)))];
        if self.counts.not_tried > 0 {
            let warning = look.glyph(Glyph::Warning);
            let not_tried = count(self.counts.not_tried);
            remarks.push((Role::Warn, format!("{warning} {not_tried} not tried")));
        }
        if self.left_out > 0 {
            remarks.push((Role::Faint, format!("{} not reached", count(self.left_out))));
        }
        remarks
    }

    fn lines_at_most(&self, _beside: bool) -> usize {
        1
    }

    fn lines(&self, row: usize, drawing: &Drawing<'_>) -> Vec<Line<'static>> {
        let Some(row) = self.rows.get(row).copied() else {
            return Vec::new();
        };
        match row {
            Row::Head(title) => vec![drawing.one(None, Role::Title, title)],
            Row::Folded(same, noise) => {
                let ellipsis = drawing.look.glyph(Glyph::Ellipsis);
                let mut text = format!("  {ellipsis} {} the same", count(same as u64));
                if noise > 0 {
                    let noise = count(noise as u64);
                    text = format!("{text}, {noise} of them but for what differs in any two runs");
                }
                vec![drawing.one(None, Role::Faint, &text)]
            }
            Row::Said(_) | Row::Offer(_) => {
                let class = self.class_of(row);
                vec![drawing.one(class, class.map_or(Role::Text, role), &self.told(row))]
            }
            Row::Pair(at) => match self.pairs.get(at) {
                Some(pair) => self.line_of_pair(pair, drawing),
                None => Vec::new(),
            },
        }
    }

    fn below(
        &self,
        row: usize,
        drawing: &Drawing<'_>,
        _most: usize,
    ) -> Option<(Spans, Vec<Line<'static>>)> {
        let row = *self.rows.get(row)?;
        let (look, columns) = (drawing.look, drawing.columns);
        let plain = |text: &str| {
            let lines = wrap(text, columns.saturating_sub(2)).into_iter();
            lines
                .map(|line| vec![(Role::Text, format!(" {line}"))])
                .collect::<Vec<Spans>>()
        };
        let (subject, lines) = match row {
            Row::Head(_) => return None,
            Row::Folded(..) => (String::new(), plain("Space shows them")),
            Row::Said(_) => ("as a whole".to_owned(), plain(&self.told(row))),
            Row::Offer(at) => {
                let offer = self.report.offers.get(at)?;
                let mut lines = plain(&self.told(row));
                lines.extend(difference(look, &offer.difference, columns));
                (words::offered(offer), lines)
            }
            Row::Pair(at) => {
                let pair = self.pairs.get(at)?;
                let mut lines = pair.said.as_deref().map_or_else(Vec::new, plain);
                if let Some(account) = pair.account.and_then(|at| self.report.accounts.get(at)) {
                    let differences = account.differences.iter();
                    lines.extend(differences.flat_map(|one| difference(look, one, columns)));
                    if account.more > 0 {
                        let more = plural(account.more, "more difference");
                        lines.extend(plain(&format!("and {more}")));
                    }
                }
                if lines.is_empty() {
                    lines = plain("nothing differs");
                }
                (self.call(pair), lines)
            }
        };
        let mut head = vec![(Role::Title, format!(" {} ", cut(&subject, columns / 2)))];
        if let Some(class) = self.class_of(row) {
            let text = format!(" {} {}", sign(look, class), class.as_str());
            head.push((role(class), text));
        }
        let lines = lines.into_iter();
        let lines = lines.map(|line| spans::line(spans::cut(line, columns), *look));
        Some((head, lines.collect()))
    }

    fn places(&self, row: usize) -> [Option<(PathBuf, Option<Seq>)>; 2] {
        let requests = self.requests(row);
        [0, 1].map(|at| {
            Some((
                self.sides[at].path.clone(),
                requests[at].map(|(seq, _)| seq),
            ))
        })
    }

    fn opens(&self, row: usize) -> Opens {
        let call = |side: usize, (seq, part): (Seq, u32)| OneCall {
            which: Which::File(self.sides[side].path.clone()),
            lens: Lens::Exchanges,
            key: ItemKey::of_part(seq, part),
        };
        match (self.rows.get(row), self.requests(row)) {
            (_, [Some(left), Some(right)]) => {
                let both = Box::new([call(0, left), call(1, right)]);
                Opens::Calls(both, Arc::clone(&self.bound))
            }
            (Some(Row::Folded(..)), _) => Opens::Fold,
            (_, [None, None]) => Opens::Nothing,
            (_, [Some(_), None]) => Opens::Only("left"),
            (_, [None, Some(_)]) => Opens::Only("right"),
        }
    }

    fn row_of(&self, seq: Seq) -> Option<usize> {
        let is_it = |row: &Row| match self.pair(*row).map(|pair| pair.sides) {
            Some([Some(left), Some(_)]) => left.request.0 == seq,
            _ => false,
        };
        self.rows.iter().position(is_it)
    }
}

/// How it went: `✗ tool-error 842 ms`.
fn went(look: &Look, one: &PairSide) -> String {
    let glyph = match one.status {
        Status::Ok => Glyph::Ok,
        Status::Error | Status::ToolError | Status::Lost | Status::Unanswered => Glyph::Failed,
        _ => Glyph::Dot,
    };
    let latency = one.latency_ns.map(duration).unwrap_or_default();
    let text = format!("{} {} {latency}", look.glyph(glyph), one.status.as_str());
    text.trim_end().to_owned()
}

/// Both at the ends of so many columns; the left one is cut where there is no room for it.
fn justified(left: &str, right: &str, columns: usize) -> String {
    let right = cut(right, columns.saturating_sub(8));
    let room = columns.saturating_sub(width(&right) + 2);
    format!("{}  {right}", pad_end(&cut(left, room), room))
}

/// `✗ breaking result.isError: was false, is true`, on several lines where it is long.
fn difference(look: &Look, difference: &Difference, columns: usize) -> Vec<Spans> {
    let class = difference.class;
    let mut place = words::place(difference);
    if let Some(note) = &difference.note {
        place = format!("{place}: {note}");
    }
    let values = match (difference.left.as_deref(), difference.right.as_deref()) {
        (Some(was), Some(is)) => vec![("was ", was), ("is ", is)],
        (Some(was), None) => vec![("is gone, was ", was)],
        (None, Some(is)) => vec![("is new: ", is)],
        (None, None) => Vec::new(),
    };
    let head = format!(" {} {}  ", sign(look, class), class.as_str());
    let mut line = vec![(role(class), head), (Role::Strong, place)];
    let wide = |(word, value): &(&str, &str)| width(word) + width(value) + 2;
    let wanted: usize = values.iter().map(wide).sum();
    let one = |before: &str, (word, value): &(&str, &str)| {
        [
            (Role::Text, before.to_owned()),
            (Role::Faint, (*word).to_owned()),
            (Role::Text, (*value).to_owned()),
        ]
    };
    if spans::width(&line) + wanted <= columns {
        line.extend(values.iter().flat_map(|value| one("  ", value)));
        return vec![line];
    }
    let values = values.iter().map(|value| one("     ", value).to_vec());
    std::iter::once(line).chain(values).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(classes: &[Option<Class>]) -> Recordings {
        let side = || Side {
            path: PathBuf::new(),
            short: String::new(),
            title: String::new(),
        };
        let pair = |class: &Option<Class>| Pair {
            sides: [None; 2],
            call: 0,
            class: *class,
            is_listed: false,
            account: None,
            said: None,
        };
        Recordings {
            sides: [side(), side()],
            report: Report::default(),
            calls: vec![("m".into(), None)],
            pairs: classes.iter().map(pair).collect(),
            bound: Arc::default(),
            said: Vec::new(),
            left_out: 0,
            not_made: None,
            rows: Vec::new(),
            changes: Vec::new(),
            counts: Counts::default(),
        }
    }

    #[test]
    fn equal_calls_are_folded_and_shown_on_request_and_untried_ones_are_never_folded() {
        let (changed, noise) = (Some(Class::Changed), Some(Class::Noise));
        let mut it = compared(&[None, noise, changed, None, None]);
        it.pairs[4].said = Some("was refused".into());
        it.fold(false);
        let folded = [
            Row::Folded(2, 1),
            Row::Pair(2),
            Row::Folded(1, 0),
            Row::Pair(4),
        ];
        assert_eq!((&it.rows[1..], &*it.changes), (&folded[..], &[2][..]));
        it.fold(true);
        assert_eq!((it.rows.len(), &*it.changes), (6, &[3][..]));
    }

    #[test]
    fn noise_is_walked_only_where_nothing_else_differs() {
        let noise = Some(Class::Noise);
        let mut it = compared(&[noise, None]);
        it.fold(true);
        assert_eq!(it.changes, [1]);
        let mut it = compared(&[noise, Some(Class::Breaking)]);
        it.fold(true);
        assert_eq!(it.changes, [2]);
    }
}
