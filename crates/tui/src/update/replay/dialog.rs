//! The question before a replay: what is started, which calls are made, which of them may change
//! something.
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

use crate::app::App;
use crate::app::menu::{Choice, Entry, Menu};
use crate::app::replay::{Go, Scope};
use crate::theme::{Glyph, Role};
use crate::worker::beside::survey::{Offer, Requests};
use mcpreel_wire::text::{count, cut, escape, plural, width};

/// Rows that the dialog takes besides the calls that it names.
const BESIDES: u16 = 16;

/// Calls that are named at least; the others are counted by their tools.
const LEAST: usize = 3;

/// Kinds of other requests that are named.
const KINDS: usize = 12;

/// Tools that are named with the calls that are not.
const TOOLS: usize = 12;

/// Columns of what is started. A stranger may have put any command into the file.
const COMMAND: usize = 4000;

/// Columns of what is given in place of the recorded arguments.
const EDITED: usize = 200;

/// The question, as far as something is offered. The cursor is on the answer that does no harm.
pub(super) fn menu(app: &App, generation: u64) -> Option<Menu> {
    let offer = app.replay.offer.as_deref()?;
    let requests = app.replay.requests()?;
    Some(Menu {
        text: text(app, offer, requests),
        // It is read from its beginning, whatever there is room for.
        top: Some(0),
        generation: Some(generation),
        ..Menu::new(
            format!("replay {}?", offer.short),
            entries(app, offer, requests),
        )
    })
}

fn text(app: &App, offer: &Offer, requests: &Requests) -> Vec<(Role, String)> {
    let warning = app.settings.look.glyph(Glyph::Warning);
    let mut text = started(offer, warning);
    let what = match (app.replay.scope, &offer.call) {
        (Scope::Alone, Some(call)) => {
            let title = &call.title;
            format!("#{} {title} alone, after the handshake", call.request.0.0)
        }
        (Scope::UpTo, Some(call)) => format!("all up to #{} {}", call.request.0.0, call.title),
        _ => "the whole session".to_owned(),
    };
    let much = plural(requests.count, "request");
    text.push((Role::Text, format!("makes   {what}: {much}")));
    if let Some(json) = edited(app, offer) {
        let json = cut(&escape(json), EDITED);
        text.push((Role::Strong, format!("with    {json}")));
    }
    text.extend(changing(app, requests, warning));
    text.extend(others(requests));
    text
}

/// What is started and where, or why nothing can be; and who chose that.
fn started(offer: &Offer, warning: &str) -> Vec<(Role, String)> {
    let mut text = Vec::new();
    match offer.starts() {
        Ok(command) => {
            let here = "the folder where the viewer was started";
            let dir = offer.dir.as_deref().unwrap_or(here);
            text.push((Role::Strong, format!("starts  {}", cut(&command, COMMAND))));
            let hidden = width(&command).saturating_sub(COMMAND);
            if hidden > 0 {
                let told = format!(
                    "{warning} and {} that are not shown",
                    plural(hidden as u64, "more character")
                );
                text.push((Role::Bad, told));
            }
            text.push((Role::Text, format!("in      {dir}")));
        }
        Err(why) => text.push((Role::Bad, why.to_owned())),
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

/// The calls that may change something, as many of them as there is room for; of the others how
/// many there are of each tool.
fn changing(app: &App, requests: &Requests, warning: &str) -> Vec<(Role, String)> {
    if requests.changes == 0 {
        return Vec::new();
    }
    let mut text = vec![(Role::Warn, format!("{warning} {}:", doubtful(requests)))];
    let room = usize::from(app.size.1.saturating_sub(BESIDES)).max(LEAST);
    let shown = requests.changing.iter().take(room);
    text.extend(shown.map(|(seq, asked)| (Role::Warn, format!("#{} {asked}", seq.0))));
    let shown = requests.changing.len().min(room) as u64;
    if requests.changes > shown {
        let of = requests.tools.iter().take(TOOLS);
        let mut of: Vec<_> = of
            .map(|(tool, times)| named(&escape(tool), *times))
            .collect();
        if requests.tools.len() > TOOLS {
            of.push(format!("and {} more tools", requests.tools.len() - TOOLS));
        }
        let more = count(requests.changes - shown);
        text.push((
            Role::Warn,
            format!("and {more} more; in all {}", of.join(", ")),
        ));
    }
    text
}

/// Of what tools there are such calls. What a stranger's recording says of them is no word that
/// counts.
fn doubtful(requests: &Requests) -> String {
    let claim = match (requests.claimed, requests.changes) {
        (0, 1) => "does not say that it only reads",
        (0, _) => "do not say that they only read",
        (_, 1) => "says itself that it only reads, in a recording that is not yours",
        (claimed, all) if claimed == all => {
            "say themselves that they only read, in a recording that is not yours"
        }
        _ => "do not say that they only read, or only in a recording that is not yours",
    };
    match requests.changes {
        1 => format!("1 call of a tool that {claim}"),
        many => format!("{} calls of tools that {claim}", count(many)),
    }
}

fn others(requests: &Requests) -> Option<(Role, String)> {
    let kinds = requests.others.iter().take(KINDS);
    let mut kinds: Vec<_> = kinds.map(|(kind, times)| named(kind, *times)).collect();
    let more: u64 = requests.others.values().skip(KINDS).sum();
    if more + requests.more > 0 {
        kinds.push(format!("{} more", count(more + requests.more)));
    }
    (!kinds.is_empty()).then(|| (Role::Text, format!("also    {}", kinds.join(", "))))
}

/// `tools/list`, or `tools/list (3 times)`.
fn named(what: &str, times: u64) -> String {
    match times {
        1 => what.to_owned(),
        times => format!("{what} ({} times)", count(times)),
    }
}

/// What is sent in place of the recorded arguments, where it is.
fn edited<'a>(app: &'a App, offer: &Offer) -> Option<&'a str> {
    let has_call = offer.call.is_some() && app.replay.scope != Scope::Whole;
    app.replay.edited.as_deref().filter(|_| has_call)
}

fn entries(app: &App, offer: &Offer, requests: &Requests) -> Vec<Entry> {
    let entry = |letter, label: &str, choice| Entry {
        letter,
        label: label.to_owned(),
        choice,
    };
    let go = |letter, label: &str, go| entry(letter, label, Choice::Replay(go));
    let mut entries = vec![entry('n', "no, start nothing", Choice::Nothing)];
    if offer.command.is_err() {
        return entries;
    }
    let scope = app.replay.scope;
    if requests.changes == 0 {
        entries.push(go('y', "yes, replay it", Go::All));
    } else {
        // What does no harm comes first: a small screen shows it, and the other one on request.
        if requests.changes < requests.count {
            let some = "only the others: these are refused";
            entries.push(go('r', some, Go::ReadOnly));
        }
        let all = "yes, make all of them, also those that may change something";
        entries.push(go('y', all, Go::All));
    }
    let Some(call) = &offer.call else {
        return entries;
    };
    if scope != Scope::Whole && call.arguments.is_ok() {
        let label = match app.replay.edited {
            None => "edit the arguments first",
            Some(_) => "edit the arguments again",
        };
        entries.push(go('e', label, Go::Edit));
    }
    for (letter, label, other) in [
        ('c', "this call alone instead", Scope::Alone),
        ('u', "all up to this call instead", Scope::UpTo),
        ('w', "the whole session instead", Scope::Whole),
    ] {
        if other != scope {
            entries.push(go(letter, label, Go::Scope(other)));
        }
    }
    entries
}
