//! Which rows are shown.

use crate::action::Action;
use crate::app::filter::Relaxed;
use crate::app::prompt::{Prompt, Purpose};
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::view::filter::popup;
use crate::view::overlay::Hit;
use crate::widget::scroll;
use crate::worker::{Ask, list};
use mcpreel_trace::query::relaxations;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::Filter => Some(edit(app)),
        Action::FilterToggle => {
            let filter = &mut app.session.as_deref_mut()?.filter;
            filter.off = !filter.off;
            Some(super::list::begin(app))
        }
        Action::FilterLike => Some(super::like::offer(app)),
        Action::Relax => Some(relax(app)),
        Action::Cancel => super::list::stop(app),
        _ => None,
    }
}

/// Opens the prompt with what was typed before.
fn edit(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let filter = &mut session.filter;
    filter.before = Some((filter.text.clone(), filter.query.clone(), filter.off));
    filter.recalled = None;
    let prompt = Prompt::new(Purpose::Filter, &filter.text);
    app.overlays.push(Overlay::Prompt(prompt));
    look(app)
}

/// The text of the filter and the byte at which the caret stands.
fn typed(app: &App) -> Option<(String, usize)> {
    let Some(Overlay::Prompt(prompt)) = app.overlays.last() else {
        return None;
    };
    let text = prompt.input.value().to_owned();
    let caret = text.char_indices().nth(prompt.input.cursor());
    let caret = caret.map_or(text.len(), |(at, _)| at);
    Some((text, caret))
}

fn look(app: &mut App) -> Effects {
    let (Some((text, caret)), Some(session)) = (typed(app), app.session.as_deref_mut()) else {
        return vec![];
    };
    let wants = session.filter.popup.look(&text, caret);
    let ask = |field| Ask::Hints(list::Hints::Values(field)).into();
    wants.map(ask).into_iter().collect()
}

/// The text of the filter has changed.
pub fn changed(app: &mut App) -> Effects {
    let mut effects = apply(app);
    effects.extend(look(app));
    effects
}

/// What is typed is in force as soon as it is a filter.
fn apply(app: &mut App) -> Effects {
    let (Some((text, _)), Some(session)) = (typed(app), app.session.as_deref_mut()) else {
        return vec![];
    };
    let differs = session.filter.take_unfinished(&text);
    if differs {
        super::list::begin(app)
    } else {
        vec![]
    }
}

/// The filter is done. A candidate that was chosen is taken in first.
pub fn done(app: &mut App, text: &str) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let popup = &session.filter.popup;
    if let (Some(_), Some((text, caret))) = (popup.at, popup.completed(text)) {
        app.overlays
            .push(Overlay::Prompt(Prompt::new(Purpose::Filter, "")));
        return put(app, &text, caret);
    }
    session.filter.before = None;
    set(app, text)
}

/// The filter was left without being done: the one before is in force again.
pub fn left(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let filter = &mut session.filter;
    let Some((text, query, off)) = filter.before.take() else {
        return vec![];
    };
    let was = filter.in_force().clone();
    filter.take(&text);
    filter.query = query;
    filter.off = off;
    if *filter.in_force() == was {
        return vec![];
    }
    super::list::begin(app)
}

/// Another candidate, an older filter, or a newer one.
pub fn step(app: &mut App, by: isize) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let filter = &mut session.filter;
    let popup = &mut filter.popup;
    popup.wheel = None;
    let is_recalling = filter.recalled.is_some();
    match (popup.at, by) {
        (Some(0), ..0) => popup.at = None,
        (Some(at), _) => {
            let last = popup.candidates.len().saturating_sub(1);
            popup.at = Some(at.saturating_add_signed(by).min(last));
        }
        (None, 1..) if !is_recalling && !popup.candidates.is_empty() => popup.at = Some(0),
        (None, _) => {
            let Some(text) = filter.recall(by) else {
                return vec![];
            };
            let caret = text.len();
            return put(app, &text, caret);
        }
    }
    vec![]
}

