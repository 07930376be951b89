//! Two calls, value beside value.
//!
//! ```text
//!  │            #1181  ok  12 ms   412 B → 1.9 kB      │ #1187  tool-error  842 ms   412 B → 210 B │
//!  │ 2 of 4  ✗ 1 breaking  ~ 1 changed  · 2 noise                                            │
//!  │            request                                                                          │
//!  │ ~ changed    q: "rust"                            │   q: "rust async"                       │
//!  │              … 3 unchanged                                                                  │
//!  │            response                                                                         │
//!  │ ✗ breaking   isError                              │   isError: true                         │
//!  ├─ result.isError   ✗ breaking: added ────────────────────────────────────────────────────────┤
//!  │                                                   │ true                                    │
//! ```

use super::draw::{role, sign};
use super::{Content, Drawing, progress, short};
use crate::theme::{Glyph, Look, Role};
use crate::widget::spans::Spans;
use crate::worker::{Place, Which};
use mcpreel_replay::diff::words::REDACTED;
use mcpreel_replay::diff::{
    self, Bound, Change, Class, Comparison, Excerpt, Half, Label, Row, Side, Terms, Verdict,
    compare_by,
};
use mcpreel_replay::rules::{Rules, files};
use mcpreel_share::phrases::sentence;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::select::{self, Limit, Question, Scan, Way};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Value};
use mcpreel_wire::json::Kind;
use mcpreel_wire::text::{count, cut, duration, escape, plural, size, width};
use ratatui::text::{Line, Span};
use std::borrow::Cow;
use std::path::PathBuf;

/// How long one look for the call before may take, nanoseconds.
const STEP_NS: u64 = 50_000_000;

/// Longer messages are not compared.
const WHOLE: u64 = 2 * 1024 * 1024;

/// Columns by which nested values are moved in at most.
const INDENT: usize = 20;

#[derive(Debug)]
struct Calls {
    sides: [OneSide; 2],
    /// Whether the two are of one recording.
    is_one: bool,
    request: Part,
    response: Part,
    rows: Vec<(Half, Option<Row>)>,
    changes: Vec<usize>,
}

#[derive(Debug)]
struct OneSide {
    path: PathBuf,
    short: String,
    exchange: Exchange,
}

/// The comparison of two messages.
#[derive(Debug, Default)]
struct Part {
    comparison: Comparison,
    /// Whether a message was too long to be compared.
    is_too_long: bool,
    /// Values that are redacted in one message, which is the other one but for that.
    redacted: u64,
    /// Whether the left message stands with what the server chose on the right.
    is_bound: bool,
}

/// A call: the row of a recording that it is, or that belongs to it.
#[derive(Clone, Debug)]
pub struct Call {
    pub which: Which,
    pub lens: Lens,
    pub key: ItemKey,
}

/// Compares two calls as their recordings are compared; nothing if a newer question waits.
pub fn compare(
    place: &Place<'_>,
    left: Option<&Call>,
    right: &Call,
    bound: &Bound,
) -> Result<Option<Box<dyn Content>>, String> {
    let said = |error: ReadError| sentence(&error);
    let newer = place.open(&right.which)?;
    let later = exchange_of(&newer, right)?;
    let older = place.open(&left.unwrap_or(right).which)?;
    let earlier = match left {
        Some(left) => exchange_of(&older, left)?,
        None => match call_before(place, &newer, &later)? {
            Some(earlier) => earlier,
            None => return Ok(None),
        },
    };
    let is_one = older.path() == newer.path();
    if is_one && earlier.id == later.id {
        return Err("these are one and the same call".to_owned());
    }
    let (rules, _) = files::read(&[], older.path()).map_err(|error| sentence(&error))?;
    let sides = [(&older, &earlier), (&newer, &later)];
    let [older_wall, newer_wall] = [&older, &newer].map(|one| one.summary().map(|one| one.wall_ns));
    let walls = [older_wall.map_err(said)?, newer_wall.map_err(said)?];
    let [request, response] = [Half::Request, Half::Response].map(|half| {
        progress(place, format!("comparing the {}s", word(half)));
        part(sides, walls, half, &rules, bound)
    });
    let (request, response) = (request.map_err(said)?, response.map_err(said)?);
    let ids = [older.summary(), newer.summary()].map(|one| one.map(|one| short(&one.id)));
    let [one, other] = ids.map(Result::unwrap_or_default);
    let side = |recording: &Recording, short, exchange| OneSide {
        path: recording.path().to_owned(),
        short,
        exchange,
    };
    let mut calls = Calls {
        sides: [side(&older, one, earlier), side(&newer, other, later)],
        is_one,
        request,
        response,
        rows: Vec::new(),
        changes: Vec::new(),
    };
    calls.fold(false);
    Ok(Some(Box::new(calls)))
}

