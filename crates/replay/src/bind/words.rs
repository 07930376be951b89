//! Texts of a message that is sent: handles as a whole or as words, redacted values, roots.

use super::handle;
use super::known::Slot;
use super::message::Place;
use super::prepare::Fault;
use super::{Binder, Edits};
use mcpreel_wire::json::Value;
use std::collections::HashMap;

/// Where a text of a message stands.
pub(super) struct At<'a, 'd> {
    /// The names of the members on the way.
    pub names: &'a [Value<'d>],
    /// The rules that say that a handle is sent there.
    pub rules: Vec<usize>,
}

/// The rules about this value among the places that the server chose.
pub(super) fn rules_at(chosen: &[Place<'_>], value: Value<'_>) -> Vec<usize> {
    let here = chosen.iter().filter(|it| it.value.span() == value.span());
    let rules = here.filter_map(|place| match place.chosen.slot {
        Slot::Rule(rule) => Some(rule),
        _ => None,
    });
    rules.collect()
}

impl Binder {
    /// Changes a text of a message that the server did not choose as a whole by the protocol.
    pub(super) fn edit_string(
        &mut self,
        value: Value<'_>,
        at: &At<'_, '_>,
        edits: &mut Edits,
    ) -> Result<(), Fault> {
        let recorded = value.as_str().unwrap_or_default();
        let filled = self.secrets.fill(&recorded).map_err(Fault::Redacted)?;
        // What is called is no handle, whatever it looks like, and a state belongs to its round.
        let is_name =
            matches!(at.names, [only] if only.is_str("name") || only.is_str("requestState"));
        if is_name {
            let now = self.rewrites.apply(&filled);
            if *now != *recorded {
                edits.replace_string(value, &now);
            }
            return Ok(());
        }
        if let Some(live) = self.known.handle(&filled) {
            edits.replace_string(value, live);
            self.known.use_handle(&filled);
            return Ok(());
        }
        if let Some(missing) = self.known.orphan(&filled) {
            return Err(Fault::Unreached(missing.into()));
        }
        let said = self.with_words(&filled, at)?;
        let now = self.rewrites.apply(said.as_deref().unwrap_or(&filled));
        if *now != *recorded {
            edits.replace_string(value, &now);
        }
        Ok(())
    }

    /// A text with the words replaced that are handles; `None` where there are none.
    fn with_words(&mut self, text: &str, at: &At<'_, '_>) -> Result<Option<String>, Fault> {
        if self.known.is_empty() {
            return Ok(None);
        }
        let mut live = HashMap::new();
        for word in handle::telling_words(text) {
            match self.ruled_word(word, &at.rules) {
                Some(Ok(ruled)) => {
                    self.fired.insert(ruled.rule);
                    live.insert(word, ruled.now);
                    continue;
                }
                Some(Err(missing)) => return Err(Fault::Unreached(missing)),
                None => {}
            }
            if let Some(now) = self.known.handle(word) {
                live.insert(word, now.into());
                self.known.use_handle(word);
            } else if let Some(missing) = self.known.orphan(word) {
                return Err(Fault::Unreached(missing.into()));
            }
        }
        let other = |word: &str| live.get(word).map(AsRef::as_ref);
        Ok(handle::replaced(text, other))
    }
}
