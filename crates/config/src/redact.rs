//! What the file says about secrets.

use super::reading::{Reading, Setting};
use toml::Spanned;
use toml::de::DeValue;

pub(super) const KEYS: [&str; 7] = [
    "allow", "email", "home", "names", "paths", "patterns", "without",
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redact {
    /// `true` if addresses of e-mail are replaced.
    pub email: Option<Setting>,
    /// `true` if names of home folders are replaced.
    pub home: Option<Setting>,
    pub names: Vec<Setting>,
    /// Paths in messages to values that are secret.
    pub paths: Vec<Setting>,
    pub allow: Vec<Setting>,
    pub without: Vec<Setting>,
    pub patterns: Vec<(String, Setting)>,
}

impl Redact {
    pub(super) fn read(value: &Spanned<DeValue<'_>>, reading: &mut Reading<'_>) -> Self {
        let DeValue::Table(table) = value.get_ref() else {
            return reading
                .wrong("redact", value, "a table")
                .unwrap_or_default();
        };
        let mut redact = Self::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "email" => redact.email = reading.switch("email", value),
                "home" => redact.home = reading.switch("home", value),
                "names" => redact.names = list("names", value, reading),
                "paths" => redact.paths = list("paths", value, reading),
                "allow" => redact.allow = list("allow", value, reading),
                "without" => redact.without = list("without", value, reading),
                "patterns" => redact.patterns = patterns(value, reading),
                _ => reading.unknown(key, &KEYS),
            }
        }
        redact
    }
}

pub(super) fn list(
    key: &str,
    value: &Spanned<DeValue<'_>>,
    reading: &mut Reading<'_>,
) -> Vec<Setting> {
    match value.get_ref() {
        DeValue::Array(list) => list
            .iter()
            .filter_map(|one| reading.text(key, one))
            .collect(),
        _ => reading.wrong(key, value, "a list").unwrap_or_default(),
    }
}

fn patterns(value: &Spanned<DeValue<'_>>, reading: &mut Reading<'_>) -> Vec<(String, Setting)> {
    let DeValue::Table(table) = value.get_ref() else {
        return reading
            .wrong("patterns", value, "a table")
            .unwrap_or_default();
    };
    let read = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let name: &str = AsRef::<str>::as_ref(name.get_ref());
        let pattern = reading.text(name, value)?;
        Some((name.to_owned(), pattern))
    };
    table.iter().filter_map(read).collect()
}
