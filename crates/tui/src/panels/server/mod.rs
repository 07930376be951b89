//! What the server offers: its tools, resources and prompts, each with its description, its schema
//! and how often it was called.
//!
//! ```text
//!  3 tools   1 resource
//!     kind      name               calls       failed  get_forecast
//!     tool      search_docs            3     2 (67 %)  called 6 times by claude-code 2.1; = shows the calls
//!     tool      get_forecast           6
//!     resource  file:///srv/a.md       1               The forecast for a city.
//!  ⚠  tool      get_tides              1    1 (100 %)
//!                                                      inputSchema
//!                                                      {
//!                                                        "type": "object",
//!                                                      ▼ 7 more lines: Enter shows all of it
//! ```
//!
//! ⚠ stands before what was called and never listed.

pub mod offered;

use super::filter::{self, is, narrowed};
use crate::action::Action;
use crate::app::{App, Focus, Session, View};
use crate::effect::{Effect, Effects};
use crate::layout;
use crate::theme::{Glyph, Look, Role};
use crate::widget::frame;
use crate::widget::pager::{self, Text};
use crate::widget::spans::{self, Spans};
use crate::widget::table::{self, Column};
use crate::worker::errand::Place;
use crate::worker::job::{Slot, Source};
use mcpreel_share::phrases;
use mcpreel_trace::query::ast::{Field, Op};
use mcpreel_trace::stats::Row;
use mcpreel_wire::json::Document;
use mcpreel_wire::text::{self, Limits, count, cut, escape, plural};
use offered::{KINDS, Offered, read};
use ratatui::Frame;
use ratatui::layout::Rect;

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let page = usize::from(table::below(sheet(app, session).rows).height);
    let ids = session.server.ids();
    match action {
        Action::Open => {
            let one = session.server.current()?;
            let text = Text::new(one.id.0, lines(one, session));
            app.push(text);
        }
        Action::FilterLike => {
            let (kind, name) = &session.server.current()?.id;
            let (.., method) = KINDS.iter().find(|one| one.1 == *kind)?;
            let is_it = [(Field::Method, *method), (Field::Name, name)];
            let is_it = is_it.map(|(field, text)| is(field, Op::Equal, text));
            let query = narrowed(session.filter.in_force(), is_it);
            session.view = View::Exchanges;
            return Some(filter::set(app, session, &query.to_string()));
        }
        action => session.server.cursor.perform(action, &ids, page)?,
    }
    Some(vec![])
}

/// Asks what the server offers, if this view is on the screen and that may be otherwise by now.
pub fn wanted(app: &mut App, session: &mut Session) -> Option<Effect> {
    let counts = session.counts(View::Server)?;
    session.server.asked.renew((), counts, app.now.ui_ns)?;
    let read = |source: &Source<'_>, _: &Place<'_>| read(source);
    Some(app.questions.read(Slot::Server, session, read, found))
}

fn found(app: &mut App, session: &mut Session, offered: Vec<Offered>) -> Effects {
    session.server.offered = Some(offered);
    session.server.asked.answered_ns = Some(app.now.ui_ns);
    vec![]
}

/// Everything about one, escaped.
fn lines(one: &Offered, session: &Session) -> Vec<Spans> {
    let (kind, name) = &one.id;
    let mut lines = vec![vec![(Role::Title, escape(name).into_owned())]];
    lines.extend(called(one, session).map(|called| vec![(Role::Faint, called)]));
    let (role, told) = match (one.is_listed, &one.json) {
        (true, Some(_)) => (Role::Text, String::new()),
        (true, None) => (
            Role::Faint,
            "the list that has it is too long to be read here".to_owned(),
        ),
        (false, Some(_)) => (
            Role::Warn,
            format!("the last list has no {kind} with this name"),
        ),
        (false, None) => (
            Role::Warn,
            format!("the server has listed no {kind} with this name"),
        ),
    };
    if !told.is_empty() {
        lines.push(vec![(role, told)]);
    }
    let Some(json) = &one.json else {
        return lines;
    };
    let document = Document::parse(json).ok();
    let members = document
        .iter()
        .flat_map(|document| document.root().members());
    let members: Vec<_> = members
        .filter_map(|(name, value)| Some((name.as_str()?.into_owned(), value)))
        .collect();
    let described = members.iter().find(|(name, _)| name == "description");
    if let Some(text) = described.and_then(|(_, value)| value.as_str()) {
        lines.push(Spans::new());
        let text = text
            .lines()
            .map(|line| vec![(Role::Text, escape(line).into_owned())]);
        lines.extend(text);
    }
    for (name, value) in members.iter().filter(|(name, _)| name != "description") {
        if value.as_str().is_some_and(|text| text == one.id.1) {
            continue;
        }
        let json = text::layout(value.raw(), Limits::SCREEN).lines;
        let name = escape(name);
        if let [json] = json.as_slice() {
            lines.push(vec![
                (Role::Faint, format!("{name}  ")),
                (Role::Text, json.clone()),
            ]);
        } else {
            lines.extend([Spans::new(), vec![(Role::Faint, name.into_owned())]]);
            lines.extend(json.iter().map(|line| indented(line)));
        }
    }
    lines
}

/// A line whose next lines begin below its first word.
fn indented(line: &str) -> Spans {
    let text = line.trim_start();
    let blank = " ".repeat(line.len() - text.len());
    vec![(Role::Text, blank), (Role::Text, text.to_owned())]
}

