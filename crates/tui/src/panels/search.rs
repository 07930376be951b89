//! What is searched for, and where it was found.

use super::prompt::{History, Prompt, Purpose};
use crate::action::Action;
use crate::app::{App, Overlay, Session};
use crate::effect::Effects;
use crate::worker::{self, Answer, Growth, Job, Slot, Source};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::select::Question;
use mcpreel_store::text_search;
use mcpreel_store::text_search::{Finder, Pace, Pattern, SearchHit};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::Query;
use mcpreel_wire::text::{count, cut, escape, plural};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::{Range, RangeInclusive};

/// Before a regular expression, in the text that is typed.
pub const REGEX: &str = "re:";

/// Places that are marked in one text; more cannot be told apart by eye.
const MARKED: usize = 1000;

/// What is searched for, and where it was found.
#[derive(Debug, Default)]
pub struct Search {
    /// What is searched for; none while nothing is.
    pub term: Option<Term>,
    /// The rows in which it was found, and whether the filter shows them.
    pub rows: BTreeMap<ItemKey, bool>,
    /// Messages and lines in which it was found: a row may have several.
    pub hits: u64,
    pub progress: Progress,
    pub scope: (Lens, Query),
    /// The cursor goes to the hit that is nearest to this row, as soon as that is known.
    pub nearest: Option<ItemKey>,
    pub history: History,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    #[default]
    Idle,
    /// So many frames are left, of so many.
    Scanning(u64, u64),
    Done,
    /// It was stopped with so many frames left.
    Stopped(u64),
    /// There were too many hits; so many frames are left.
    Full(u64),
}

/// Places in a text that are marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Where, in order and apart from each other.
    pub places: Vec<Range<usize>>,
    /// Whether there are more that are not marked.
    pub more: bool,
}

#[derive(Clone, Debug)]
pub struct Term {
    pub text: String,
    pub pattern: Pattern,
    finder: Finder,
}

impl Term {
    /// What `text` searches for: itself, or after `re:` a regular expression. Without a capital
    /// letter in it, case is ignored. An error is one sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let pattern = match text.strip_prefix(REGEX) {
            Some(regex) => Pattern::Regex(regex.to_owned()),
            None => Pattern::Literal(text.to_owned()),
        };
        let finder = Finder::new(&pattern);
        let finder = finder.map_err(|error| escape(&error.to_string()).into_owned())?;
        Ok(Self {
            text: text.to_owned(),
            pattern,
            finder,
        })
    }

    /// Where it occurs in a text, to be marked there; of very many places the first.
    pub fn places(&self, text: &[u8]) -> Marks {
        let mut places = self.finder.places(text, MARKED + 1);
        let more = places.len() > MARKED;
        places.truncate(MARKED);
        Marks { places, more }
    }
}

impl Search {
    /// Where the term occurs in a text, to be marked there; nowhere while nothing is searched for.
    pub fn places(&self, text: &[u8]) -> Marks {
        let term = self.term.as_ref();
        term.map(|term| term.places(text)).unwrap_or_default()
    }

    /// Whether the term was found in a row, or in one of a run that is shown as one.
    pub fn is_hit(&self, run: RangeInclusive<ItemKey>) -> bool {
        self.rows.range(run).next().is_some()
    }

    /// How many rows with a hit the filter hides.
    pub fn hidden(&self) -> usize {
        self.rows.values().filter(|shown| !**shown).count()
    }

    /// The next shown row with a hit after `from`, or the one before it.
    pub fn next(&self, from: Option<ItemKey>, forward: bool) -> Option<ItemKey> {
        let shown = |(key, shown): (&ItemKey, &bool)| shown.then_some(*key);
        match (from, forward) {
            (Some(from), true) => {
                let after = (std::ops::Bound::Excluded(from), std::ops::Bound::Unbounded);
                self.rows.range(after).find_map(shown)
            }
            (Some(from), false) => self.rows.range(..from).rev().find_map(shown),
            (None, true) => self.rows.iter().find_map(shown),
            (None, false) => self.rows.iter().rev().find_map(shown),
        }
    }

    /// The place of a row among the shown ones with a hit, from 1, and how many these are.
    pub fn place(&self, row: ItemKey) -> (usize, usize) {
        let shown = |range: &mut dyn Iterator<Item = (&ItemKey, &bool)>| {
            range.filter(|(_, shown)| **shown).count()
        };
        (
            shown(&mut self.rows.range(..=row)),
            shown(&mut self.rows.iter()),
        )
    }

    /// Forgets the term and its hits, not what was searched for before.
    pub fn clear(&mut self) {
        *self = Self {
            history: std::mem::take(&mut self.history),
            ..Self::default()
        };
    }