/// The exchange that a row is, or belongs to.
fn exchange_of(recording: &Recording, call: &Call) -> Result<Exchange, String> {
    let said = |error: ReadError| sentence(&error);
    let items = recording.items(call.lens, &[call.key]).map_err(said)?;
    let place = items
        .first()
        .and_then(|item| item.exchange())
        .map(|one| one.request);
    let found = match place {
        Some((seq, part)) => exchange_at(recording, ItemKey::of_part(seq, part)).map_err(said)?,
        None => None,
    };
    found.ok_or_else(|| {
        format!(
            "#{} belongs to no call that could be compared",
            call.key.seq.0
        )
    })
}

fn exchange_at(recording: &Recording, key: ItemKey) -> Result<Option<Exchange>, ReadError> {
    let items = recording.items(Lens::Exchanges, &[key])?;
    Ok(items.first().and_then(|item| item.exchange().cloned()))
}

/// The call of the same method and name before; nothing if a newer question waits.
fn call_before(
    place: &Place<'_>,
    recording: &Recording,
    exchange: &Exchange,
) -> Result<Option<Exchange>, String> {
    let said = |error: ReadError| sentence(&error);
    let (seq, part) = exchange.request;
    progress(place, looking(seq));
    let question = Question {
        lens: Lens::Exchanges,
        query: same_call(exchange),
        until: None,
    };
    let context = select::context(&recording.summary().map_err(said)?, None);
    let from = Some(ItemKey::of_part(seq, part));
    let mut scan = Scan::new(&question, Way::Newest, from, context);
    while !place.is_stopped() {
        let limit = Limit {
            hits: 1,
            nanos: STEP_NS,
            clock: place.means.clock,
        };
        let step = scan.step(recording, &limit).map_err(said)?;
        if let Some(hit) = step.hits.first() {
            let found = exchange_at(recording, hit.key).map_err(said)?;
            return Ok(Some(found.ok_or("the call before is not there any more")?));
        }
        if step.done {
            return Err(format!(
                "#{} is the first {}; select two rows with Space to compare them",
                seq.0,
                name(exchange)
            ));
        }
        if let Some(key) = step.looked_at {
            progress(place, looking(key.seq));
        }
    }
    Ok(None)
}

fn looking(back_to: Seq) -> String {
    format!("looking for the call before, back to #{}", back_to.0)
}

/// Fits calls of the same method and name.
fn same_call(exchange: &Exchange) -> Query {
    let equal = |field, text: &str, quoted| Expr::Compare {
        subject: Subject::Field(field),
        op: Op::Equal,
        value: Value::Text {
            text: text.into(),
            quoted,
        },
    };
    let name = match exchange.name.as_deref() {
        Some(name) => equal(Field::Name, name, true),
        None => Expr::Not(Box::new(Expr::Has(Subject::Field(Field::Name)))),
    };
    let method = equal(Field::Method, &exchange.method, true);
    let kind = equal(Field::Kind, "request", false);
    Query {
        expr: Some(Expr::And(vec![kind, method, name])),
    }
}

