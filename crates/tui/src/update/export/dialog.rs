//! The question before an export: as what, what of it, with its secrets or without, where to.
//!
//! ```text
//!  ┌ export 7f3a9c21 ───────────────────────────────────────────────────┐
//!  │ Redacted: what has the shape or the name of a secret is replaced.  │
//!  │ One without either stays: look through the file before you hand it │
//!  │ on.                                                                │
//!  │                                                                    │
//!  │ y  write it to 7f3a9c21.jsonl                                      │
//!  │ f  format: jsonl, a line per frame or event; …                     │
//!  │ w  what: all of it                                                 │
//!  │ r  leave the secrets in                                            │
//!  │ n  another file name                                               │
//!  └─────────────────────────────────────── Enter chooses, Esc closes ──┘
//! ```

use crate::app::export::{FORMATS, Offer, Pick, Scope};
use crate::app::menu::{Choice, Entry, Menu};
use crate::app::{App, Overlay};
use crate::theme::{Glyph, Role};
use mcpreel_wire::text::{cut, escape};

pub const WRITE: usize = 0;

const FILTER: usize = 60;

/// What is said of a file without secrets: what the redaction cannot promise, in short.
const REDACTED: &str = "Redacted: what has the shape or the name of a secret is replaced, and so \
    is the same value elsewhere. A secret without either stays: look through the file before you \
    hand it on.";

const RAW: &str = "Not redacted: every secret that was said stands in the file.";

/// Shows it, in place of the one that is shown.
pub fn show(app: &mut App, at: usize) {
    let Some(offer) = app.export.offer.as_deref() else {
        return;
    };
    let (generation, mut menu) = (offer.generation, menu(app, offer));
    menu.at = at;
    let is_it = |overlay: &Overlay| matches!(overlay, Overlay::Menu(menu) if menu.generation == Some(generation));
    if app.overlays.last().is_some_and(is_it) {
        app.overlays.pop();
    }
    app.overlays.push(Overlay::Menu(menu));
}

/// Where the cursor is after something was chosen: where a list is open, on the entry that opened
/// it; and when something was chosen of it, on what writes the file, so that `Enter` goes on.
pub fn entry_of(pick: Pick) -> usize {
    match pick {
        Pick::Write | Pick::Replace | Pick::Format(_) | Pick::Scope(_) => WRITE,
        Pick::Formats => 1,
        Pick::Scopes => 2,
        Pick::Raw(_) => 3,
        Pick::Name => 4,
    }
}

fn menu(app: &App, offer: &Offer) -> Menu {
    let warning = app.settings.look.glyph(Glyph::Warning);
    let text = if offer.is_raw {
        (Role::Bad, format!("{warning} {RAW}"))
    } else {
        (Role::Faint, REDACTED.to_owned())
    };
    let (name, _, what) = offer.format();
    let file = offer.file();
    let file = escape(&file);
    let secrets = if offer.is_raw {
        "take the secrets out"
    } else {
        "leave the secrets in"
    };
    let entries = [
        ('y', format!("write it to {file}"), Pick::Write),
        ('f', format!("format: {name}, {what}"), Pick::Formats),
        (
            'w',
            format!("what: {}", scope(offer, offer.scope)),
            Pick::Scopes,
        ),
        ('r', secrets.to_owned(), Pick::Raw(!offer.is_raw)),
        ('n', "another file name".to_owned(), Pick::Name),
    ];
    Menu {
        text: vec![text],
        generation: Some(offer.generation),
        ..Menu::new(
            format!("export {}", escape(&offer.id)),
            entries.into_iter().map(entry).collect(),
        )
    }
}

fn entry((letter, label, pick): (char, String, Pick)) -> Entry {
    Entry {
        letter,
        label,
        choice: Choice::Export(pick),
    }
}

fn scope(offer: &Offer, scope: Scope) -> String {
    match (scope, &offer.filter, offer.exchange) {
        (Scope::Filter, Some((text, _)), _) => {
            format!("what the filter shows: {}", cut(&escape(text), FILTER))
        }
        (Scope::Marked, ..) => "what is marked".to_owned(),
        (Scope::Exchange, _, Some((seq, _))) => format!("this exchange, #{}", seq.0),
        _ => "all of it".to_owned(),
    }
}

pub fn formats(app: &mut App) {
    let Some(offer) = app.export.offer.as_deref() else {
        return;
    };
    let at = FORMATS
        .iter()
        .position(|(_, format, ..)| *format == offer.format);
    let entries = FORMATS.into_iter().map(|(letter, format, name, _, what)| {
        entry((letter, format!("{name:<10} {what}"), Pick::Format(format)))
    });
    let menu = Menu {
        at: at.unwrap_or(0),
        ..Menu::new("format", entries.collect())
    };
    app.overlays.push(Overlay::Menu(menu));
}

pub fn scopes(app: &mut App) {
    let Some(offer) = app.export.offer.as_deref() else {
        return;
    };
    let scopes = offer.scopes();
    let at = scopes.iter().position(|scope| *scope == offer.scope);
    let entries = scopes.iter().map(|one| {
        let letter = match one {
            Scope::All => 'a',
            Scope::Filter => 'f',
            Scope::Marked => 'm',
            Scope::Exchange => 'e',
        };
        entry((letter, scope(offer, *one), Pick::Scope(*one)))
    });
    let menu = Menu {
        at: at.unwrap_or(0),
        ..Menu::new("what of it", entries.collect())
    };
    app.overlays.push(Overlay::Menu(menu));
}

/// A file of that name is there already. The cursor is on the answer that does no harm.
pub fn is_there(name: &str) -> Menu {
    let no = Entry {
        letter: 'n',
        label: "no, leave it as it is".to_owned(),
        choice: Choice::Nothing,
    };
    let yes = ('y', "yes, replace it".to_owned(), Pick::Replace);
    Menu::new(
        format!("{name} is there already: replace it?"),
        vec![no, entry(yes)],
    )
}
