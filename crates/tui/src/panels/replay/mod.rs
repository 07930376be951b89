//! A replay: the form that asks, the arguments that are edited first, and the result beside the
//! recording.
//!
//! ```text
//!  ┌ replay 7f3a? ──────────────────────────────────────────────────────┐
//!  │ starts  npx -y weather-server --units metric                       │
//!  │ in      /home/ana/work                                             │
//!  │ sends   only this call, after the handshake: 2 requests            │
//!  │ ⚠ 1 call of a tool that does not say that it only reads:           │
//!  │ #23 tools/call write_file {path:"a"}                               │
//!  │                                                                    │
//!  │ n  no, start nothing                                               │
//!  │ y  yes, send all, even those that may change something             │
//!  └─────────────────────────────────── Enter chooses, Esc closes ──────┘
//! ```

pub mod editor;
mod play;
mod survey;

use super::running;
use crate::action::Action;
use crate::app::{App, Session, Viewer};
use crate::effect::Effects;
use crate::panels::menu::{Entry, Menu};
use crate::theme::{Glyph, Role};
use crate::worker::{Answer, Place, Slot};
use editor::Editor;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Item;
use mcpreel_wire::text::{count, cut, escape, plural};
use std::path::PathBuf;
use std::sync::Arc;
use survey::{Offer, Scope, survey};

/// Columns of what is given in place of the recorded arguments.
const EDITED: usize = 200;

/// Other arguments for the call, JSON on one line.
type Edited = Option<Box<str>>;

/// Offers a replay of the recording under the cursor.
pub fn perform_in_library(app: &mut App, action: Action) -> Option<Effects> {
    if action != Action::Replay {
        return None;
    }
    let path = app.library.current()?.path.clone();
    Some(ask(app, path, None, Scope::Whole))
}

/// Offers a replay of the call under the cursor, or of the recording that is open.
pub fn perform_in_session(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    if action != Action::Replay {
        return None;
    }
    let exchange = super::selection::item(session).and_then(Item::exchange);
    let call = exchange.map(|exchange| exchange.request);
    Some(ask(app, session.path.clone(), call, Scope::Alone))
}

/// Asks what a replay would do. Nothing is started.
fn ask(app: &mut App, path: PathBuf, call: Option<(Seq, u32)>, scope: Scope) -> Effects {
    if running::is_busy(app, Slot::Replay) {
        return vec![];
    }
    let reading = "reading what would be replayed".to_owned();
    app.push(Menu {
        text: vec![(Role::Faint, reading)],
        waits: true,
        ..Menu::new("replay", Vec::new())
    });
    let work = move |place: &Place<'_>| {
        let offer = survey(place, path, call, scope)?;
        Ok(Answer::new(|viewer| {
            let form = form(&viewer.app, &Arc::new(offer), None);
            fill(&mut viewer.app, Ok(form))
        }))
    };
    let failed = |viewer: &mut Viewer, why| fill(&mut viewer.app, Err(why));
    vec![app.questions.send(Slot::Preview, failed, work)]
}

/// Fills the form that waits, or says why it cannot be, unless the form was closed meanwhile.
fn fill(app: &mut App, form: Result<Menu, String>) -> Effects {
    let mut overlays = app.overlays.iter();
    let at = overlays.position(|top| top.cast().is_some_and(|menu: &Menu| menu.waits));
    if let Some(at) = at {
        match form {
            Ok(form) => app.overlays[at] = Box::new(form),
            Err(why) => {
                app.overlays.remove(at);
                app.refuse(why);
            }
        }
    }
    vec![]
}

/// The form. The cursor is on the answer that does no harm.
fn form(app: &App, offer: &Arc<Offer>, edited: Edited) -> Menu {
    let warning = app.settings.look.glyph(Glyph::Warning);
    Menu {
        text: text(offer, edited.as_deref(), warning),
        // It is read from its beginning, whatever there is room for.
        top: Some(0),
        ..Menu::new(format!("replay {}?", offer.short), entries(offer, edited))
    }
}