    /// `/quota  12 hits in 9 rows, 2 hidden · scanning 61 % · Ctrl-C stops`; nothing while nothing
    /// is searched for. `dot` stands between the parts.
    pub fn status(&self, dot: &str) -> Option<String> {
        let term = self.term.as_ref()?;
        let mut text = format!(
            "/{}  {}",
            cut(&escape(&term.text), 24),
            plural(self.hits, "hit")
        );
        let hidden = self.hidden();
        if hidden > 0 {
            let _ = write!(text, ", {hidden} rows hidden by the filter");
        }
        match self.progress {
            Progress::Idle | Progress::Done => {}
            Progress::Scanning(left, of) => {
                let percent = (of.saturating_sub(left)).saturating_mul(100) / of.max(1);
                let _ = write!(text, " {dot} scanning {percent} % {dot} Ctrl-C stops");
            }
            Progress::Stopped(frames) => {
                let _ = write!(
                    text,
                    " {dot} stopped, {} frames not searched",
                    count(frames)
                );
            }
            Progress::Full(frames) => {
                let frames = count(frames);
                let _ = write!(text, " {dot} too many, {frames} older frames not searched");
            }
        }
        Some(text)
    }
}

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    match action {
        Action::Search => {
            let prompt = Prompt::new(Purpose::Search, "");
            app.overlays.push(Overlay::Prompt(prompt));
            Some(vec![])
        }
        Action::SearchNext => Some(walk(app, session, true)),
        Action::SearchPrevious => Some(walk(app, session, false)),
        Action::Close => clear(app, session),
        Action::Cancel => stop(app, session),
        _ => None,
    }
}

/// The next hit, or the one before.
fn walk(app: &mut App, session: &mut Session, forward: bool) -> Effects {
    let search = &session.search;
    let Some(term) = &search.term else {
        app.notices
            .error("nothing is searched for; / searches", app.now);
        return vec![];
    };
    let from = super::selection::place(session);
    let onward = search.next(from, forward);
    let Some(key) = onward.or_else(|| search.next(None, forward)) else {
        let text = mcpreel_wire::text::escape(&term.text).into_owned();
        let text = match (search.progress, search.rows.len()) {
            (Progress::Scanning(..), 0) => format!("no hit yet for {text}, still scanning"),
            (_, 0) => format!("{text} occurs nowhere"),
            (_, rows) => format!("{text} occurs only in {rows} rows that the filter hides"),
        };
        app.notices.error(text, app.now);
        return vec![];
    };
    let (place, of) = search.place(key);
    let mut text = format!("row {place} of {of} with a hit");
    if onward.is_none() {
        text.push_str(if forward {
            ", from the top"
        } else {
            ", from the end"
        });
    }
    match search.hidden() {
        0 => {}
        hidden => text = format!("{text}, {hidden} more hidden by the filter"),
    }
    app.notices.success(text, app.now);
    super::selection::go_to(app, session, key)
}

/// Forgets what is searched for, if something is.
fn clear(app: &mut App, session: &mut Session) -> Option<Effects> {
    session.search.term.as_ref()?;
    session.search.clear();
    mark(session);
    Some(vec![app.questions.stop(Slot::Search)])
}

/// Stops looking, if it still looks; what was found stays.
fn stop(app: &mut App, session: &mut Session) -> Option<Effects> {
    let search = &mut session.search;
    let Progress::Scanning(left, _) = search.progress else {
        return None;
    };
    search.progress = Progress::Stopped(left);
    search.nearest = None;
    Some(vec![app.questions.stop(Slot::Search)])
}

/// A step of the search is over.
fn found(app: &mut App, session: &mut Session, found: Found) -> Effects {
    let search = &mut session.search;
    search.rows.extend(found.rows);
    search.hits += found.hits;
    search.progress = found.progress;
    go_nearest(app, session, found.reached)
}

/// Goes to the hit that is nearest to where the search began, as soon as that is known: nothing
/// is left between. Whoever has moved on meanwhile stays there.
fn go_nearest(app: &mut App, session: &mut Session, reached: Seq) -> Effects {
    let Some(from) = session.search.nearest else {
        return vec![];
    };
    if super::selection::place(session).unwrap_or_default() != from {
        session.search.nearest = None;
        return vec![];
    }
    let search = &mut session.search;
    let ended = !matches!(search.progress, Progress::Scanning(..));
    if !ended && reached >= from.seq {
        return vec![];
    }
    let here = search.rows.get(&from).is_some_and(|shown| *shown);
    let onward = here
        .then_some(from)
        .or_else(|| search.next(Some(from), true));
    let Some(key) = onward.or_else(|| search.next(Some(from), false)) else {
        if ended {
            search.nearest = None;
            return walk(app, session, true);
        }
        return vec![];
    };
    search.nearest = None;
    super::selection::go_to(app, session, key)
}

