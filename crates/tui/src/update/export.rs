//! An export: asked about, made, told of; and a report for the clipboard, which is made alike.

mod dialog;

use super::{copy, selection};
use crate::action::Action;
use crate::app::export::{Offer, Pick, Scope};
use crate::app::prompt::{Prompt, Purpose};
use crate::app::replay::Running;
use crate::app::{App, Overlay, Session};
use crate::effect::Effects;
use crate::worker::Ask as AskAny;
use crate::worker::export::{Answer, Ask, File, Goal, Order, What};
use mcpreel_share::outgoing::Format;
use mcpreel_share::outgoing::file::Replace;
use mcpreel_store::select::Question;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::item::Item;
use mcpreel_wire::text::escape;
use std::path::PathBuf;

/// What is done with a recording of the folder.
pub fn perform_in_library(app: &mut App, action: Action) -> Option<Effects> {
    if action != Action::Export {
        return None;
    }
    let entry = &app.library.current()?.entry;
    let (path, id) = (entry.path.clone(), entry.id.clone());
    Some(offer(app, path, id))
}

/// What is done with the recording that is open.
pub fn perform_in_session(app: &mut App, action: Action) -> Option<Effects> {
    if action != Action::Export {
        return None;
    }
    let session = app.session.as_deref()?;
    let Some(vitals) = session.vitals.as_deref() else {
        app.notices.error("the recording is not open yet", app.now);
        return Some(vec![]);
    };
    let (path, id) = (session.path.clone(), vitals.summary.id.clone());
    Some(offer(app, path, id))
}

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    if !matches!(action, Action::Cancel | Action::StopExport) {
        return None;
    }
    let Some(running) = &mut app.export.running else {
        if action == Action::StopExport {
            app.notices.error("no export is running", app.now);
            return Some(vec![]);
        }
        return None;
    };
    // Once more is about something else: there is no harder way to stop it.
    if running.is_stopping && action == Action::Cancel {
        return None;
    }
    running.is_stopping = true;
    Some(vec![AskAny::Export(Ask::Stop).into()])
}

/// Offers it. Nothing is written yet.
fn offer(app: &mut App, path: PathBuf, id: String) -> Effects {
    if is_busy(app) {
        return vec![];
    }
    let generation = app.next_generation();
    let session = app.session.as_deref();
    let offer = Offer {
        generation,
        path,
        id,
        format: Format::Jsonl,
        scope: Scope::All,
        filter: session.and_then(filter),
        exchange: session.and_then(exchange),
        is_raw: false,
        file: None,
    };
    app.export.offer = Some(Box::new(offer));
    dialog::show(app, dialog::WRITE);
    vec![]
}

/// Says so if something is being written.
fn is_busy(app: &mut App) -> bool {
    let is_busy = app.export.running.is_some();
    if is_busy {
        let text = "something is being written; Ctrl-C stops it";
        app.notices.error(text, app.now);
    }
    is_busy
}

/// What is shown, where that is not everything.
fn filter(session: &Session) -> Option<(String, Question)> {
    let filter = &session.filter;
    let question = Question {
        lens: session.lens,
        query: filter.in_force().clone(),
        until: None,
    };
    // What was typed last may be no filter, and another one still in force.
    let text = question.query.to_string();
    filter.is_on().then_some((text, question))
}

/// The request of the exchange that is selected.
fn exchange(session: &Session) -> Option<(mcpreel_trace::frame::Seq, u32)> {
    let exchange = selection::item(session).and_then(Item::exchange);
    exchange.map(|exchange: &Exchange| exchange.request)
}

/// Something was chosen in the dialog.
pub fn choose(app: &mut App, pick: Pick) -> Effects {
    if pick == Pick::Replace {
        return replace(app);
    }
    let Some(offer) = app.export.offer.as_deref_mut() else {
        return vec![];
    };
    match pick {
        Pick::Write | Pick::Replace => return start(app),
        Pick::Format(format) => offer.format = format,
        Pick::Scope(scope) => offer.scope = scope,
        Pick::Raw(is_raw) => offer.is_raw = is_raw,
        Pick::Formats | Pick::Scopes | Pick::Name => {}
    }
    dialog::show(app, dialog::entry_of(pick));
    match pick {
        Pick::Formats => dialog::formats(app),
        Pick::Scopes => dialog::scopes(app),
        Pick::Name => {
            let name = app.export.offer.as_deref().map(Offer::file);
            let prompt = Prompt::new(Purpose::ExportFile, &name.unwrap_or_default());
            app.overlays.push(Overlay::Prompt(prompt));
        }
        _ => {}
    }
    vec![]
}