/// The text of the form: the command, who chose the command, and the requests.
fn text(offer: &Offer, edited: Option<&str>, warning: &str) -> Vec<(Role, String)> {
    let mut text = Vec::new();
    match &offer.command {
        Ok((_, words, dir)) => {
            text.push((Role::Strong, format!("starts  {words}")));
            text.push((Role::Text, format!("in      {dir}")));
        }
        Err(why) => text.push((Role::Bad, why.clone())),
    }
    if let Some(gone) = &offer.gone {
        let told = format!("{warning} the folder {gone}, where it was recorded, is not there");
        text.push((Role::Warn, told));
    }
    if offer.is_stranger {
        let told = format!(
            "{warning} this recording is not your own: whoever made it chose what is started, and \
             what it says of its tools does not count"
        );
        text.push((Role::Bad, told));
    }
    let requests = &offer.requests;
    let what = match (offer.scope, &offer.call) {
        // The call is named below, where it is warned of.
        (Scope::Alone, Some(_)) if requests.changes > 0 => {
            "only this call, after the handshake".to_owned()
        }
        (Scope::Alone, Some(call)) => format!("only {}, after the handshake", call.title),
        (Scope::UpTo, Some(call)) => format!("all up to {}", call.title),
        _ => "the whole session".to_owned(),
    };
    let much = plural(requests.count, "request");
    text.push((Role::Text, format!("sends   {what}: {much}")));
    if let Some(json) = edited {
        let json = cut(&escape(json), EDITED);
        text.push((Role::Strong, format!("with    {json}")));
    }
    if requests.changes > 0 {
        let head = match requests.changes {
            1 => "1 call of a tool that does not say that it only reads".to_owned(),
            many => format!(
                "{} calls of tools that do not say that they only read",
                count(many)
            ),
        };
        text.push((Role::Warn, format!("{warning} {head}:")));
        let named = requests.changing.iter();
        text.extend(named.map(|call| (Role::Warn, call.clone())));
        let more = requests.changes - requests.changing.len() as u64;
        if more > 0 {
            text.push((Role::Warn, format!("and {} more", count(more))));
        }
    }
    if !requests.others.is_empty() && offer.scope != Scope::Alone {
        let others = requests.others.iter().map(|(kind, times)| match times {
            1 => kind.clone(),
            times => format!("{kind} ({} times)", count(*times)),
        });
        let others = others.collect::<Vec<_>>().join(", ");
        text.push((Role::Text, format!("these   {others}")));
    }
    text
}

fn entries(offer: &Arc<Offer>, edited: Edited) -> Vec<Entry> {
    let mut entries = vec![Entry::nothing('n', "no, start nothing")];
    if offer.command.is_err() {
        return entries;
    }
    let start = |letter, label, all| {
        let (offer, edited) = (Arc::clone(offer), edited.clone());
        Entry::new(letter, label, move |viewer| {
            let work = move |place: &Place<'_>| play::play(offer, edited, all, place);
            running::start(&mut viewer.app, Slot::Replay, "starting the server", work)
        })
    };
    let requests = &offer.requests;
    if requests.changes == 0 {
        entries.push(start('y', "yes, replay it", false));
    } else {
        // What does no harm comes first: a small screen shows it, and the other one on request.
        if requests.changes < requests.count {
            entries.push(start('r', "only the others: these are refused", false));
        }
        let all = "yes, send all, even those that may change something";
        entries.push(start('y', all, true));
    }
    let Some(call) = &offer.call else {
        return entries;
    };
    if offer.scope != Scope::Whole && call.arguments.is_some() {
        let offer = Arc::clone(offer);
        entries.push(Entry::new('e', "edit the arguments first", |viewer| {
            let editor = Editor::new(offer, edited);
            editor.map_or_else(Effects::new, |editor| viewer.app.push(editor))
        }));
    }
    let scopes = [
        ('c', "only this call instead", Scope::Alone),
        ('u', "all up to this call instead", Scope::UpTo),
        ('w', "the whole session instead", Scope::Whole),
    ];
    for (letter, label, scope) in scopes {
        if scope != offer.scope {
            let (path, call) = (offer.path.clone(), Some(call.place));
            entries.push(Entry::new(letter, label, move |viewer| {
                ask(&mut viewer.app, path, call, scope)
            }));
        }
    }
    entries
}