/// Compares one half of two exchanges.
fn part(
    sides: [(&Recording, &Exchange); 2],
    walls: [u64; 2],
    half: Half,
    rules: &Rules,
    bound: &Bound,
) -> Result<Part, ReadError> {
    let [left, right] = sides;
    let size = |exchange: &Exchange| match half {
        Half::Request => exchange.request_size,
        Half::Response => exchange.response_size,
    };
    if size(left.1).max(size(right.1)) > WHOLE {
        return Ok(Part {
            is_too_long: true,
            ..Part::default()
        });
    }
    let mut texts = [text_of(left, half)?, text_of(right, half)?];
    let redacted = match &mut texts {
        [Some(left), Some(right)] => diff::fill_redacted(left, right),
        _ => 0,
    };
    let [before, now] = texts.each_ref().map(Option::as_deref);
    let then = before.map(|text| bound.as_now(left.1, half, text));
    let half_of = |at: usize, text| {
        let t = match half {
            Half::Request => Some(sides[at].1.t_request),
            Half::Response => sides[at].1.t_response,
        };
        let t = t.filter(|_| walls[at] > 0);
        Side {
            text,
            wall_ns: t.map(|t| walls[at].saturating_add(t.0)),
        }
    };
    let terms = Terms {
        scope: rules.scope(&left.1.method, left.1.name.as_deref()),
        ..Terms::default()
    };
    Ok(Part {
        comparison: compare_by(&terms, half, half_of(0, then.as_deref()), half_of(1, now)),
        is_too_long: false,
        redacted,
        is_bound: matches!(then, Some(Cow::Owned(_))),
    })
}

/// The bytes of a message.
fn text_of(
    (recording, exchange): (&Recording, &Exchange),
    half: Half,
) -> Result<Option<Vec<u8>>, ReadError> {
    let place = match half {
        Half::Request => Some(exchange.request),
        Half::Response => exchange.response,
    };
    let bytes = place.map(|(frame, part)| recording.message_bytes(frame, part));
    Ok(bytes.transpose()?.flatten())
}

impl Calls {
    fn part(&self, half: Half) -> &Part {
        match half {
            Half::Request => &self.request,
            Half::Response => &self.response,
        }
    }
}

impl Content for Calls {
    fn title(&self) -> String {
        let [left, right] = self.sides.each_ref().map(|side| name(&side.exchange));
        if left == right {
            return left;
        }
        format!("{left} | {right}")
    }

    /// `#1187  tool-error  842 ms  412 B → 210 B`, of two recordings `7f3a#1187 …`
    fn heads(&self, look: &Look) -> Option<[String; 2]> {
        let arrow = look.glyph(Glyph::ToServer);
        Some(self.sides.each_ref().map(|side| {
            let exchange = &side.exchange;
            let short = if self.is_one { "" } else { &side.short };
            let answer = exchange.response.map(|_| size(exchange.response_size));
            let answer = answer.unwrap_or_else(|| "no answer".to_owned());
            let mut parts = vec![
                format!("{short}#{}", exchange.request.0.0),
                exchange.status.as_str().to_owned(),
            ];
            parts.extend(exchange.latency_ns().map(duration));
            parts.push(format!("{} {arrow} {answer}", size(exchange.request_size)));
            parts.join("  ")
        }))
    }

