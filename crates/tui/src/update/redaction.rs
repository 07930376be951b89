//! The redacted screen: on, off, and what changes meanwhile.
//!
//! ```text
//!  :redact ─▶ Making ── Made ─▶ on: another Session, of the likeness ── Made ─▶ the newer likeness
//!               │ stopped, failed                        │ :redact, its chip
//!               └─▶ as it was                            └─▶ off: another Session, of the recording
//! ```
//!
//! Nothing is taken out of what is on the screen: the recording is closed, and what was made of it
//! is dropped with its [`Session`]; what is carried over (`carry`) is named one by one. Whatever
//! the reader still says about it is [not heard](super::session::is_stale).

mod carry;

use super::{diff, list, playback, search, session};
use crate::action::Action;
use crate::app::export::Export;
use crate::app::library::Listing;
use crate::app::redaction::Work;
use crate::app::replay::{Replay, Running};
use crate::app::session::Opening;
use crate::app::{App, Session};
use crate::effect::Effects;
use crate::worker::Ask as AskAny;
use crate::worker::open::What;
use crate::worker::redacted::{Answer, Ask, Order};
use mcpreel_share::outgoing::likeness::Likeness;
use std::path::PathBuf;

/// Said of what cannot be shown without secrets; short, since it stands beside the chip.
const REFUSED: &str = "it reads secrets; end :redact first";

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let making = app.redaction.making();
    let is_stopping = making.is_some_and(|running| running.is_stopping);
    match action {
        Action::Redact if making.is_some() => Some(stop(app)),
        // Once more is about something else: there is no harder way to stop it.
        Action::Cancel if making.is_some() && !is_stopping => Some(stop(app)),
        Action::Redact => Some(switch(app)),
        _ => None,
    }
}

/// Says why nothing is done that reads recordings with their secrets.
pub fn refuse(app: &mut App) -> Effects {
    app.notices.error(REFUSED, app.now);
    vec![]
}

fn switch(app: &mut App) -> Effects {
    if app.redaction.is_on {
        return off(app);
    }
    if let Some(why) = app.redaction.refusal.clone() {
        app.notices.error(why, app.now);
        return vec![];
    }
    if app.replay.running.is_some() {
        let text = "a replay is running, and says what it sends; :redact once it has ended";
        app.notices.error(text, app.now);
        return vec![];
    }
    if let Some(path) = app.session.as_deref().map(|open| open.path.clone()) {
        return begin(app, path);
    }
    conceal(app);
    super::library::begin(app)
}

/// Has a likeness made of the recording `path`. What was said of one before is no longer so.
pub fn begin(app: &mut App, path: PathBuf) -> Effects {
    app.notices.dismiss(app.now);
    let generation = app.next_generation();
    app.redaction.work = Some(Work::Making(Running {
        generation,
        told: "reading the recording".to_owned(),
        is_stopping: false,
    }));
    let order = Order { generation, path };
    vec![AskAny::Redacted(Ask::Start(order)).into()]
}

fn stop(app: &mut App) -> Effects {
    if let Some(Work::Making(running)) = &mut app.redaction.work {
        running.is_stopping = true;
    }
    vec![AskAny::Redacted(Ask::Stop).into()]
}

/// The recording that is open is left: nothing more is made of it. Who goes on while its likeness
/// is made wants what comes next redacted as well.
pub fn leave(app: &mut App) -> Effects {
    let making = app.redaction.making();
    if !app.redaction.is_on && making.is_some_and(|running| !running.is_stopping) {
        conceal(app);
    }
    match app.redaction.work.take() {
        Some(_) => vec![AskAny::Redacted(Ask::Stop).into()],
        None => vec![],
    }
}

pub fn answer(app: &mut App, answer: Answer) -> Effects {
    let generation = match &answer {
        Answer::Progress(generation, _)
        | Answer::Made(generation, _)
        | Answer::Newest(generation, _)
        | Answer::Stopped(generation)
        | Answer::Failed(generation, _) => *generation,
    };
    if app.redaction.generation() != Some(generation) {
        return match answer {
            Answer::Made(_, likeness) => forget(likeness),
            _ => vec![],
        };
    }
    match answer {
        Answer::Progress(_, told) => progress(app, told),
        Answer::Newest(_, seq) => {
            let session = app.session.as_deref_mut();
            if let Some(shown) = session.and_then(|open| open.redacted.as_mut()) {
                shown.newest = shown.newest.max(seq);
            }
        }
        Answer::Made(_, likeness) => return made(app, generation, likeness),
        Answer::Stopped(_) => return stopped(app),
        Answer::Failed(_, why) => return failed(app, &why),
    }
    vec![]
}

