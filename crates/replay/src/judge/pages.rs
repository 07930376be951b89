//! Lists that come on pages: how they are cut differs, what is listed should not.
//!
//! A list that both sides give on one page is judged at once. Otherwise the pages of both sides
//! are kept until both have their last one, and judged together; so are those that the other side
//! has no page for. What is too long to be kept is judged page by page.

use super::exchange::{Draft, responses, terms};
use super::surface::{self, Finding, List, Surface};
use super::{Judge, Missing, Occurrence, Skip};
use crate::compare::{Change, Half};
use crate::report::{self, Difference, Offer};
use crate::rules::{Matching, Side, ignore_rule, match_rule};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Value};
use std::collections::BTreeMap;

/// Bytes of pages that are kept of a list, on both sides together.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The lists of which pages are kept.
#[derive(Debug, Default)]
pub(super) struct Pages {
    open: BTreeMap<List, [Pile; 2]>,
}

#[derive(Debug, Default)]
struct Pile {
    first: Option<Seq>,
    pages: Vec<Vec<u8>>,
    done: bool,
}

/// Compares two pages of a list; `false` if they are none, so that they are to be compared as
/// anything else.
pub(super) fn take(
    judge: &mut Judge,
    left: &Occurrence<'_>,
    right: &Occurrence<'_>,
    draft: &mut Draft,
) -> bool {
    let Some(list) = List::of(left.method) else {
        return false;
    };
    if is_first(left) || is_first(right) {
        close(judge, list, draft);
    }
    let (Some(l), Some(r)) = (page(list, left.response), page(list, right.response)) else {
        // An error, or no list at all: what came before ends here.
        close(judge, list, draft);
        return false;
    };
    let goes_on = l.goes_on || r.goes_on || judge.pages.open.contains_key(&list);
    if goes_on && judge.pages.bytes(list) + l.bytes.len() + r.bytes.len() <= MAX_BYTES {
        let piles = judge.pages.open.entry(list).or_default();
        piles[0].add(left.seq, &l);
        piles[1].add(right.seq, &r);
        let elsewhere: &[&[&str]] = &[&["result", list.member()], CURSOR];
        responses(judge, left, right, draft, elsewhere);
        close_if_done(judge, list, draft);
        return true;
    }
    close(judge, list, draft);
    let elsewhere: &[&[&str]] = &[&["result", list.member()]];
    responses(judge, left, right, draft, elsewhere);
    alone(judge, list, [left.seq, right.seq], [&l, &r], draft);
    true
}

/// Compares two pages by themselves.
fn alone(
    judge: &mut Judge,
    list: List,
    seqs: [Option<Seq>; 2],
    [l, r]: [&Page<'_>; 2],
    draft: &mut Draft,
) {
    if l.bytes != r.bytes {
        let listed = Listed {
            seqs,
            pages: [&[l.bytes], &[r.bytes]],
            whole: [!l.goes_on, !r.goes_on],
        };
        lists(judge, list, &listed, draft);
    }
}

/// Where a page says that there is another one.
const CURSOR: &[&str] = &["result", "nextCursor"];

/// Whether the exchange is a page that the other side has no page for.
pub(super) fn takes_left(judge: &mut Judge, left: &Occurrence<'_>, why: &Missing) -> bool {
    let apart = matches!(
        why,
        Missing::Removed | Missing::NeverAnswered | Missing::Skipped(Skip::Unreached(_))
    );
    apart && takes(judge, 0, left)
}

/// The same for one of the right side.
pub(super) fn takes_right(judge: &mut Judge, right: &Occurrence<'_>) -> bool {
    takes(judge, 1, right)
}

fn takes(judge: &mut Judge, side: usize, one: &Occurrence<'_>) -> bool {
    let Some(list) = List::of(one.method).filter(|_| !is_first(one)) else {
        return false;
    };
    let Some(page) = page(list, one.response) else {
        return false;
    };
    let room = judge.pages.bytes(list) + page.bytes.len() <= MAX_BYTES;
    let pile = judge
        .pages
        .open
        .get_mut(&list)
        .map(|piles| &mut piles[side]);
    let Some(pile) = pile.filter(|pile| room && !pile.done) else {
        return false;
    };
    pile.add(one.seq, &page);
    judge_rest(judge, list, close_if_done);
    true
}

pub(super) fn finish(judge: &mut Judge) {
    let open: Vec<_> = judge.pages.open.keys().copied().collect();
    for list in open {
        judge_rest(judge, list, close);
    }
}

/// Judges a list outside of an exchange.
fn judge_rest(judge: &mut Judge, list: List, how: fn(&mut Judge, List, &mut Draft)) {
    let mut draft = Draft::default();
    how(judge, list, &mut draft);
    judge
        .ledger
        .found((list.method().into(), None), draft.counts);
}

fn close_if_done(judge: &mut Judge, list: List, draft: &mut Draft) {
    let piles = judge.pages.open.get(&list);
    if piles.is_some_and(|piles| piles.iter().all(|pile| pile.done)) {
        close(judge, list, draft);
    }
}

/// Judges the pages of a list that are there.
fn close(judge: &mut Judge, list: List, draft: &mut Draft) {
    let Some([left, right]) = judge.pages.open.remove(&list) else {
        return;
    };
    let whole = [left.done, right.done];
    let [l, r] = [&left, &right].map(Pile::slices);
    let pages = Listed {
        seqs: [left.first, right.first],
        pages: [&l, &r],
        whole,
    };
    lists(judge, list, &pages, draft);
}

struct Listed<'a> {
    seqs: [Option<Seq>; 2],
    pages: [&'a [&'a [u8]]; 2],
    /// Whether a side's last page is there.
    whole: [bool; 2],
}

