//! What the worker has found goes into the list, and the cursor stays where it was.

use super::{go_to, is_cursor_visible, page, settle};
use crate::app::App;
use crate::app::list::List;
use crate::effect::Effects;
use crate::worker::list;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::item::{Item, ItemKey};
use std::collections::HashSet;

pub fn answer(app: &mut App, answer: list::Answer) -> Effects {
    let page = page(app);
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let list = &mut session.list;
    if answer.generation != list.scan.generation {
        return vec![];
    }
    if list.scan.shown != list.scan.generation {
        list.reset(session.lens);
    }
    let was_visible = is_cursor_visible(list, page);
    take(list, &answer);
    mark_changed(list, &answer.touched);
    if !list.scan.stopped {
        list.scan.from = answer.from.or(list.scan.from);
        list.scan.percent = answer.percent;
        list.scan.done = answer.done;
    }
    list.scan.total = answer.total.or(list.scan.total);
    if let Some(usual) = answer.usual {
        list.usual = usual;
    }
    // Following the end must not carry the cursor off the screen.
    let carried = was_visible && list.follows() && !is_cursor_visible(list, page);
    if let (true, Some(row)) = (carried && list.hold.is_none(), list.cursor_row()) {
        list.scroll_to(row, page);
    }
    let notice = settle(list, page);
    if let Some(text) = notice {
        app.notices.success(text, app.now);
    }
    vec![]
}

fn take(list: &mut List, answer: &list::Answer) {
    for hit in &answer.older {
        list.index.add(hit);
    }
    let follows = list.follows();
    for hit in &answer.newer {
        if list.index.add(hit) && !follows {
            list.fresh += 1;
        }
    }
    for hit in &answer.begin {
        list.index.add(hit);
    }
    for key in &answer.cease {
        list.index.remove(*key);
    }
}

/// Rows on the screen that have changed are read again.
fn mark_changed(list: &mut List, touched: &[(ExchangeId, ItemKey)]) {
    if touched.is_empty() {
        return;
    }
    let ids: HashSet<_> = touched.iter().map(|(id, _)| *id).collect();
    let is_touched = |item: &Item| item.exchange().is_some_and(|one| ids.contains(&one.id));
    list.cache.mark(is_touched);
}

pub fn rows(app: &mut App, answer: list::RowsAnswer) -> Effects {
    let page = page(app);
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    if answer.lens != session.lens {
        return vec![];
    }
    let window = session.list.window(page);
    session.list.cache.take(answer.items, &window);
    match answer.found {
        Some((seq, key)) if session.list.go_to == Some(seq) => go_to(app, key),
        _ => vec![],
    }
}