/// The file has another name; without one, that which is proposed.
pub fn named(app: &mut App, name: &str) -> Effects {
    if let Some(offer) = app.export.offer.as_deref_mut() {
        let name = name.trim();
        offer.file = (!name.is_empty()).then(|| name.to_owned());
        dialog::show(app, dialog::WRITE);
    }
    vec![]
}

/// It is wanted as it stands in the dialog.
fn start(app: &mut App) -> Effects {
    let Some(offer) = app.export.offer.take() else {
        return vec![];
    };
    let what = match (offer.scope, &offer.filter, offer.exchange) {
        (Scope::Filter, Some((text, question)), _) => What::Rows(text.clone(), question.clone()),
        (Scope::Marked, ..) => What::Marked,
        (Scope::Exchange, _, Some(request)) => What::Exchange(request),
        _ => What::All,
    };
    let file = File {
        format: offer.format,
        what,
        is_raw: offer.is_raw,
        target: PathBuf::from(offer.file()),
        may: Replace::No,
    };
    let generation = app.next_generation();
    let order = Order {
        generation,
        path: offer.path,
        goal: Goal::File(file),
    };
    run(app, order)
}

fn replace(app: &mut App) -> Effects {
    let Some(mut order) = app.export.again.take() else {
        return vec![];
    };
    if is_busy(app) {
        return vec![];
    }
    if let Goal::File(file) = &mut order.goal {
        file.may = Replace::Yes;
    }
    order.generation = app.next_generation();
    run(app, *order)
}

/// Has the exchange that is selected told in Markdown, for the clipboard.
pub fn report(app: &mut App) -> Effects {
    let session = app.session.as_deref();
    let request = session.and_then(exchange);
    let path = session.map(|session| session.path.clone());
    let (Some(request), Some(path)) = (request, path) else {
        return vec![];
    };
    if is_busy(app) {
        return vec![];
    }
    let generation = app.next_generation();
    let order = Order {
        generation,
        path,
        goal: Goal::Report(request),
    };
    run(app, order)
}

fn run(app: &mut App, order: Order) -> Effects {
    app.export.running = Some(Running {
        generation: order.generation,
        told: "reading the recording".to_owned(),
        is_stopping: false,
    });
    vec![AskAny::Export(Ask::Start(Box::new(order))).into()]
}

pub fn answer(app: &mut App, answer: Answer) -> Effects {
    let generation = match &answer {
        Answer::Progress(generation, _)
        | Answer::Done(generation, _)
        | Answer::Report(generation, _)
        | Answer::IsThere(generation, _)
        | Answer::Stopped(generation)
        | Answer::Failed(generation, _) => *generation,
    };
    let running = app.export.running.as_mut();
    let Some(running) = running.filter(|running| running.generation == generation) else {
        return vec![];
    };
    if let Answer::Progress(_, told) = answer {
        running.told = told;
        return vec![];
    }
    app.export.running = None;
    match answer {
        Answer::Report(_, text) => return copy::report(app, text),
        Answer::Done(_, done) => {
            // In full for whoever looks at the messages: the screen may be narrow.
            for told in [done.told, done.short] {
                app.notices.success(told, app.now);
            }
        }
        Answer::IsThere(_, order) => {
            if let Goal::File(file) = &order.goal {
                let name = escape(&file.target.to_string_lossy()).into_owned();
                app.overlays.push(Overlay::Menu(dialog::is_there(&name)));
            }
            app.export.again = Some(order);
        }
        Answer::Stopped(_) => app.notices.success("stopped: nothing was written", app.now),
        Answer::Failed(_, why) => app.notices.error(why, app.now),
        Answer::Progress(..) => {}
    }
    vec![]
}