/// `called 3 times by claude-code 2.1, 1 failed`; none for what nothing calls.
fn called(one: &Offered, session: &Session) -> Option<String> {
    let is_it = |(_, kind, method): &&(_, &str, &str)| *kind == one.id.0 && !method.is_empty();
    KINDS.iter().find(is_it)?;
    let Row {
        count: number,
        failed,
        ..
    } = one.called;
    if number == 0 {
        return Some("never called".to_owned());
    }
    let vitals = session.vitals.as_deref()?;
    let by = match vitals.conversations {
        0 | 1 => phrases::peer(&vitals.summary.session.client),
        several => Some(plural(several, "conversation")),
    };
    let by = by.map_or_else(String::new, |by| format!(" by {by}"));
    let failed = match failed {
        0 => String::new(),
        failed => format!(", {} failed", count(failed)),
    };
    Some(format!(
        "called {}{by}{failed}; = shows the calls",
        plural(number, "time")
    ))
}

/// Where the parts of the view are.
fn sheet(app: &App, session: &Session) -> layout::Sheet {
    layout::sheet(layout::session(app, session).main)
}

/// A click selects a row. Returns whether one is there.
pub fn click(app: &App, session: &mut Session, cell: (u16, u16)) -> bool {
    let rows = table::below(sheet(app, session).rows);
    let ids = session.server.ids();
    session.server.cursor.click(&ids, rows, cell)
}

pub fn wheel(app: &App, session: &mut Session, by: isize) {
    let page = usize::from(table::below(sheet(app, session).rows).height);
    let rows = session.server.ids().len();
    session.server.cursor.wheel(by, rows, page);
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let has_keys = session.focus == Focus::Main;
    let foot = match &session.server.offered {
        None => "reading".to_owned(),
        Some(all) => {
            let page = usize::from(table::below(sheet(app, session).rows).height);
            let (at, of) = (
                session.server.cursor.at(&session.server.ids()) + 1,
                all.len(),
            );
            let below = session.server.cursor.top + page < of;
            let more = format!("{at} of {of} {}", look.glyph(Glyph::More));
            if below { more } else { String::new() }
        }
    };
    frame::draw(look, "Server", &foot, has_keys, area, frame);
    let Some(offered) = &session.server.offered else {
        return;
    };
    let sheet = layout::sheet(area);
    let text = cut(&summary(offered), sheet.above.width.into());
    spans::draw_lines(look, [vec![(Role::Faint, text)]], sheet.above, frame);
    draw_table(look, session, offered, sheet.rows, frame);
    let Some(one) = session.server.current().filter(|_| !sheet.aside.is_empty()) else {
        return;
    };
    let (columns, rows) = (sheet.aside.width.into(), usize::from(sheet.aside.height));
    let lines = lines(one, session).into_iter();
    let mut lines: Vec<_> = lines
        .flat_map(|line| pager::wrapped(&line, columns))
        .collect();
    if lines.len() > rows {
        let hidden = lines.len() - rows + 1;
        lines.truncate(rows - 1);
        let text = pager::foot(look, hidden, "Enter shows all of it");
        lines.push(vec![(Role::Faint, cut(&text, columns))]);
    }
    spans::draw_lines(look, lines, sheet.aside, frame);
}

/// `14 tools   2 resources`.
fn summary(offered: &[Offered]) -> String {
    let number = |kind: &str| {
        let is_it = |one: &&Offered| one.id.0 == kind && one.is_listed;
        let number = offered.iter().filter(is_it).count() as u64;
        (number > 0).then(|| plural(number, kind))
    };
    let numbers: Vec<_> = KINDS
        .iter()
        .filter_map(|(_, kind, _)| number(kind))
        .collect();
    if numbers.is_empty() {
        return "the client has listed nothing of this server".to_owned();
    }
    numbers.join("   ")
}

fn draw_table(look: &Look, of: &Session, all: &[Offered], area: Rect, frame: &mut Frame<'_>) {
    let cursor = &of.server.cursor;
    let page = usize::from(table::below(area).height);
    let top = cursor.top.min(all.len().saturating_sub(page));
    let cells = |one: &Offered| {
        let (kind, name) = &one.id;
        let called = match one.called.count {
            0 => String::new(),
            number => count(number),
        };
        let (sign, role) = if one.is_listed {
            ("", Role::Text)
        } else {
            (look.glyph(Glyph::Warning), Role::Warn)
        };
        let cells = [
            (role, sign.to_owned()),
            (Role::Faint, (*kind).to_owned()),
            (role, escape(name).into_owned()),
            (Role::Text, called),
            (Role::Bad, one.called.failed_in_words()),
        ];
        cells.map(|cell| vec![cell]).into()
    };
    let rows: Vec<_> = all.iter().skip(top).take(page).map(cells).collect();
    let columns = [
        Column::left("", 1, 0),
        Column::left("kind", 8, 2),
        Column::flexible("name", 16, 0),
        Column::right("calls", 6, 0),
        Column::right("failed", 11, 1),
    ];
    let at = cursor.at(&of.server.ids()).checked_sub(top);
    let selected = at.map(|at| (at, Role::selected(of.focus == Focus::Main)));
    table::draw(look, &columns, &rows, selected, area, frame);
}
