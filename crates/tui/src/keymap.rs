//! The keys: which action each means in which context.
//!
//! Made of [`super::action::TABLE`], changed by the configuration, and asked in both directions:
//! what a key does, and with which keys something is done.

use super::action::{Action, Context, TABLE};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt;

/// A key as it is written: `j`, `G`, `Ctrl-D`, `PgDn`, `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct Key {
    /// The key; letters with Shift are capitals.
    pub code: KeyCode,
    pub ctrl: bool,
    pub alt: bool,
}

/// Keys with a name of more than one letter.
const NAMED: [(&str, KeyCode); 15] = [
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Tab", KeyCode::Tab),
    ("BackTab", KeyCode::BackTab),
    ("Space", KeyCode::Char(' ')),
    ("Backspace", KeyCode::Backspace),
    ("Delete", KeyCode::Delete),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("PgUp", KeyCode::PageUp),
    ("PgDn", KeyCode::PageDown),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
];

impl Key {
    pub fn parse(text: &str) -> Option<Self> {
        let without = |text, prefix| {
            let rest = str::strip_prefix(text, prefix).filter(|rest| !rest.is_empty());
            (rest.unwrap_or(text), rest.is_some())
        };
        let (rest, ctrl) = without(text, "Ctrl-");
        let (name, alt) = without(rest, "Alt-");
        let named = NAMED.iter().find(|(known, _)| *known == name);
        let mut letters = name.chars();
        let code = match (named, letters.next(), letters.next()) {
            (Some((_, code)), ..) => *code,
            (_, Some(letter), None) if ctrl => KeyCode::Char(letter.to_ascii_lowercase()),
            (_, Some(letter), None) => KeyCode::Char(letter),
            (_, Some('F'), Some(_)) => KeyCode::F(name[1..].parse().ok()?),
            _ => return None,
        };
        Some(Self { code, ctrl, alt })
    }
}

impl From<KeyEvent> for Key {
    fn from(event: KeyEvent) -> Self {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let code = match event.code {
            KeyCode::Char(letter) if ctrl => KeyCode::Char(letter.to_ascii_lowercase()),
            code => code,
        };
        Self {
            code,
            ctrl,
            alt: event.modifiers.contains(KeyModifiers::ALT),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            f.write_str("Ctrl-")?;
        }
        if self.alt {
            f.write_str("Alt-")?;
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char(letter) if self.ctrl => write!(f, "{}", letter.to_ascii_uppercase()),
            KeyCode::Char(letter) => write!(f, "{letter}"),
            KeyCode::F(number) => write!(f, "F{number}"),
            other => write!(f, "{other}"),
        }
    }
}

/// The action of each key, in the order of the table.
#[derive(Clone, Debug)]
pub struct Keymap(Vec<(Context, Key, Action)>);

impl Default for Keymap {
    fn default() -> Self {
        let rows = TABLE.iter().flat_map(|row| {
            let keys = row.keys.iter();
            let keys = keys.flat_map(|(context, keys)| keys.split(' ').map(|key| (*context, key)));
            keys.filter_map(|(context, key)| Some((context, Key::parse(key)?, row.action)))
        });
        Self(rows.collect())
    }
}

impl Keymap {
    /// The action of `key` where these contexts hold, the innermost first.
    pub fn action(&self, contexts: &[Context], key: Key) -> Option<Action> {
        contexts.iter().find_map(|context| {
            let mut bindings = self.of(*context);
            let (_, action) = bindings.find(|(bound, _)| *bound == key)?;
            Some(action)
        })
    }

    /// The keys of an action, each once.
    pub fn keys(&self, action: Action) -> Vec<Key> {
        let mut keys = Vec::new();
        for (_, key, _) in self.0.iter().filter(|(.., bound)| *bound == action) {
            if !keys.contains(key) {
                keys.push(*key);
            }
        }
        keys
    }

    /// The bindings of a context, in the order of the table.
    pub fn of(&self, context: Context) -> impl Iterator<Item = (Key, Action)> {
        let bindings = self.0.iter().filter(move |(of, ..)| *of == context);
        bindings.map(|(_, key, action)| (*key, *action))
    }

    /// Gives `action` these keys in `context`, in place of those that it had there and of what
    /// they did there before.
    pub fn rebind(&mut self, context: Context, action: Action, keys: &[Key]) {
        self.0
            .retain(|(of, key, bound)| *of != context || *bound != action && !keys.contains(key));
        self.0
            .extend(keys.iter().map(|key| (context, *key, action)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_bound_twice_in_a_context() {
        let Keymap(bindings) = Keymap::default();
        for (at, (context, key, _)) in bindings.iter().enumerate() {
            let is_same = |(of, bound, _): &(Context, Key, Action)| (of, bound) == (context, key);
            assert!(!bindings[..at].iter().any(is_same), "{context:?} {key}");
        }
    }

    #[test]
    fn keys_are_read_back_as_they_are_written_and_every_action_has_a_name_and_help() {
        let mut keys = vec!["Alt-x", "Ctrl-Alt-X", "F12"];
        for row in TABLE {
            assert!(!row.help.is_empty(), "{}", row.name);
            assert_eq!(Action::parse(row.name), Some(row.action), "{}", row.name);
            keys.extend(row.keys.iter().flat_map(|(_, keys)| keys.split(' ')));
        }
        for text in keys {
            let key = Key::parse(text);
            assert_eq!(key.map(|key| key.to_string()).as_deref(), Some(text));
        }
    }
}