    fn fold(&mut self, unfolded: bool) {
        let (mut rows, mut changes, mut noise) = (Vec::new(), Vec::new(), Vec::new());
        for half in [Half::Request, Half::Response] {
            rows.push((half, None));
            let comparison = &self.part(half).comparison;
            for row in comparison.rows(unfolded).rows {
                match comparison.class(row) {
                    None => {}
                    Some(Class::Noise) => noise.push(rows.len()),
                    Some(_) => changes.push(rows.len()),
                }
                // That a message is an object need not be said.
                if !comparison.is_root_within(row) {
                    rows.push((half, Some(row)));
                }
            }
        }
        self.rows = rows;
        self.changes = if changes.is_empty() { noise } else { changes };
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn changes(&self) -> &[usize] {
        &self.changes
    }

    fn class(&self, row: usize) -> Option<Class> {
        let (half, row) = self.rows.get(row)?;
        self.part(*half).comparison.class((*row)?)
    }

    fn count(&self, class: Class) -> u64 {
        let halves = [&self.request, &self.response];
        halves
            .map(|part| part.comparison.count(class) as u64)
            .iter()
            .sum()
    }

    fn remarks(&self, look: &Look) -> Spans {
        let warning = look.glyph(Glyph::Warning);
        let halves = [Half::Request, Half::Response].into_iter();
        let remarks = halves.flat_map(|half| {
            let remarks = remarks(self.part(half)).into_iter();
            remarks.map(move |remark| format!("{warning} {}: {remark}", word(half)))
        });
        remarks.map(|remark| (Role::Warn, remark)).collect()
    }

    fn lines_at_most(&self, beside: bool) -> usize {
        if beside { 1 } else { 2 }
    }

    fn lines(&self, row: usize, drawing: &Drawing<'_>) -> Vec<Line<'static>> {
        let Some((half, row)) = self.rows.get(row) else {
            return Vec::new();
        };
        let comparison = &self.part(*half).comparison;
        match row {
            None => {
                let mut text = word(*half).to_owned();
                if comparison.lines.is_empty() {
                    text.push_str(": there is none on either side");
                }
                vec![drawing.one(None, Role::Title, &text)]
            }
            Some(Row::Folded { depth, values }) => {
                let ellipsis = drawing.look.glyph(Glyph::Ellipsis);
                let text = format!("{}{ellipsis} {} unchanged", indent(*depth), count(*values));
                vec![drawing.same(Role::Faint, &text)]
            }
            Some(Row::Line(at)) => match comparison.lines.get(*at) {
                Some(line) => line_of(drawing, line.depth, &label(&line.label), &line.verdict),
                None => Vec::new(),
            },
        }
    }

    fn below(
        &self,
        row: usize,
        drawing: &Drawing<'_>,
        most: usize,
    ) -> Option<(Spans, Vec<Line<'static>>)> {
        let (half, Some(Row::Line(at))) = self.rows.get(row)? else {
            return None;
        };
        let comparison = &self.part(*half).comparison;
        let verdict = &comparison.lines.get(*at)?.verdict;
        let path = comparison.path(*at).to_string();
        let path = match path.as_str() {
            "" => word(*half).to_owned(),
            path => escape(path).into_owned(),
        };
        let mut head = vec![(Role::Title, format!(" {path}  "))];
        if let Verdict::Differs { class, change, .. } = verdict {
            let sign = sign(drawing.look, *class);
            let text = format!("{sign} {}: {}", class.as_str(), changed(*change));
            head.push((role(*class), text));
        }
        let sides = match verdict {
            Verdict::Differs { left, right, .. } => [left.as_ref(), right.as_ref()],
            Verdict::NotCompared { left, right } => [Some(left), Some(right)],
            Verdict::Same(same) => [Some(same), None],
            Verdict::SameUnkept(_) | Verdict::Within(_) => [None, None],
        };
        Some((head, in_full(drawing, sides, most)))
    }

    fn places(&self, _row: usize) -> [Option<(PathBuf, Option<Seq>)>; 2] {
        let sides = self.sides.each_ref();
        sides.map(|side| Some((side.path.clone(), Some(side.exchange.request.0))))
    }
}

fn name(exchange: &Exchange) -> String {
    let name = exchange.name.as_deref().unwrap_or_default();
    escape(format!("{} {name}", exchange.method).trim_end()).into_owned()
}

fn word(half: Half) -> &'static str {
    match half {
        Half::Request => "request",
        Half::Response => "response",
    }
}

/// What was not looked at, or not as it stands.
fn remarks(part: &Part) -> Vec<String> {
    let limits = part.comparison.limits;
    let passed_over = part.comparison.passed_over;
    let plural_of = |number: u64, what, said: &str| {
        (number > 0).then(|| format!("{} {said}", plural(number, what)))
    };
    let said = |is_so: bool, text: &str| is_so.then(|| text.to_owned());
    let remarks = [
        said(part.is_too_long, "too long to be compared here"),
        plural_of(part.redacted, "value", REDACTED),
        said(
            part.is_bound,
            "what the server chose anew stands as it is now",
        ),
        plural_of(passed_over, "difference", "passed over by rules"),
        said(limits.as_bytes, "no JSON on one side, compared as bytes"),
        plural_of(
            limits.not_compared,
            "value",
            "not compared, there was too much",
        ),
        said(limits.coarse > 0, "long lists compared place by place"),
    ];
    remarks.into_iter().flatten().collect()
}

fn line_of(
    drawing: &Drawing<'_>,
    depth: u16,
    label: &str,
    verdict: &Verdict,
) -> Vec<Line<'static>> {
    let look = drawing.look;
    let labelled = |label: &str, value: &str| match label {
        "" => format!("{}{value}", indent(depth)),
        _ => format!("{}{label}: {value}", indent(depth)),
    };
    let cell = |value: &str| labelled(label, value);
    match verdict {
        Verdict::Within(kind) => {
            let sign = match kind {
                Kind::Object => "{",
                Kind::Array => "[",
                _ => "text",
            };
            vec![drawing.same(Role::Text, &cell(sign))]
        }
        Verdict::Same(same) => vec![drawing.same(Role::Faint, &cell(&shown(look, same)))],
        Verdict::SameUnkept(values) => {
            let text = format!("{} unchanged", count(*values));
            vec![drawing.same(Role::Faint, &cell(&text))]
        }
        Verdict::NotCompared { .. } => {
            vec![drawing.same(Role::Warn, &cell("not compared, there was too much"))]
        }
        Verdict::Differs {
            class,
            change,
            left,
            right,
        } => {
            let left = left.as_ref().map(|one| cell(&shown(look, one)));
            let right = right.as_ref().map(|one| match (change, label) {
                (Change::Outcome, "result") => labelled("error", &shown(look, one)),
                (Change::Outcome, _) => labelled("result", &shown(look, one)),
                _ => cell(&shown(look, one)),
            });
            drawing.both(Some(*class), [left, right])
        }
    }
}