/// Compares all that is listed on the pages of both sides.
fn lists(judge: &mut Judge, list: List, listed: &Listed<'_>, draft: &mut Draft) {
    let documents = listed.pages.map(|pages| {
        let read = pages.iter().filter_map(|page| Document::parse(page).ok());
        read.collect::<Vec<_>>()
    });
    let [left, right] = [0, 1].map(|side| {
        let all = documents[side].iter();
        let all = all.flat_map(|page| elements(list, page.root()));
        all.collect::<Vec<_>>()
    });
    let scope = judge.rules.scope(list.method(), None);
    let sides = [&left, &right].map(Vec::as_slice);
    let found = surface::compare(list, sides, listed.whole, &terms(judge, scope, &[]));
    record(judge, list, listed.seqs, found, draft);
}

fn record(
    judge: &mut Judge,
    list: List,
    [left, right]: [Option<Seq>; 2],
    found: Surface,
    draft: &mut Draft,
) {
    let mut counts = found.counts;
    judge.ledger.report().passed_over += found.passed_over;
    for finding in found.findings {
        let class = finding.class;
        let new = judge.ledger.offer(Offer {
            list,
            name: report::name(&finding.name),
            left,
            right,
            difference: difference(list, &finding),
            times: 1,
        });
        // A list may be asked for again and again: it differs but once.
        if !new {
            counts.remove(class);
        }
    }
    draft.counts.add_all(counts);
}

fn difference(list: List, finding: &Finding) -> Difference {
    let shown = |at: usize| finding.sides[at].as_ref().map(report::value);
    let only = match &finding.sides {
        [Some(_), None] => Some(Side::Left),
        [None, Some(_)] => Some(Side::Right),
        _ => None,
    };
    let rule = match finding.change {
        // All that differs in the list would be passed over.
        Change::Order => {
            let by_name = Matching::Keyed(list.key().into());
            match_rule(list.method(), None, &finding.path, &by_name)
        }
        _ => ignore_rule(list.method(), None, &finding.path, only),
    };
    Difference {
        half: Half::Response,
        path: report::name(&finding.path.to_string()),
        class: finding.class,
        change: finding.change,
        left: shown(0),
        right: shown(1),
        note: Some(report::name(&finding.sentence)),
        rule: report::rule(&rule),
    }
}

struct Page<'a> {
    bytes: &'a [u8],
    goes_on: bool,
}

fn page(list: List, response: Option<&[u8]>) -> Option<Page<'_>> {
    let bytes = response?;
    let document = Document::parse(bytes).ok()?;
    let result = document.root().get("result")?;
    result.get(list.member())?;
    let cursor = result.get("nextCursor");
    let goes_on = cursor.is_some_and(|cursor| !cursor.is_null());
    Some(Page { bytes, goes_on })
}

fn elements(list: List, page: Value<'_>) -> Vec<Value<'_>> {
    let members = page
        .get("result")
        .and_then(|result| result.get(list.member()));
    members
        .into_iter()
        .flat_map(|list| list.elements())
        .collect()
}

/// Whether a request asks for the beginning of its list, as far as it is known.
fn is_first(one: &Occurrence<'_>) -> bool {
    let asks_on = |request: &[u8]| {
        let document = Document::parse(request).ok()?;
        let cursor = document.root().get("params")?.get("cursor")?;
        (!cursor.is_null()).then_some(())
    };
    one.request
        .is_some_and(|request| asks_on(request).is_none())
}

impl Pages {
    fn bytes(&self, list: List) -> usize {
        let piles = self.open.get(&list).into_iter().flatten();
        piles.flat_map(|pile| &pile.pages).map(Vec::len).sum()
    }
}

impl Pile {
    fn add(&mut self, seq: Option<Seq>, page: &Page<'_>) {
        self.first = self.first.or(seq);
        self.pages.push(page.bytes.to_vec());
        self.done = !page.goes_on;
    }

    fn slices(&self) -> Vec<&[u8]> {
        self.pages.iter().map(Vec::as_slice).collect()
    }
}
