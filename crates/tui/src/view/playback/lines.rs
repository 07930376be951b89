//! What was true then, line by line.

use crate::app::text::Line as Pieces;
use crate::theme::{Glyph, Look, Role};
use mcpreel_share::phrases;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::state::{Declared, List, State};
use mcpreel_wire::text::{self, escape, width};
use std::fmt::Write as _;

/// Columns of the words on the left.
const WORD: usize = 10;

/// Open calls and subscriptions that are listed; of more their number is told.
const LISTED: usize = 20;

const NAME_LINES: usize = 4;

/// The lines for a pane of so many columns, at the moment `t`.
pub(super) fn lines(look: &Look, state: &State, t: Moment, columns: usize) -> Vec<Pieces> {
    let mut lines = Lines {
        look,
        columns,
        done: Vec::new(),
    };
    lines.session(state);
    for by in [Declared::ByServer, Declared::ByClient] {
        lines.side(state, by);
    }
    for list in List::ALL {
        lines.list(state, list);
    }
    lines.open(state, t);
    lines.subscriptions(state);
    if let Some((level, since)) = &state.log_level {
        let level = format!("{}, since #{}", escape(level), since.0);
        lines.named("log level", Role::Text, level);
    }
    if !state.unread.is_empty() {
        let seqs: Vec<_> = state
            .unread
            .iter()
            .map(|seq| format!("#{}", seq.0))
            .collect();
        let text = format!("too long to be read for this: {}", seqs.join(", "));
        lines.named(look.glyph(Glyph::Warning), Role::Warn, text);
    }
    lines.done
}

/// Lines that are being put together.
struct Lines<'a> {
    look: &'a Look,
    columns: usize,
    done: Vec<Pieces>,
}

