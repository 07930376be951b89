//! Redacted values that a replay needs and that nobody supplied.

use crate::replay::report::Trouble;
use crate::text::plural;

/// Names that are kept.
const MOST: usize = 100;

/// Names that are told.
const MOST_NAMED: usize = 10;

/// Redacted values that are missing, and how many exchanges were not tried because of that.
#[derive(Debug, Default)]
pub(super) struct Lacking {
    /// Escaped, in the order in which they were needed.
    names: Vec<Box<str>>,
    held_back: u64,
}

impl Lacking {
    /// Values of these placeholders are needed and missing.
    pub fn add<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        for name in names {
            if self.names.len() < MOST && !self.names.iter().any(|known| **known == *name) {
                self.names.push(name.into());
            }
        }
    }

    /// An exchange was not tried because values in it are missing.
    pub fn hold_back(&mut self) {
        self.held_back += 1;
    }

    /// What is missing, how it is supplied, and what came of that; none where nothing is missing.
    pub fn trouble(&self) -> Option<(Trouble, Box<str>)> {
        let first = self.names.first()?;
        let named = self.names.iter().take(MOST_NAMED).map(AsRef::as_ref);
        let named = named.collect::<Vec<_>>().join(", ");
        let more = match self.names.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let held_back = match self.held_back {
            0 => "what has them in it was not sent".to_owned(),
            1 => "1 exchange was not tried".to_owned(),
            many => format!("{} were not tried", plural(many, "exchange")),
        };
        let text = format!(
            "secrets are missing: the recording is redacted, and nothing stands for {named}{more}; \
             supply each with --bind {first}=env:NAME; until then {held_back}, and what differs may \
             come of that"
        );
        Some((Trouble::Unreadable, text.into()))
    }
}