pub fn complete(app: &mut App) -> Effects {
    let (Some((text, _)), Some(session)) = (typed(app), app.session.as_deref()) else {
        return vec![];
    };
    match session.filter.popup.completed(&text) {
        Some((text, caret)) => put(app, &text, caret),
        None => vec![],
    }
}

/// A click on a cell of the screen while the filter is typed: takes the candidate there; beside
/// all that belongs to the filter it is done as it is.
pub fn click(app: &mut App, cell: (u16, u16)) -> Effects {
    let hit = app.session.as_deref();
    let hit = hit.map_or(Hit::Inside, |session| popup::hit(app, session, cell));
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    match hit {
        Hit::Inside => vec![],
        Hit::Entry(at) => {
            session.filter.popup.at = Some(at);
            complete(app)
        }
        Hit::Outside => {
            session.filter.popup.at = None;
            match app.overlays.pop() {
                Some(Overlay::Prompt(prompt)) => done(app, prompt.input.value()),
                _ => vec![],
            }
        }
    }
}

/// The wheel was turned by so many rows over the candidates.
pub fn wheel(app: &mut App, by: isize) -> Effects {
    let rows = app.session.as_deref();
    let (top, page) = rows.map_or((0, 0), |session| popup::rows(app, session));
    if let Some(session) = app.session.as_deref_mut() {
        let popup = &mut session.filter.popup;
        popup.wheel = Some(scroll::turned(top, by, popup.candidates.len(), page));
    }
    vec![]
}

/// Puts a text into the prompt, with the caret at this byte.
fn put(app: &mut App, text: &str, caret: usize) -> Effects {
    let Some(Overlay::Prompt(prompt)) = app.overlays.last_mut() else {
        return vec![];
    };
    let letters = text
        .get(..caret)
        .map_or(text.len(), |head| head.chars().count());
    prompt.input = tui_input::Input::new(text.to_owned()).with_cursor(letters);
    changed(app)
}

pub fn set(app: &mut App, text: &str) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let filter = &mut session.filter;
    let differs = filter.take(text);
    filter.remember(text);
    if differs {
        super::list::begin(app)
    } else {
        vec![]
    }
}

pub fn hints(app: &mut App, answer: list::HintsAnswer) -> Effects {
    let typed = typed(app);
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    match (answer, typed) {
        (list::HintsAnswer::Values(seen), Some((text, caret))) => {
            session.filter.popup.seen(seen, &text, caret);
        }
        (list::HintsAnswer::Relaxed { generation, fits }, _)
            if session.filter.relaxed == Relaxed::Asked(generation) =>
        {
            session.filter.relaxed = match fits {
                Some((query, count, more)) => Relaxed::Fits(query, count, more),
                None => Relaxed::Nothing,
            };
        }
        _ => {}
    }
    vec![]
}

/// Asks what would fit where nothing does, once it is known that nothing does.
pub fn wanted(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let (scan, filter) = (&session.list.scan, &mut session.filter);
    let is_empty = session.list.index.is_empty() && scan.shown == scan.generation && scan.done;
    if !is_empty || !filter.is_on() {
        filter.relaxed = Relaxed::Unknown;
        return vec![];
    }
    let is_known = match filter.relaxed {
        Relaxed::Unknown => false,
        Relaxed::Asked(generation) => generation == scan.generation,
        Relaxed::Fits(..) | Relaxed::Nothing => true,
    };
    if is_known {
        return vec![];
    }
    let generation = scan.generation;
    filter.relaxed = Relaxed::Asked(generation);
    let ask = list::Hints::Relax {
        generation,
        lens: session.lens,
        query: filter.in_force().clone(),
    };
    vec![Ask::Hints(ask).into()]
}

/// Takes out the condition that hides everything, or the last one.
fn relax(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    let filter = &session.filter;
    let query = match &filter.relaxed {
        Relaxed::Fits(query, ..) => Some(query.clone()),
        _ => relaxations(filter.in_force()).into_iter().next(),
    };
    query.map_or_else(Vec::new, |query| set(app, &query.to_string()))
}