impl Lines<'_> {
    fn named(&mut self, word: &str, role: Role, text: String) {
        let word = format!(" {}", text::pad_end(word, WORD));
        self.done.push(vec![(Role::Faint, word), (role, text)]);
    }

    /// Words one after the other, in as many lines as they need, `most` at most.
    fn words(&mut self, first: &str, words: &[(Role, String)], most: usize) {
        let start = |word: &str| vec![(Role::Faint, format!(" {}", text::pad_end(word, WORD)))];
        let mut line = start(first);
        let mut used = WORD + 1;
        let mut taken = 0;
        for (nth, (role, word)) in words.iter().enumerate() {
            let dot = format!(" {} ", self.look.glyph(Glyph::Dot));
            let separator = if nth == 0 { "" } else { dot.as_str() };
            let wide = width(separator) + width(word);
            if used + wide > self.columns && used > WORD + 1 {
                taken += 1;
                if taken == most {
                    let left = format!(
                        " {} {} more",
                        self.look.glyph(Glyph::Ellipsis),
                        words.len() - nth
                    );
                    line.push((Role::Faint, left));
                    self.done.push(line);
                    return;
                }
                self.done.push(std::mem::replace(&mut line, start("")));
                line.push((*role, word.clone()));
                used = WORD + 1 + width(word);
                continue;
            }
            line.push((Role::Faint, separator.to_owned()));
            line.push((*role, word.clone()));
            used += wide;
        }
        self.done.push(line);
    }

    fn session(&mut self, state: &State) {
        let session = &state.session;
        let phase = match session.phase.end() {
            Some(end) => phrases::end(end),
            None => session.phase.as_str().to_owned(),
        };
        self.named("phase", Role::Strong, phase);
        let eras: Vec<_> = session.eras.iter().map(|era| era.as_str()).collect();
        let mut versions = Vec::new();
        versions.extend(
            session
                .version_asked
                .as_deref()
                .map(|asked| format!("asked {}", escape(asked))),
        );
        versions.extend(
            session
                .version_agreed
                .as_deref()
                .map(|agreed| format!("agreed {}", escape(agreed))),
        );
        if versions.is_empty() {
            versions.push("none was asked for".to_owned());
        }
        let differ =
            session.version_agreed.is_some() && session.version_asked != session.version_agreed;
        let role = if differ { Role::Warn } else { Role::Text };
        let text = format!("{} {}", versions.join(", "), eras.join("+"));
        self.named("version", role, text.trim_end().to_owned());
        if let Some(offered) = phrases::versions_offered(session) {
            self.named("offered", Role::Text, offered);
        }
    }

    fn side(&mut self, state: &State, by: Declared) {
        let (word, peer) = match by {
            Declared::ByServer => ("server", &state.session.server),
            Declared::ByClient => ("client", &state.session.client),
        };
        let name = phrases::peer(peer).unwrap_or_else(|| "has not said who it is".to_owned());
        self.named(word, Role::Strong, name);
        let capabilities = state.capabilities(by);
        let mut shown: Vec<_> = capabilities
            .iter()
            .map(|one| {
                let path = escape(&one.path);
                match (one.declared, one.used) {
                    (true, true) => (Role::Good, format!("{path} used")),
                    (true, false) => (Role::Text, path.into_owned()),
                    (false, _) => {
                        let glyph = self.look.glyph(Glyph::Warning);
                        (Role::Warn, format!("{glyph} {path} used, not declared"))
                    }
                }
            })
            .collect();
        if shown.is_empty() {
            shown.push((Role::Faint, "nothing was declared".to_owned()));
        }
        self.words("  can", &shown, usize::MAX);
    }

    fn list(&mut self, state: &State, list: List) {
        let Some(listed) = state.list(list) else {
            return;
        };
        let mut text = text::count(listed.count as u64);
        if listed.more {
            text.push_str(" and more, not asked for");
        }
        if let Some(seq) = listed.answered {
            let _ = write!(text, ", listed at #{}", seq.0);
        }
        let mut role = Role::Text;
        if let Some(seq) = listed.stale_since {
            role = Role::Warn;
            let glyph = self.look.glyph(Glyph::Warning);
            let _ = write!(text, ", {glyph} stale: changed at #{}", seq.0);
        }
        let word = match list {
            List::Templates => "templates",
            list => list.as_str(),
        };
        self.named(word, role, text);
        let names: Vec<_> = listed
            .names
            .iter()
            .map(|name| (Role::Faint, escape(name).into_owned()))
            .collect();
        if !names.is_empty() {
            self.words("", &names, NAME_LINES);
        }
    }

    fn open(&mut self, state: &State, t: Moment) {
        if state.open.is_empty() {
            return self.named("open", Role::Text, "no call".to_owned());
        }
        let calls = text::plural(state.open.len() as u64, "call");
        self.named("open", Role::Open, calls);
        for call in state.open.iter().take(LISTED) {
            let arrow = self.look.glyph(if call.waits_for_client() {
                Glyph::ToClient
            } else {
                Glyph::ToServer
            });
            let name = call.name.as_deref().unwrap_or_default();
            let what = format!("{} {name}", call.method);
            let since = text::duration(t.0.saturating_sub(call.t.0));
            let waits = if call.waits_for_client() {
                ", waits for the client"
            } else {
                ""
            };
            let text = format!(
                "#{} {arrow} {}  {since}{waits}",
                call.seq.0,
                escape(what.trim_end())
            );
            self.named("", Role::Open, text);
        }
        self.rest(state.open.len());
    }

    fn subscriptions(&mut self, state: &State) {
        if state.subscriptions.is_empty() {
            return;
        }
        let count = text::plural(state.subscriptions.len() as u64, "resource");
        self.named("subscribed", Role::Text, format!(" {count}"));
        for (uri, seq) in state.subscriptions.iter().take(LISTED) {
            let room = self.columns.saturating_sub(WORD + 10);
            let uri = text::cut_middle(&escape(uri), room);
            self.named("", Role::Text, format!("{uri}  #{}", seq.0));
        }
        self.rest(state.subscriptions.len());
    }

    fn rest(&mut self, of: usize) {
        if of > LISTED {
            let text = format!("{} {} more", self.look.glyph(Glyph::Ellipsis), of - LISTED);
            self.named("", Role::Faint, text);
        }
    }
}
