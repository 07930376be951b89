//! Redacted values that a replay needs and that nobody supplied.

use crate::report::Trouble;
use mcpreel_wire::text::plural;

const MOST: usize = 100;

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
             supply each with --bind {first}=env:NAME; until then {held_back}, and what differs \
             may come of that"
        );
        Some((Trouble::Unreadable, text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(lacking: &Lacking) -> String {
        let (trouble, text) = lacking.trouble().unwrap();
        assert_eq!(trouble, Trouble::Unreadable);
        text.into()
    }

    #[test]
    fn what_is_missing_is_named_once_with_what_came_of_it() {
        let mut lacking = Lacking::default();
        assert!(lacking.trouble().is_none());
        lacking.add(["secret:1", "home:1", "secret:1"]);
        let text = said(&lacking);
        assert!(
            text.contains("nothing stands for secret:1, home:1; supply"),
            "{text}"
        );
        assert!(text.contains("--bind secret:1=env:NAME"), "{text}");
        assert!(
            text.contains("until then what has them in it was not sent"),
            "{text}"
        );
        lacking.hold_back();
        assert!(said(&lacking).contains("until then 1 exchange was not tried"));
        lacking.hold_back();
        assert!(said(&lacking).contains("until then 2 exchanges were not tried"));
    }

    #[test]
    fn of_many_that_are_missing_some_are_named_and_not_all_are_kept() {
        let mut lacking = Lacking::default();
        let names: Vec<String> = (1..=1000).map(|nth| format!("secret:{nth}")).collect();
        lacking.add(names[..12].iter().map(String::as_str));
        let text = said(&lacking);
        assert!(text.contains("secret:10 and 2 more; supply"), "{text}");
        lacking.add(names.iter().map(String::as_str));
        assert!(said(&lacking).contains(&format!("and {} more", MOST - MOST_NAMED)));
    }
}
