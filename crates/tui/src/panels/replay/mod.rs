//! A replay: the form that asks, the arguments that are edited first, and the result beside the
//! recording.
//!
//! ```text
//!  ┌ replay 7f3a? ──────────────────────────────────────────────────────┐
//!  │ starts  npx -y weather-server --units metric                       │
//!  │ in      /home/ana/work                                             │
//!  │ makes   this call alone, after the handshake: 2 requests           │
//!  │ ⚠ 1 call of a tool that does not say that it only reads:           │
//!  │ #23 tools/call write_file {path:"a"}                               │
//!  │ also    initialize                                                 │
//!  │                                                                    │
//!  │ n  no, start nothing                                               │
//!  │ y  yes, make all of them, also those that may change something     │
//!  └──────────────────────────────────────────── Enter or Esc closes ───┘
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
use mcpreel_share::phrases;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Item;
use mcpreel_wire::text::{count, cut, escape, plural, width};
use play::Order;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use survey::{Offer, Requests, Scope, survey};

/// Rows that the form takes besides the calls that it names.
const BESIDES: u16 = 16;

/// Calls that are named at least; the others are counted.
const LEAST: usize = 3;

/// Kinds of other requests that are named.
const KINDS: usize = 12;

/// Columns of what is started. A stranger may have put any command into the file.
const COMMAND: usize = 4000;

/// Columns of what is given in place of the recorded arguments.
const EDITED: usize = 200;

/// A replay that is asked about.
#[derive(Debug, Default)]
pub struct Replay {
    /// The replay that the form asks about, as long as it is shown.
    offer: Option<Box<Offer>>,
    /// Other arguments for the call, JSON on one line.
    edited: Option<Box<str>>,
}

fn choices(app: &mut App) -> &mut Replay {
    if app.forms.get::<Replay>().is_none() {
        app.forms.keep(Replay::default());
    }
    app.forms.get_mut().expect("the choices were just kept")
}

fn offered(app: &App) -> Option<&Offer> {
    app.forms.get::<Replay>()?.offer.as_deref()
}

fn edited(app: &App) -> Option<&str> {
    app.forms.get::<Replay>()?.edited.as_deref()
}

/// Offers a replay of the recording under the cursor.
pub fn perform_in_library(app: &mut App, action: Action) -> Option<Effects> {
    if action != Action::Replay {
        return None;
    }
    let path = app.library.current()?.entry.path.clone();
    choices(app).edited = None;
    Some(ask(app, path, None, Scope::Whole))
}

/// Offers a replay of the call under the cursor, or of the recording that is open.
pub fn perform_in_session(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    if action != Action::Replay {
        return None;
    }
    let exchange = super::selection::item(session).and_then(Item::exchange);
    let call = exchange.map(|exchange| exchange.request);
    choices(app).edited = None;
    Some(ask(app, session.path.clone(), call, Scope::Alone))
}

/// Asks what a replay would do. Nothing is started.
fn ask(app: &mut App, path: PathBuf, call: Option<(Seq, u32)>, scope: Scope) -> Effects {
    if running::is_busy(app, Slot::Replay) {
        return vec![];
    }
    choices(app).offer = None;
    let reading = "reading what would be replayed".to_owned();
    app.push(Menu {
        text: vec![(Role::Faint, reading)],
        about: Some(Slot::Beside),
        ..Menu::new("replay", Vec::new())
    });
    let work = move |place: &Place<'_>| {
        let offer = survey(place, &path, call, scope)?;
        Ok(Answer::new(|viewer| surveyed(&mut viewer.app, offer)))
    };
    vec![app.questions.send(Slot::Beside, failed, work)]
}

fn failed(viewer: &mut Viewer, why: String) -> Effects {
    let app = &mut viewer.app;
    if let Some(at) = waiting(app) {
        app.overlays.remove(at);
        app.notices.error(why, app.now);
    }
    vec![]
}

/// The form that waits to be filled, unless it was closed meanwhile.
fn waiting(app: &App) -> Option<usize> {
    let mut menus = app.overlays.iter().map(|overlay| overlay.cast::<Menu>());
    menus.position(|menu| menu.is_some_and(|menu| menu.about == Some(Slot::Beside)))
}

/// Fills the form with what a replay would do.
fn surveyed(app: &mut App, offer: Offer) -> Effects {
    if let Some(at) = waiting(app) {
        app.overlays[at] = Box::new(form(app, &offer));
        choices(app).offer = Some(Box::new(offer));
    }
    vec![]
}

/// Shows the form again.
fn show(app: &mut App) {
    if let Some(offer) = offered(app) {
        let menu = form(app, offer);
        app.push(menu);
    }
}

/// A person has confirmed it: `all`, also calls that may change something.
fn start(app: &mut App, all: bool) -> Effects {
    let (offer, edited) = (choices(app).offer.take(), choices(app).edited.take());
    let Some(order) = offer.and_then(|offer| order(*offer, edited, all)) else {
        return vec![];
    };
    let work = move |place: &Place<'_>| play::play(order, place);
    running::start(app, Slot::Replay, "starting the server", work)
}

fn order(offer: Offer, edited: Option<Box<str>>, all: bool) -> Option<Order> {
    let call = offer.call.filter(|_| offer.scope != Scope::Whole);
    let edit = edited.and_then(|json| {
        let call = call.as_ref()?;
        Some((call.seq, call.arguments.as_ref()?.path.clone(), json))
    });
    Some(Order {
        path: offer.path,
        command: offer.command.ok()?,
        until: offer.until,
        shows: call.as_ref().map(|call| call.seq),
        only: call
            .filter(|_| offer.scope == Scope::Alone)
            .map(|call| call.only),
        requests: offer.requests.count,
        allowed: if all {
            offer.requests.tools
        } else {
            BTreeSet::new()
        },
        edit,
    })
}