fn indent(depth: u16) -> String {
    " ".repeat((2 * usize::from(depth.max(1))).min(INDENT))
}

fn label(label: &Label) -> String {
    // The place on both sides, as one where it is the same.
    let both = |left: Option<usize>, right: Option<usize>, from: usize| match (left, right) {
        (Some(left), Some(right)) if left != right => format!("{}/{}", left + from, right + from),
        (left, right) => left.or(right).map_or(0, |at| at + from).to_string(),
    };
    match label {
        Label::Root => String::new(),
        Label::Member(name) => escape(name).into_owned(),
        Label::Element { key: Some(key), .. } => format!("[{}]", escape(key)),
        Label::Element { left, right, .. } => format!("[{}]", both(*left, *right, 0)),
        Label::TextLine { left, right } => format!("line {}", both(*left, *right, 1)),
    }
}

/// An excerpt on one line, with what is left out.
fn shown(look: &Look, excerpt: &Excerpt) -> String {
    let ellipsis = look.glyph(Glyph::Ellipsis);
    let before = if excerpt.before > 0 { ellipsis } else { "" };
    let text = escape(&excerpt.text);
    match excerpt.after {
        0 => format!("{before}{text}"),
        after => format!("{before}{text}{ellipsis} {} more", size(after as u64)),
    }
}

/// Both values as far as they were kept, in at most so many lines.
fn in_full(drawing: &Drawing<'_>, sides: [Option<&Excerpt>; 2], most: usize) -> Vec<Line<'static>> {
    let lines = |excerpt: Option<&Excerpt>, columns, most| {
        excerpt.map_or_else(Vec::new, |one| wrapped(drawing.look, one, columns, most))
    };
    if drawing.beside {
        let [a, b] = drawing.sides();
        let (left, right) = (lines(sides[0], a, most), lines(sides[1], b, most));
        let cell = |lines: &[String], nth: usize| lines.get(nth).cloned();
        let rows = 0..left.len().max(right.len());
        return rows
            .flat_map(|nth| drawing.both(None, [cell(&left, nth), cell(&right, nth)]))
            .collect();
    }
    let room = drawing.columns.saturating_sub(3);
    let first = if sides[1].is_some() {
        most.div_ceil(2)
    } else {
        most
    };
    let left = lines(sides[0], room, first);
    let right = lines(sides[1], room, most - left.len());
    let signed = |sign: &'static str, lines: Vec<String>| {
        let lines = lines.into_iter();
        lines.map(move |line| Line::from(Span::raw(format!(" {sign} {line}"))))
    };
    signed("-", left).chain(signed("+", right)).collect()
}