/// The search is done; nothing in it ends the search before.
pub fn done(app: &mut App, session: &mut Session, text: &str) -> Effects {
    if text.is_empty() {
        return clear(app, session).unwrap_or_default();
    }
    let term = match Term::parse(text) {
        Ok(term) => term,
        Err(error) => {
            app.notices.error(error, app.now);
            // The text stays, to be mended.
            let prompt = Prompt::new(Purpose::Search, text);
            app.overlays.push(Overlay::Prompt(prompt));
            return vec![];
        }
    };
    let from = super::selection::place(session).unwrap_or_default();
    session.search.clear();
    session.search.history.remember(text);
    session.search.term = Some(term);
    session.search.nearest = Some(from);
    mark(session);
    find(app, session)
}

fn mark(session: &mut Session) {
    if let Some(shown) = session.detail.shown.as_deref_mut() {
        shown.mark(|bytes| session.search.places(bytes));
    }
}

fn find(app: &mut App, session: &mut Session) -> Effects {
    let question = scope(session);
    let search = &mut session.search;
    let Some(pattern) = search.term.as_ref().map(|term| term.pattern.clone()) else {
        return vec![];
    };
    search.rows.clear();
    search.hits = 0;
    search.progress = Progress::Scanning(1, 1);
    search.scope = (question.lens, question.query.clone());
    let job = Searching {
        pattern,
        question,
        search: None,
        hits: 0,
        ended: false,
    };
    vec![app.questions.ask(Slot::Search, job)]
}

/// The rows of the list. The time cursor hides hits, it does not make them others.
fn scope(session: &Session) -> Question {
    Question {
        until: None,
        ..super::selection::question(session)
    }
}

/// Asks anew when other rows are shown than those that were asked for.
pub fn wanted(app: &mut App, session: &mut Session) -> Effects {
    if session.search.term.is_none() {
        return vec![];
    }
    let question = scope(session);
    if session.search.scope == (question.lens, question.query) {
        return vec![];
    }
    find(app, session)
}

/// The search was left without being done.
pub fn left(session: &mut Session) {
    session.search.history.leave();
}

/// An older search, or a newer one.
pub fn step(app: &mut App, session: &mut Session, by: isize) -> Effects {
    if let Some(Overlay::Prompt(prompt)) = app.overlays.last_mut()
        && let Some(text) = session.search.history.recall(by)
    {
        prompt.input = tui_input::Input::new(text);
    }
    vec![]
}

/// Literal text, or a regular expression: that is `re:` before it.
pub fn switch(app: &mut App) -> Effects {
    if let Some(Overlay::Prompt(prompt)) = app.overlays.last_mut() {
        let text = prompt.input.value();
        let text = match text.strip_prefix(REGEX) {
            Some(literal) => literal.to_owned(),
            None => format!("{REGEX}{text}"),
        };
        prompt.input = tui_input::Input::new(text);
    }
    vec![]
}

/// How long a step may take, nanoseconds.
const STEP_NS: u64 = 8_000_000;

/// Rows with a hit that are handed over. Whoever finds more has searched for too little.
const MOST: u64 = 20_000;

/// What a step of the search has found.
struct Found {
    /// Rows in which it was found, and whether the filter shows them.
    rows: Vec<(ItemKey, bool)>,
    hits: u64,
    /// Everything after this frame was looked at.
    reached: Seq,
    progress: Progress,
}

/// Looks for the term, newest first, and follows the recording.
struct Searching {
    pattern: Pattern,
    /// What the rows are, and which of them are shown.
    question: Question,
    search: Option<text_search::Search>,
    hits: u64,
    ended: bool,
}

impl Job for Searching {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answer>,
    ) -> Result<worker::Progress, ReadError> {
        if self.search.is_none() {
            match text_search::Search::new(source.path, &self.pattern, None) {
                Ok(search) => self.search = Some(search),
                Err(error) => {
                    let text = escape(&error.to_string()).into_owned();
                    answers.push(Answer::failed(text));
                    self.ended = true;
                }
            }
        }
        let Some(search) = &mut self.search else {
            return Ok(worker::Progress::Done);
        };
        let step = search.step(&Pace {
            nanos: STEP_NS,
            clock: source.clock,
        })?;
        let room = usize::try_from(MOST.saturating_sub(self.hits)).unwrap_or(usize::MAX);
        let hits = &step.hits[..step.hits.len().min(room)];
        self.hits += hits.len() as u64;
        self.ended = self.hits >= MOST;
        let found = Found {
            rows: self.rows(source, hits)?,
            hits: hits.len() as u64,
            reached: step.reached,
            progress: match (self.ended, step.done) {
                (true, _) => Progress::Full(step.left),
                (false, true) => Progress::Done,
                (false, false) => Progress::Scanning(step.left, step.of),
            },
        };
        let goes_on = matches!(found.progress, Progress::Scanning(..));
        answers.push(Answer::found(move |app, session| {
            self::found(app, session, found)
        }));
        Ok(if goes_on {
            worker::Progress::More
        } else {
            worker::Progress::Done
        })
    }

    fn grown(&mut self, growth: &Growth) -> bool {
        let Some(search) = &mut self.search else {
            return !self.ended;
        };
        if self.ended || growth.last <= growth.after {
            return false;
        }
        search.again(growth.after, growth.last);
        true
    }
}