/// The form. The cursor is on the answer that does no harm.
fn form(app: &App, offer: &Offer) -> Menu {
    let requests = &offer.requests;
    let warning = app.settings.look.glyph(Glyph::Warning);
    let mut text = started(offer, warning);
    let what = match (offer.scope, &offer.call) {
        (Scope::Alone, Some(call)) => {
            format!("#{} {} alone, after the handshake", call.seq.0, call.title)
        }
        (Scope::UpTo, Some(call)) => format!("all up to #{} {}", call.seq.0, call.title),
        _ => "the whole session".to_owned(),
    };
    let much = plural(requests.count, "request");
    text.push((Role::Text, format!("makes   {what}: {much}")));
    let edited = edited(app);
    if let Some(json) = edited.filter(|_| offer.scope != Scope::Whole) {
        let json = cut(&escape(json), EDITED);
        text.push((Role::Strong, format!("with    {json}")));
    }
    if requests.changes > 0 {
        let room = usize::from(app.size.1.saturating_sub(BESIDES)).max(LEAST);
        text.extend(changing(requests, room, warning));
    }
    if !requests.others.is_empty() {
        text.push((Role::Text, format!("also    {}", named(&requests.others))));
    }
    Menu {
        text,
        // It is read from its beginning, whatever there is room for.
        top: Some(0),
        ..Menu::new(
            format!("replay {}?", offer.short),
            entries(offer, edited.is_some()),
        )
    }
}

/// The command and its folder, or why there is none; and who chose them.
fn started(offer: &Offer, warning: &str) -> Vec<(Role, String)> {
    let mut text = Vec::new();
    match &offer.command {
        Ok(command) => {
            let words = command.words.iter();
            let words: Vec<_> = words
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            let starts = phrases::command(&words);
            text.push((Role::Strong, format!("starts  {}", cut(&starts, COMMAND))));
            let hidden = width(&starts).saturating_sub(COMMAND);
            if hidden > 0 {
                let hidden = plural(hidden as u64, "more character");
                let told = format!("{warning} and {hidden} that are not shown");
                text.push((Role::Bad, told));
            }
            let dir = match &command.dir {
                Some(dir) => escape(&dir.to_string_lossy()).into_owned(),
                None => "the folder where the viewer was started".to_owned(),
            };
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
    text
}

/// The calls that may change something, as many as there is room for.
fn changing(requests: &Requests, room: usize, warning: &str) -> Vec<(Role, String)> {
    let head = match requests.changes {
        1 => "1 call of a tool that does not say that it only reads".to_owned(),
        many => format!(
            "{} calls of tools that do not say that they only read",
            count(many)
        ),
    };
    let shown = requests.changing.iter().take(room);
    let shown: Vec<_> = shown
        .map(|(seq, asked)| format!("#{} {asked}", seq.0))
        .collect();
    let more = requests.changes - shown.len() as u64;
    let more = (more > 0).then(|| format!("and {} more", count(more)));
    let head = format!("{warning} {head}:");
    let lines = [head].into_iter().chain(shown).chain(more);
    lines.map(|line| (Role::Warn, line)).collect()
}

/// `tools/list (3 times), prompts/list`, the first ones.
fn named(kinds: &BTreeMap<String, u64>) -> String {
    let one = |(kind, times): (&String, &u64)| match times {
        1 => kind.clone(),
        times => format!("{kind} ({} times)", count(*times)),
    };
    let mut names: Vec<_> = kinds.iter().take(KINDS).map(one).collect();
    let more: u64 = kinds.values().skip(KINDS).sum();
    if more > 0 {
        names.push(format!("{} more", count(more)));
    }
    names.join(", ")
}

fn entries(offer: &Offer, is_edited: bool) -> Vec<Entry> {
    let mut entries = vec![Entry::nothing('n', "no, start nothing")];
    if offer.command.is_err() {
        return entries;
    }
    let yes = |label| Entry::new('y', label, |viewer| start(&mut viewer.app, true));
    let requests = &offer.requests;
    if requests.changes == 0 {
        entries.push(yes("yes, replay it"));
    } else {
        // What does no harm comes first: a small screen shows it, and the other one on request.
        if requests.changes < requests.count {
            let some = "only the others: these are refused";
            entries.push(Entry::new('r', some, |viewer| {
                start(&mut viewer.app, false)
            }));
        }
        let all = "yes, make all of them, also those that may change something";
        entries.push(yes(all));
    }
    let Some(call) = &offer.call else {
        return entries;
    };
    if offer.scope != Scope::Whole && call.arguments.is_some() {
        let label = if is_edited {
            "edit the arguments again"
        } else {
            "edit the arguments first"
        };
        entries.push(Entry::new('e', label, |viewer| edit(&mut viewer.app)));
    }
    let scopes = [
        ('c', "this call alone instead", Scope::Alone),
        ('u', "all up to this call instead", Scope::UpTo),
        ('w', "the whole session instead", Scope::Whole),
    ];
    for (letter, label, scope) in scopes {
        if scope != offer.scope {
            entries.push(Entry::new(letter, label, move |viewer| {
                let app = &mut viewer.app;
                match choices(app).offer.take() {
                    Some(offer) => ask(app, offer.path, offer.place, scope),
                    None => vec![],
                }
            }));
        }
    }
    entries
}

/// Opens the arguments of the call.
fn edit(app: &mut App) -> Effects {
    let offer = offered(app);
    let call = offer.and_then(|offer| offer.call.as_ref());
    if let Some((call, arguments)) = call.and_then(|call| Some((call, call.arguments.clone()?))) {
        let editor = Editor::new(call, arguments, edited(app));
        app.push(editor);
    }
    vec![]
}
