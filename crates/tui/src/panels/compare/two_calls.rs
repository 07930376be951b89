//! Two calls, value beside value.

use super::compare_draw::{Compared, Row};
use crate::panels::filter;
use crate::theme::Role;
use crate::worker::{Failure, Place, Which};
use mcpreel_replay::diff::words::REDACTED;
use mcpreel_replay::diff::{
    self, Bound, Change, Comparison, Excerpt, Half, Label, Line, Side, Terms, Verdict, compare_by,
};
use mcpreel_replay::rules::{Rules, files};
use mcpreel_share::phrases;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::select::{self, Scan, Way};
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::Field;
use mcpreel_wire::json::{Kind, Path, Step};
use mcpreel_wire::text::{count, duration, escape, plural, size};

/// Longer messages are not compared.
const WHOLE: u64 = 2 * 1024 * 1024;

/// Columns by which nested values are moved in at most.
const INDENT: usize = 20;

/// A call: the row of a recording that it is, or that belongs to it.
#[derive(Clone, Debug)]
pub struct Call {
    pub which: Which,
    pub lens: Lens,
    pub key: ItemKey,
}

/// A call that was read, with its recording.
struct OneSide {
    recording: Recording,
    exchange: Exchange,
    /// The beginning of the recording's id, escaped.
    id: String,
    wall_ns: u64,
}

/// Compares two calls by the rules beside the left recording. Without a left one, the right one is
/// compared with the call of the same method and name before. `None` if a newer question waits.
pub fn compare(
    place: &Place<'_>,
    left: Option<&Call>,
    right: &Call,
    bound: &Bound,
) -> Result<Option<Compared>, Failure> {
    let newer = side(place, right)?;
    let left = match left {
        Some(left) => Some(left.clone()),
        None => call_before(place, &newer)?.map(|key| Call {
            key,
            ..right.clone()
        }),
    };
    let Some(left) = left else {
        return Ok(None);
    };
    let sides = [side(place, &left)?, newer];
    let [left, right] = &sides;
    let path = |side: &OneSide| side.recording.path().to_owned();
    let paths = sides.each_ref().map(path);
    let is_one = paths[0] == paths[1];
    if is_one && left.exchange.id == right.exchange.id {
        return Err(Failure("these are one and the same call".to_owned()));
    }
    let (rules, _) = files::read(&[], &paths[0])?;
    let title = match sides.each_ref().map(|side| phrases::call(&side.exchange)) {
        [left, right] if left == right => left,
        names => names.join(" | "),
    };
    let heads = Row {
        sides: sides.each_ref().map(|side| Some(head(side, is_one).into())),
        ..Row::new(Role::Strong, "")
    };
    let mut compared = Compared {
        title,
        paths,
        rows: vec![heads],
        ..Compared::default()
    };
    for half in [Half::Request, Half::Response] {
        messages(&mut compared, &sides, half, &rules, bound)?;
    }
    let call = |side: &OneSide| Some(ItemKey::of_exchange(&side.exchange));
    let calls = sides.each_ref().map(call);
    for row in &mut compared.rows {
        row.calls = calls;
    }
    Ok(Some(compared))
}

fn side(place: &Place<'_>, call: &Call) -> Result<OneSide, Failure> {
    let recording = place.open(&call.which)?;
    let summary = recording.summary()?;
    let items = recording.items(call.lens, &[call.key])?;
    let exchange = items.first().and_then(|item| item.exchange()).cloned();
    let seq = call.key.seq.0;
    let none = || Failure(format!("#{seq} belongs to no call that could be compared"));
    Ok(OneSide {
        exchange: exchange.ok_or_else(none)?,
        id: super::short(&summary.id),
        wall_ns: summary.wall_ns,
        recording,
    })
}

