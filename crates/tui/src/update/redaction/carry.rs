//! What is carried over from a recording to its likeness, and back: where one is in it, and how one
//! looks at it. Nothing of that was said by anybody but whoever sits here, but for filters.

use crate::app::filter::Filter;
use crate::app::list::{Cursor, List};
use crate::app::playback::{Pane, Playback};
use crate::app::redaction::{Shown, Typed};
use crate::app::session::{Opening, Session};
use mcpreel_share::outgoing::likeness::Likeness;

pub fn concealed(old: &Session, page: usize, likeness: &mut Likeness) -> Session {
    let mut new = carried(old, page);
    // A filter may have been made of a row.
    let typed = in_force(&old.filter);
    take(&mut new.filter, &likeness.text(&typed), old.filter.off);
    new.redacted = Some(Shown {
        last: likeness.last(),
        newest: likeness.last(),
        before: Typed {
            text: typed,
            instead: new.filter.text.clone(),
            history: old.filter.history.clone(),
            searches: old.search.history.clone(),
        },
    });
    new
}

pub fn revealed(old: &Session, page: usize) -> Session {
    let mut new = carried(old, page);
    let none = Typed::default();
    let before = old.redacted.as_ref().map_or(&none, |shown| &shown.before);
    let typed = in_force(&old.filter);
    let typed = if typed == before.instead {
        before.text.clone()
    } else {
        typed
    };
    take(&mut new.filter, &typed, old.filter.off);
    new.filter.history.clone_from(&before.history);
    for text in &old.filter.history {
        new.filter.remember(text);
    }
    new.search.history.clone_from(&before.searches);
    for text in &old.search.history {
        new.search.remember(text);
    }
    new
}

/// What was typed, or what is in force where that is no filter.
fn in_force(filter: &Filter) -> String {
    match &filter.error {
        None => filter.text.clone(),
        Some(_) => filter.query.to_string(),
    }
}

fn take(filter: &mut Filter, text: &str, off: bool) {
    filter.take(text);
    // A token may stand where the language has no place for it.
    if filter.error.is_some() {
        *filter = Filter::default();
    }
    filter.off = off && filter.query.expr.is_some();
}

fn carried(old: &Session, page: usize) -> Session {
    let mut new = Session::new(&old.path);
    new.opening = Opening::Asked;
    new.arrange(old.arrangement());
    new.focus = old.focus;
    new.list = list(&old.list, page);
    new.list.time = old.list.time;
    new.playback = Playback {
        cursor: old.playback.cursor,
        paused: old.playback.paused,
        pane: old.playback.pane.as_ref().map(|_| Pane::default()),
        ..Playback::default()
    };
    new.detail.tab = old.detail.tab;
    new.detail.sides = old.detail.sides;
    new.detail.representation = old.detail.representation;
    new.timeline.window = old.timeline.window;
    new.timeline.cursor = old.timeline.cursor;
    new.stats.sort = old.stats.sort;
    new.stats.reverse = old.stats.reverse;
    new.named.clone_from(&old.named);
    new
}

/// The cursor, and where it is on the screen: addresses, which are the same in both.
fn list(old: &List, page: usize) -> List {
    let row = old.cursor_row();
    List {
        go_to: old.go_to,
        cursor: match old.cursor {
            Cursor::End => Cursor::End,
            Cursor::At(_) => old.selected().map_or(Cursor::End, Cursor::At),
        },
        top: old.top,
        hold: row.and_then(|row| row.checked_sub(old.first_row(page))),
        chosen: old.chosen.clone(),
        page,
        ..List::default()
    }
}
