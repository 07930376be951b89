//! The keys: which action each means in which context.
//!
//! Made of [`super::action::TABLE`], changed by the configuration, and asked in both directions:
//! what a key does, and with which keys something is done.

use super::action::{Action, Context, TABLE};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::collections::BTreeMap;
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
        let (mut rest, mut ctrl, mut alt) = (text, false, false);
        loop {
            if let Some(after) = rest.strip_prefix("Ctrl-").filter(|after| !after.is_empty()) {
                (rest, ctrl) = (after, true);
            } else if let Some(after) = rest.strip_prefix("Alt-").filter(|after| !after.is_empty())
            {
                (rest, alt) = (after, true);
            } else {
                break;
            }
        }
        let code = Self::code(rest)?;
        let code = match code {
            KeyCode::Char(letter) if ctrl => KeyCode::Char(letter.to_ascii_lowercase()),
            code => code,
        };
        Some(Self { code, ctrl, alt })
    }

    fn code(name: &str) -> Option<KeyCode> {
        if let Some((_, code)) = NAMED.iter().find(|(known, _)| *known == name) {
            return Some(*code);
        }
        let mut letters = name.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => Some(KeyCode::Char(letter)),
            (Some('F'), Some(_)) => name[1..].parse().ok().map(KeyCode::F),
            _ => None,
        }
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

#[derive(Clone, Debug)]
pub struct Keymap {
    bindings: BTreeMap<Context, Vec<(Key, Action)>>,
}

impl Default for Keymap {
    fn default() -> Self {
        let mut keymap = Self {
            bindings: BTreeMap::new(),
        };
        for row in TABLE {
            for (context, keys) in row.keys {
                for key in keys.split(' ').filter_map(Key::parse) {
                    keymap
                        .bindings
                        .entry(*context)
                        .or_default()
                        .push((key, row.action));
                }
            }
        }
        keymap
    }
}

impl Keymap {
    /// The action of `key` where these contexts hold, the innermost first.
    pub fn action(&self, contexts: &[Context], key: Key) -> Option<Action> {
        contexts.iter().find_map(|context| {
            let bindings = self.bindings.get(context)?;
            let bound = bindings.iter().find(|(bound, _)| *bound == key);
            bound.map(|(_, action)| *action)
        })
    }

    /// The keys of an action, the first one first.
    pub fn keys(&self, action: Action) -> Vec<Key> {
        let bindings = self.bindings.values().flatten();
        let mut keys: Vec<Key> = Vec::new();
        for (key, _) in bindings.filter(|(_, bound)| *bound == action) {
            if !keys.contains(key) {
                keys.push(*key);
            }
        }
        keys
    }

    /// The bindings of a context, in the order of the table.
    pub fn of(&self, context: Context) -> &[(Key, Action)] {
        self.bindings.get(&context).map_or(&[], Vec::as_slice)
    }

    /// Gives `action` these keys in `context`, in place of those that it had there and of what
    /// they did there before.
    pub fn rebind(&mut self, context: Context, action: Action, keys: &[Key]) {
        let bindings = self.bindings.entry(context).or_default();
        bindings.retain(|(key, bound)| *bound != action && !keys.contains(key));
        bindings.extend(keys.iter().map(|key| (*key, action)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_bound_twice_in_a_context() {
        let keymap = Keymap::default();
        for (context, bindings) in &keymap.bindings {
            for (at, (key, action)) in bindings.iter().enumerate() {
                let other = bindings[..at].iter().find(|(bound, _)| bound == key);
                assert_eq!(other, None, "{context:?} {key} {action:?}");
            }
        }
    }

    #[test]
    fn every_key_of_the_table_is_read_back_as_it_is_written() {
        for row in TABLE {
            assert!(!row.help.is_empty(), "{}", row.name);
            assert_eq!(Action::parse(row.name), Some(row.action), "{}", row.name);
            for (_, keys) in row.keys {
                for text in keys.split(' ') {
                    let key = Key::parse(text);
                    assert_eq!(key.map(|key| key.to_string()).as_deref(), Some(text));
                }
            }
        }
    }

    #[test]
    fn keys_that_only_a_configuration_binds_are_read_back_as_they_are_written() {
        for text in ["Alt-x", "Ctrl-Alt-X", "F12"] {
            let key = Key::parse(text);
            assert_eq!(key.map(|key| key.to_string()).as_deref(), Some(text));
        }
    }

    #[test]
    fn the_innermost_context_wins_and_a_rebound_key_loses_its_old_meaning() {
        let mut keymap = Keymap::default();
        let key = Key::parse("Space").expect("it is a key");
        let list = [Context::List, Context::Session, Context::Everywhere];
        assert_eq!(keymap.action(&list, key), Some(Action::Select));
        keymap.rebind(Context::List, Action::Mark, &[key]);
        assert_eq!(keymap.action(&list, key), Some(Action::Mark));
    }
}