impl Searching {
    /// The rows of these hits, and whether the filter shows them.
    fn rows(
        &self,
        source: &Source<'_>,
        hits: &[SearchHit],
    ) -> Result<Vec<(ItemKey, bool)>, ReadError> {
        let (recording, lens) = (source.recording, self.question.lens);
        let mut keys = Vec::with_capacity(hits.len());
        for hit in hits {
            keys.push(row_of(recording, lens, hit.seq, Some(hit.place.start))?);
        }
        keys.sort_unstable();
        keys.dedup();
        let is_filtered = self.question.query.expr.is_some();
        let shown = if is_filtered {
            recording.fitting(&self.question, source.context(), &keys)?
        } else {
            Vec::new()
        };
        let is_shown = |key| !is_filtered || shown.binary_search(&key).is_ok();
        Ok(keys.into_iter().map(|key| (key, is_shown(key))).collect())
    }
}

/// The row in which the frame `seq` is shown, or the message in it that holds the byte `at`:
/// through the lens of exchanges that of its exchange, unless it is a row of its own.
pub fn row_of(
    recording: &Recording,
    lens: Lens,
    seq: Seq,
    at: Option<u64>,
) -> Result<ItemKey, ReadError> {
    let messages = recording.messages_of_frame(seq)?;
    let holds = |span: &std::ops::Range<u64>| at.is_some_and(|at| span.contains(&at));
    let hit = messages.iter().find(|row| holds(&row.span));
    let Some(hit) = hit.or(messages.first()) else {
        return Ok(ItemKey::of_part(seq, 0));
    };
    let own = ItemKey::of_part(seq, hit.record.part);
    let is_folded = match hit.record.kind {
        MessageKind::Request | MessageKind::Response => true,
        MessageKind::Notification => matches!(
            hit.record.method.as_deref(),
            Some("notifications/progress" | "notifications/cancelled")
        ),
        MessageKind::Other => false,
    };
    let (Lens::Exchanges, Some(id), true) = (lens, hit.record.exchange, is_folded) else {
        return Ok(own);
    };
    let exchange = recording.exchange(id)?;
    Ok(exchange.map_or(own, |exchange| {
        let (seq, part) = exchange.request;
        ItemKey::of_part(seq, part)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::frame::Seq;

    fn found(rows: &[(u64, bool)]) -> Search {
        let rows = rows.iter();
        Search {
            rows: rows
                .map(|(seq, shown)| (ItemKey::of_part(Seq(*seq), 0), *shown))
                .collect(),
            ..Search::default()
        }
    }

    #[test]
    fn case_counts_only_where_there_is_a_capital_and_an_expression_is_said() {
        let places =
            |term: &str, text: &str| Term::parse(term).unwrap().places(text.as_bytes()).places;
        assert_eq!(places("quota", "Quota QUOTA"), [0..5, 6..11]);
        assert_eq!(places("Quota", "Quota QUOTA").len(), 1);
        assert_eq!(places("a.c", "abc a.c").len(), 1);
        assert_eq!(places("re:a.c", "abc a.c"), [0..3, 4..7]);
        assert!(Term::parse("").is_err() && Term::parse("re:").is_err());
        assert!(Term::parse("re:(").is_err_and(|error| !error.contains('\n')));
    }

    #[test]
    fn hits_are_walked_in_the_order_of_the_rows_and_hidden_ones_are_left_out() {
        let search = found(&[(3, true), (5, false), (9, true)]);
        let key = |seq| Some(ItemKey::of_part(Seq(seq), 0));
        assert_eq!(search.next(key(3), true), key(9));
        assert_eq!(search.next(key(9), true), None);
        assert_eq!(search.next(key(9), false), key(3));
        assert_eq!(search.next(None, true), key(3));
        assert_eq!(search.hidden(), 1);
        assert_eq!(search.place(ItemKey::of_part(Seq(9), 0)), (2, 2));
    }
}