/// A value in at most `most` lines. Where that is not all of it, the last one ends with how much
/// is left out.
fn wrapped(look: &Look, excerpt: &Excerpt, columns: usize, most: usize) -> Vec<String> {
    let text = shown(look, excerpt);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for letter in text.chars() {
        let wide = width(letter.encode_utf8(&mut [0; 4]));
        if used + wide > columns && used > 0 {
            lines.push(String::new());
            used = 0;
        }
        // A letter that is wider than the line has no place at all.
        if wide <= columns {
            used += wide;
            lines.last_mut().expect("there is a line").push(letter);
        }
    }
    let left = lines.len().saturating_sub(most);
    lines.truncate(most);
    if let Some(last) = lines.last_mut().filter(|_| left > 0) {
        let mut more = plural(left as u64, "more line");
        if excerpt.after > 0 {
            more = format!("{more} and {}", size(excerpt.after as u64));
        }
        let more = format!(" {more}");
        // Longer than there is room, so that the cut shows.
        let room = columns.saturating_sub(width(&more));
        *last = cut(
            &format!("{}{more}", cut(&format!("{last} "), room)),
            columns,
        );
    }
    lines
}

/// In which way a value differs, for people.
fn changed(change: Change) -> &'static str {
    match change {
        Change::Value => "another value",
        Change::Type => "another type",
        Change::Removed => "no longer there",
        Change::Added => "was not there before",
        Change::Order => "another order",
        Change::Outcome => "a result on one side, an error on the other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_replay::diff::compare;
    use mcpreel_wire::id::RequestId;
    use mcpreel_wire::message::Direction;

    fn calls(left: &str, right: &str) -> Calls {
        let part = |half, left: &str, right: &str| {
            let side = |text: &str| Side {
                text: Some(text.to_owned().leak().as_bytes()),
                wall_ns: None,
            };
            Part {
                comparison: compare(half, side(left), side(right)),
                is_too_long: false,
                redacted: 0,
                is_bound: false,
            }
        };
        let side = || OneSide {
            path: PathBuf::new(),
            short: String::new(),
            exchange: Exchange::begun(
                Direction::ClientToServer,
                RequestId::from_json("1").unwrap(),
                "tools/call",
            ),
        };
        let mut calls = Calls {
            sides: [side(), side()],
            is_one: true,
            request: part(Half::Request, "{}", "{}"),
            response: part(Half::Response, left, right),
            rows: Vec::new(),
            changes: Vec::new(),
        };
        calls.fold(false);
        calls
    }

    /// All rows and all values in full as text.
    fn text(calls: &Calls, columns: usize) -> String {
        let drawing = Drawing {
            look: &Look::default(),
            columns,
            beside: columns > 90,
        };
        let mut lines = Vec::new();
        for row in 0..calls.rows() {
            lines.extend(calls.lines(row, &drawing));
            lines.extend(
                calls
                    .below(row, &drawing, 4)
                    .map_or(Vec::new(), |(_, lines)| lines),
            );
        }
        let text = lines.iter().map(|line| {
            assert!(line.width() <= columns, "{line:?}");
            line.to_string()
        });
        text.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn wide_screens_show_the_sides_beside_each_other_and_narrow_ones_below() {
        let left = "{\"result\":{\"a\":\"\\u001b[2J\u{202e}\u{9b}\",\"x\":1}}";
        let right = r#"{"result":{"a":"","x":"日本"}}"#;
        let calls = calls(left, right);
        let wide = text(&calls, 120);
        let has = |parts: [&str; 2]| {
            wide.lines()
                .any(|line| parts.iter().all(|one| line.contains(one)))
        };
        assert!(has(["x: 1", "x: \"日本\""]), "{wide}");
        let narrow = text(&calls, 60);
        assert!(
            narrow.contains("-     x: 1") || narrow.contains("- "),
            "{narrow}"
        );
        for text in [wide, narrow, text(&calls, 20)] {
            let hostile =
                |letter: char| letter != '\n' && letter.is_control() || letter == '\u{202e}';
            assert!(!text.contains(hostile), "{text}");
        }
    }

    #[test]
    fn a_value_that_is_longer_than_its_place_says_how_much_is_left_out() {
        let left = format!(r#"{{"result":{{"x":"{}"}}}}"#, "a".repeat(5000));
        let right = format!(r#"{{"result":{{"x":"{}"}}}}"#, "b".repeat(900));
        let text = text(&calls(&left, &right), 120);
        assert_eq!(text.matches(" more lines").count(), 2, "{text}");
        assert!(text.contains(" more lines and 4.0 kB"), "{text}");
    }
}
