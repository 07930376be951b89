//! A replay: asked about, edited, made, shown.

mod dialog;

use super::{comparison, selection};
use crate::action::Action;
use crate::app::menu::Menu;
use crate::app::replay::{Go, Running, Scope};
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::theme::Role;
use crate::worker::Ask as AskAny;
use crate::worker::beside::survey::{self, Offer};
use crate::worker::beside::{Ask, Replayed, Which};
use crate::worker::replay::{self as worker, Answer, Done, Only, Order};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::item::Item;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What is done with a recording of the folder.
pub fn perform_in_library(app: &mut App, action: Action) -> Option<Effects> {
    if action != Action::Replay {
        return None;
    }
    let path = app.library.current()?.entry.path.clone();
    Some(ask(app, path, None))
}

/// What is done with the call under the cursor, or with the recording that is open.
pub fn perform_in_session(app: &mut App, action: Action) -> Option<Effects> {
    if action != Action::Replay {
        return None;
    }
    let session = app.session.as_deref()?;
    let exchange = selection::item(session).and_then(Item::exchange);
    let call = exchange.map(|exchange: &Exchange| exchange.request);
    let path = session.path.clone();
    Some(ask(app, path, call))
}

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    if !matches!(action, Action::Cancel | Action::StopReplay) {
        return None;
    }
    let Some(running) = &mut app.replay.running else {
        if action == Action::StopReplay {
            app.notices.error("no replay is running", app.now);
            return Some(vec![]);
        }
        return None;
    };
    let text = if running.is_stopping {
        "the server is killed"
    } else {
        "the replay stops: its server is told to end"
    };
    running.is_stopping = true;
    app.notices.success(text, app.now);
    Some(vec![AskAny::Replay(worker::Ask::Stop).into()])
}

/// Asks what a replay would do. Nothing is started.
fn ask(app: &mut App, path: PathBuf, call: Option<(mcpreel_trace::frame::Seq, u32)>) -> Effects {
    if app.replay.running.is_some() {
        let text = "a replay is running; Ctrl-C stops it";
        app.notices.error(text, app.now);
        return vec![];
    }
    let generation = app.next_generation();
    app.replay.offer = None;
    app.replay.edited = None;
    let reading = "reading what would be replayed".to_owned();
    app.overlays.push(Overlay::Menu(Menu {
        text: vec![(Role::Faint, reading)],
        generation: Some(generation),
        ..Menu::new("replay", Vec::new())
    }));
    let ask = survey::Ask {
        generation,
        path,
        call,
    };
    vec![AskAny::Beside(Ask::Survey(ask)).into()]
}

/// What a replay would do is known: the question is asked.
pub fn surveyed(app: &mut App, answer: survey::Answer) {
    let generation = Some(answer.generation);
    let is_it = |overlay: &Overlay| match overlay {
        Overlay::Menu(menu) => menu.generation == generation,
        _ => false,
    };
    // Whoever has left it does not want it any more.
    let Some(at) = app.overlays.iter().position(is_it) else {
        return;
    };
    app.replay.scope = match answer.offer.call {
        Some(_) => Scope::Alone,
        None => Scope::Whole,
    };
    app.replay.offer = Some(answer.offer);
    if let Some(filled) = dialog::menu(app, answer.generation) {
        app.overlays[at] = Overlay::Menu(filled);
    }
}

/// Something was chosen in the dialog.
pub fn choose(app: &mut App, go: Go) -> Effects {
    match go {
        Go::All => return start(app, true),
        Go::ReadOnly => return start(app, false),
        Go::Edit => super::edit::begin(app),
        Go::Scope(scope) => {
            app.replay.scope = scope;
            ask_again(app);
        }
    }
    vec![]
}

/// The question is asked again, with what was chosen meanwhile.
pub fn ask_again(app: &mut App) {
    let generation = app.next_generation();
    let menu = dialog::menu(app, generation);
    app.overlays.extend(menu.map(Overlay::Menu));
}

/// Somebody has said yes: also to calls that may change something, or only to the others.
fn start(app: &mut App, all: bool) -> Effects {
    let generation = app.next_generation();
    let Some(offer) = app.replay.offer.take() else {
        return vec![];
    };
    let Some(order) = order(app, &offer, generation, all) else {
        return vec![];
    };
    app.replay.running = Some(Running {
        generation,
        told: "starting the server".to_owned(),
        is_stopping: false,
    });
    vec![AskAny::Replay(worker::Ask::Start(Box::new(order))).into()]
}

fn order(app: &App, offer: &Offer, generation: u64, all: bool) -> Option<Order> {
    let (scope, call) = (app.replay.scope, offer.call.as_ref());
    let call = call.filter(|_| scope != Scope::Whole);
    let requests = match (scope, call) {
        (Scope::Alone, Some(call)) => &call.alone,
        (Scope::UpTo, Some(call)) => &call.up_to,
        _ => &offer.whole,
    };
    let edit = app.replay.edited.clone().and_then(|json| {
        let call = call?;
        let path = call.arguments.as_ref().ok()?.path.clone();
        Some((call.request.0, path, json))
    });
    let only = call.filter(|_| scope == Scope::Alone).map(|call| Only {
        id: call.id,
        chain: call.chain,
    });
    Some(Order {
        generation,
        path: offer.path.clone(),
        command: offer.command.clone().ok()?,
        until: call.map_or(offer.last, |call| call.until),
        shows: call.map(|call| call.request.0),
        only,
        requests: requests.count,
        allowed: if all {
            requests.tools()
        } else {
            BTreeSet::new()
        },
        edit,
    })
}

pub fn answer(app: &mut App, answer: Answer) -> Effects {
    let generation = match &answer {
        Answer::Progress(generation, _)
        | Answer::Done(generation, _)
        | Answer::Failed(generation, _) => *generation,
    };
    let running = app.replay.running.as_mut();
    let Some(running) = running.filter(|running| running.generation == generation) else {
        return vec![];
    };
    match answer {
        Answer::Progress(_, told) => {
            running.told = told;
            vec![]
        }
        Answer::Failed(_, why) => {
            app.replay.running = None;
            app.notices.error(why, app.now);
            vec![]
        }
        Answer::Done(_, done) => {
            app.replay.running = None;
            show(app, *done)
        }
    }
}

/// What came of it is shown beside what was replayed.
fn show(app: &mut App, done: Done) -> Effects {
    let text = format!("replayed: {}", done.told);
    app.notices.success(text, app.now);
    app.library.listed = None;
    let replayed = Replayed {
        report: done.report,
        until: done.until,
        only: done.only,
        bound: done.bound,
        shows: done.shows,
    };
    let left = Which::File(done.original);
    comparison::begin(app, left, done.path, Some(Box::new(replayed)), done.shows)
}