/// The call of the same method and name before; `None` if a newer question waits.
fn call_before(place: &Place<'_>, side: &OneSide) -> Result<Option<ItemKey>, Failure> {
    let exchange = &side.exchange;
    let name_is = match exchange.name.as_deref() {
        Some(name) => filter::exact(Field::Name, name),
        None => "NOT has:name".to_owned(),
    };
    let method_is = filter::exact(Field::Method, &exchange.method);
    let query = Query::parse(&format!("{method_is} {name_is}"))?;
    let context = select::context(&side.recording.summary()?, None);
    let from = Some(ItemKey::of_exchange(exchange));
    let mut scan = Scan::new(&filter::typed::requests(&query), Way::Newest, from, context);
    while !place.is_stopped() {
        let deadline = Clock::start().deadline(select::STEP_NS);
        let step = scan.step(&side.recording, 1, deadline)?;
        if let Some(hit) = step.hits.first() {
            return Ok(Some(hit.key));
        }
        if step.done {
            let (seq, name) = (exchange.request.0.0, phrases::call(exchange));
            let what = "select two rows with Space to compare them";
            return Err(Failure(format!("#{seq} is the first {name}; {what}")));
        }
    }
    Ok(None)
}

/// `7f3a#1187  tool-error  842 ms  412 B → 210 B`, without the id where both are of one recording.
fn head(side: &OneSide, is_one: bool) -> String {
    let exchange = &side.exchange;
    let id = if is_one { "" } else { &side.id };
    let answer = exchange.response.map(|_| size(exchange.response_size));
    let answer = answer.unwrap_or_else(|| "no answer".to_owned());
    let mut parts = vec![
        format!("{id}#{}", exchange.request.0.0),
        exchange.status.as_str().to_owned(),
    ];
    parts.extend(exchange.latency_ns().map(duration));
    parts.push(format!("{} → {answer}", size(exchange.request_size)));
    parts.join("  ")
}

/// Compares the requests, or the answers.
fn messages(
    compared: &mut Compared,
    sides: &[OneSide; 2],
    half: Half,
    rules: &Rules,
    bound: &Bound,
) -> Result<(), ReadError> {
    let what = match half {
        Half::Request => "request",
        Half::Response => "response",
    };
    let remarks = &mut compared.remarks;
    let mut remark = |text| remarks.push((Role::Warn, format!("⚠ {what}: {text}")));
    compared.rows.push(Row::new(Role::Title, what));
    let [left, right] = sides;
    let halves = [left, right].map(|side| half_of(&side.exchange, half));
    if halves.iter().any(|(size, ..)| *size > WHOLE) {
        remark("too long to be compared here".to_owned());
        return Ok(());
    }
    let read = |side: &OneSide, (_, place, _): HalfOf| {
        let bytes = place.map(|(frame, part)| side.recording.message_bytes(frame, part));
        Ok::<_, ReadError>(bytes.transpose()?.flatten())
    };
    let mut texts = [read(left, halves[0])?, read(right, halves[1])?];
    if let [Some(left), Some(right)] = &mut texts {
        let redacted = diff::fill_redacted(left, right);
        if redacted > 0 {
            remark(format!("{} {REDACTED}", plural(redacted, "value")));
        }
    }
    let [before, now] = texts.each_ref().map(Option::as_deref);
    let then = before.map(|text| bound.as_now(&left.exchange, half, text));
    if then.as_deref() != before {
        remark("what the server chose anew stands as it is now".to_owned());
    }
    let terms = Terms {
        scope: rules.scope(&left.exchange.method, left.exchange.name.as_deref()),
        ..Terms::default()
    };
    let value = |side: &OneSide, (.., t): HalfOf, text| {
        let t = t.filter(|_| side.wall_ns > 0);
        let wall_ns = t.map(|t| side.wall_ns.saturating_add(t.0));
        Side { text, wall_ns }
    };
    let then = value(left, halves[0], then.as_deref());
    let now = value(right, halves[1], now);
    let found = compare_by(&terms, half, then, now);
    let limits = found.limits;
    let remarks = [
        (found.passed_over, "difference ignored by rules"),
        (limits.as_bytes.into(), "side is no JSON, compared as bytes"),
        (limits.not_compared, "value was too much to compare"),
        (limits.coarse, "long list compared place by place"),
    ];
    for (number, what) in remarks.into_iter().filter(|(number, _)| *number > 0) {
        remark(format!("{} {what}", count(number)));
    }
    if found.lines.is_empty() {
        let none = "  there is none on either side";
        compared.rows.push(Row::new(Role::Faint, none));
    }
    compared.rows.extend(rows(&found, what));
    Ok(())
}