fn progress(app: &mut App, text: String) {
    let session = app.session.as_deref_mut();
    if let Some(Opening::Redacting(told)) = session.map(|open| &mut open.opening) {
        told.clone_from(&text);
    }
    if let Some(Work::Making(running)) = &mut app.redaction.work {
        running.told = text;
    }
}

/// There will be no likeness: what is on the screen stays. A recording that would have to be shown
/// with its secrets is not shown at all.
fn give_up(app: &mut App) -> Effects {
    app.redaction.work = None;
    let is_shown = |open: &Session| open.redacted.is_some();
    if app.redaction.is_on && !app.session.as_deref().is_some_and(is_shown) {
        return session::close(app);
    }
    vec![]
}

fn stopped(app: &mut App) -> Effects {
    let text = if app.redaction.is_on {
        "stopped: the recording was not opened"
    } else {
        "stopped: it is not redacted"
    };
    let effects = give_up(app);
    app.notices.success(text, app.now);
    effects
}

/// Its files go, which may take a while.
fn forget(likeness: Box<Likeness>) -> Effects {
    vec![AskAny::Redacted(Ask::Forget(likeness)).into()]
}

fn failed(app: &mut App, why: &str) -> Effects {
    let text = match app.redaction.making() {
        Some(_) => format!("not redacted: {why}"),
        None => format!("what has come since is not shown: {why}"),
    };
    let text = app.without_files(&text);
    let effects = give_up(app);
    app.notices.error(text, app.now);
    effects
}

fn made(app: &mut App, generation: u64, mut likeness: Box<Likeness>) -> Effects {
    if app.redaction.making().is_some_and(|one| one.is_stopping) {
        let mut effects = stopped(app);
        effects.extend(forget(likeness));
        return effects;
    }
    app.redaction.work = Some(Work::Following(generation));
    let Some(mut old) = app.session.take() else {
        return forget(likeness);
    };
    if let Some(shown) = &mut old.redacted {
        shown.last = likeness.last();
        shown.newest = shown.newest.max(shown.last);
        app.session = Some(old);
        return renew(app, likeness);
    }
    if !app.redaction.is_on {
        conceal(app);
    }
    let page = old.list.page;
    app.session = Some(Box::new(carry::concealed(&old, page, &mut likeness)));
    drop(old);
    reopen(app, What::Redacted(likeness))
}

/// The screen is redacted from now on: whatever was made of recordings is off it.
fn conceal(app: &mut App) {
    app.redaction.is_on = true;
    app.overlays.clear();
    app.notices.conceal();
    app.copied = None;
    app.export = Export {
        running: app.export.running.take(),
        ..Export::default()
    };
    app.replay = Replay::default();
    forget_list(app);
}

/// The rows of the recordings screen are to be listed anew.
fn forget_list(app: &mut App) {
    app.library.rows.clear();
    app.library.listing = Listing::Asked;
    app.library.listed = None;
    app.library.is_asked = false;
}

/// Shows recordings as they are again.
fn off(app: &mut App) -> Effects {
    let mut effects = leave(app);
    app.redaction.is_on = false;
    app.overlays.clear();
    app.notices.reveal();
    forget_list(app);
    let Some(old) = app.session.take() else {
        effects.extend(super::library::begin(app));
        return effects;
    };
    let page = old.list.page;
    let path = old.path.clone();
    app.session = Some(Box::new(carry::revealed(&old, page)));
    effects.extend(reopen(app, What::File(path)));
    effects
}

/// The reader reads something else for the session that is there.
fn reopen(app: &mut App, what: What) -> Effects {
    let mut effects: Effects = vec![session::ask(app, what)];
    effects.extend(list::begin(app));
    effects.extend(playback::again(app));
    effects
}

/// A newer likeness takes the place of the one that is shown: what is on the screen is asked anew,
/// and stays until the answer.
fn renew(app: &mut App, likeness: Box<Likeness>) -> Effects {
    let mut effects = reopen(app, What::Redacted(likeness));
    if let Some(session) = app.session.as_deref_mut() {
        session.detail.asked = None;
        session.detail.asked_story = None;
        session.stats.asked = None;
        session.findings.asked = None;
        if let Some(asked) = &mut session.timeline.asked {
            // A picture of no size: of another one than is wanted.
            asked.about.size = (0, 0);
        }
        if let Some(playing) = &mut session.playback.playing {
            playing.asked = false;
        }
    }
    effects.extend(search::again(app));
    effects.extend(diff::again(app));
    effects
}