/// The size, the place and the time of a message.
type HalfOf = (u64, Option<(Seq, u32)>, Option<Moment>);

fn half_of(of: &Exchange, half: Half) -> HalfOf {
    match half {
        Half::Request => (of.request_size, Some(of.request), Some(of.t_request)),
        Half::Response => (of.response_size, of.response, of.t_response),
    }
}

fn rows(found: &Comparison, message: &str) -> Vec<Row> {
    let mut rows = Vec::with_capacity(found.lines.len());
    let mut steps: Vec<(u16, Step)> = Vec::new();
    for line in &found.lines {
        steps.truncate(steps.partition_point(|(depth, _)| *depth < line.depth));
        steps.extend(line.label.step().map(|step| (line.depth, step)));
        let path = Path::new(steps.iter().map(|(_, step)| step.clone()).collect());
        let path = match steps.len() {
            0 => message.to_owned(),
            _ => escape(&path.to_string()).into_owned(),
        };
        // That a message is an object need not be said.
        if line.depth > 0 || !matches!(line.verdict, Verdict::Within(_)) {
            rows.push(row(line, &path));
        }
    }
    rows
}

fn row(line: &Line, path: &str) -> Row {
    let label = match line.verdict {
        Verdict::Differs {
            change: Change::Outcome,
            ..
        } => "result or error".to_owned(),
        _ => label(&line.label),
    };
    let indent = (2 * usize::from(line.depth.max(1))).min(INDENT);
    let colon = if label.is_empty() { "" } else { ": " };
    let both = |text: String| [Some(text.clone()), Some(text)];
    let (sides, same, said) = match &line.verdict {
        Verdict::Within(Kind::Object) => (both("{".to_owned()), 0, None),
        Verdict::Within(Kind::Array) => (both("[".to_owned()), 0, None),
        Verdict::Within(_) => (both("text".to_owned()), 0, None),
        Verdict::Same(same) => (both(shown(same)), 1, Some("the same")),
        Verdict::SameUnkept(values) => {
            let text = format!("… {} the same", count(*values));
            (both(text), *values, None)
        }
        Verdict::Differs {
            change,
            left,
            right,
            ..
        } => {
            let sides = [left, right].map(|side| side.as_ref().map(shown));
            (sides, 0, Some(change.as_str()))
        }
    };
    // Below stands each side as far as it was kept; once where both are the same.
    let told = said.map_or(0, |_| if same > 0 { 1 } else { 2 });
    let told = ["- ", "+ "].into_iter().zip(&sides).take(told);
    let below = told.filter_map(|(sign, side)| Some((None, format!("{sign}{}", side.as_ref()?))));
    Row {
        depth: line.depth,
        class: line.verdict.class(),
        same,
        head: format!("{path} ({})", said.unwrap_or_default()),
        below: below.collect(),
        sides: sides.map(|side| side.map(Into::into)),
        ..Row::new(
            if same > 0 { Role::Faint } else { Role::Text },
            format!("{:indent$}{label}{colon}", ""),
        )
    }
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

/// The text of an excerpt, with the size of the value where that is longer.
fn shown(excerpt: &Excerpt) -> String {
    let text = escape(&excerpt.text);
    if excerpt.before == 0 && excerpt.after == 0 {
        return text.into_owned();
    }
    let whole = excerpt.before + excerpt.text.len() + excerpt.after;
    let [before, after] =
        [excerpt.before, excerpt.after].map(|left_out| if left_out > 0 { "…" } else { "" });
    format!("({}) {before}{text}{after}", size(whole as u64))
}
