//! The configuration file: TOML, kebab-case, every key optional.
//!
//! The sample has every key, with a value of its type: a file is read along the sample. A table that
//! is empty in the sample may have any keys, and tables of them.

use super::reading::{Position, Problem, Setting, nearest, position, read_text};
use std::path::Path;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// The shipped sample; it spells out the defaults.
pub const SAMPLE: &str = include_str!("sample.toml");

/// The settings of a file. A key is named as in the sample: `viewer.theme`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The values, each with the keys that lead to it; of a list each element.
    entries: Vec<(Vec<Setting>, Setting)>,
}

impl Config {
    /// The defaults: the shipped sample says the same.
    pub fn defaults() -> Self {
        Self::parse(SAMPLE, Path::new("sample.toml")).0
    }

    /// Reads the file, with all that is wrong with it. A missing file says nothing, which is fine.
    pub fn read(path: &Path) -> (Self, Vec<Problem>) {
        match read_text(path) {
            Ok(text) => Self::parse(&text, path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Default::default(),
            Err(error) => (Self::default(), vec![Problem::unreadable(path, &error)]),
        }
    }

    /// Reads the text of a file; `path` is for the positions only.
    pub fn parse(text: &str, path: &Path) -> (Self, Vec<Problem>) {
        let mut reading = Reading {
            text,
            path,
            config: Self::default(),
            problems: Vec::new(),
        };
        match DeTable::parse(text) {
            Ok(table) => reading.table(table.get_ref(), &sample(), &[]),
            Err(error) => {
                let at = reading.at(error.span().unwrap_or_default().start);
                reading.problems.push(Problem::new(&at, error.message()));
            }
        }
        (reading.config, reading.problems)
    }

    /// The value of a key, if the file has it.
    pub fn one(&self, key: &str) -> Option<&Setting> {
        self.below(key).map(|(_, setting)| setting).next()
    }

    /// The texts of a list.
    pub fn all(&self, key: &str) -> impl Iterator<Item = &Setting> {
        self.below(key).map(|(_, setting)| setting)
    }

    /// Whether a switch is on; `None` if the file does not have it.
    pub fn is_on(&self, key: &str) -> Option<bool> {
        Some(self.one(key)?.text == "true")
    }

    /// The values below a key of the sample, each with the rest of its keys.
    pub fn below(&self, key: &str) -> impl Iterator<Item = (&[Setting], &Setting)> {
        let names: Vec<_> = key.split('.').map(str::to_owned).collect();
        self.entries.iter().filter_map(move |(keys, value)| {
            let (first, rest) = keys.split_at_checked(names.len())?;
            let is_so = first
                .iter()
                .zip(&names)
                .all(|(key, name)| key.text == *name);
            is_so.then_some((rest, value))
        })
    }
}

fn sample() -> Table {
    SAMPLE.parse().unwrap_or_default()
}

/// A file that is read.
struct Reading<'t> {
    text: &'t str,
    path: &'t Path,
    config: Config,
    problems: Vec<Problem>,
}

impl Reading<'_> {
    fn at(&self, offset: usize) -> Position {
        position(self.text, self.path, offset)
    }

    /// Reads a table along the `sample`; `above` are the keys that lead to it.
    fn table(&mut self, table: &DeTable<'_>, sample: &Table, above: &[Setting]) {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let at = self.at(key.span().start);
            let known = sample.get(name);
            if known.is_none() && !sample.is_empty() {
                let known: Vec<_> = sample.keys().map(String::as_str).collect();
                let hint = match nearest(name, &known) {
                    Some(key) => format!("did you mean `{key}`?"),
                    None => format!("known are {}", known.join(", ")),
                };
                let message = format!("unknown key `{name}`, {hint}");
                self.problems.push(Problem::warning(&at, &message));
                continue;
            }
            let text = name.to_owned();
            let keys = [above, &[Setting { text, at }]].concat();
            self.value(value, known, keys);
        }
    }

    /// Reads the value of a key like the one in the sample.
    fn value(&mut self, value: &Spanned<DeValue<'_>>, sample: Option<&Value>, keys: Vec<Setting>) {
        let at = self.at(value.span().start);
        let text = match (value.get_ref(), sample) {
            (DeValue::Table(table), Some(Value::Table(sample))) => {
                return self.table(table, sample, &keys);
            }
            // A context of keys: the sample has none, and so no limit.
            (DeValue::Table(table), None) if keys.len() < 4 => {
                return self.table(table, &Table::new(), &keys);
            }
            (DeValue::Array(list), Some(Value::Array(_))) => {
                return list
                    .iter()
                    .for_each(|one| self.value(one, None, keys.clone()));
            }
            (DeValue::String(text), None | Some(Value::String(_))) => text.clone().into_owned(),
            (DeValue::Boolean(on), Some(Value::Boolean(_))) => on.to_string(),
            (found, expected) => {
                let expected = match expected {
                    Some(Value::Table(_)) => "a table",
                    Some(Value::Array(_)) => "a list",
                    Some(Value::Boolean(_)) => "true or false",
                    _ => "a string in quotes",
                };
                let (key, found) = (keys.last().map_or("", |key| &key.text), found.type_str());
                let message = format!("`{key}` is {found}, expected {expected}");
                self.problems.push(Problem::new(&at, &message));
                return;
            }
        };
        self.config.entries.push((keys, Setting { text, at }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Config, Vec<String>) {
        let (config, problems) = Config::parse(text, Path::new("c.toml"));
        (config, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_sample_is_a_file_without_a_problem() {
        let (config, problems) = parse(SAMPLE);
        assert_eq!(problems, [""; 0]);
        assert!(config.one("dir").is_some() && config.is_on("viewer.mouse") == Some(true));
    }

    #[test]
    fn what_is_no_file_of_a_sensible_size_is_refused_at_once() {
        let dir = tempfile::tempdir().expect("a folder can be made");
        let path = dir.path().join("config.toml");
        let refusal = |path: &Path| {
            let (config, problems) = Config::read(path);
            assert_eq!(config, Config::default());
            problems[0].to_string()
        };
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("a FIFO can be made");
        assert!(refusal(&path).ends_with("it is no regular file"));
        assert!(refusal(Path::new("/dev/zero")).ends_with("it is no regular file"));
        std::fs::remove_file(&path).expect("the FIFO can be removed");
        let file = std::fs::File::create(&path).expect("the file can be made");
        file.set_len(1 << 40).expect("it can be sparse");
        assert!(refusal(&path).ends_with("it is longer than 1 MiB"));
    }

    #[test]
    fn an_unknown_key_is_a_warning_with_the_nearest_one_and_the_rest_counts() {
        let text = "# é\n  max_size = \"1GB\"\ndir = \"/rec\"\n";
        let (config, problems) = Config::parse(text, Path::new("c.toml"));
        assert_eq!(
            problems[0].to_string(),
            "c.toml:2:3: unknown key `max_size`, did you mean `max-size`?"
        );
        assert!(!problems[0].is_fatal());
        let dir = config.one("dir").expect("dir is set");
        assert_eq!((&*dir.text, &*dir.at.to_string()), ("/rec", "c.toml:3:7"));
        let (_, problems) = parse("colour = 1");
        assert_eq!(
            problems,
            [
                "c.toml:1:1: unknown key `colour`, known are dir, lint, max-size, redact, slow, viewer"
            ]
        );
    }

    #[test]
    fn a_wrong_type_and_bad_syntax_have_their_position() {
        assert_eq!(
            parse("dir = 7").1,
            ["c.toml:1:7: `dir` is integer, expected a string in quotes"]
        );
        assert_eq!(
            parse("lint = 1").1,
            ["c.toml:1:8: `lint` is integer, expected a table"]
        );
        let (config, problems) = parse("[lint]\nallow = ['frame-crlf', 7]\nalow = 1");
        assert_eq!(config.one("lint.allow").unwrap().text, "frame-crlf");
        assert_eq!(
            problems,
            [
                "c.toml:2:24: `allow` is integer, expected a string in quotes",
                "c.toml:3:1: unknown key `alow`, did you mean `allow`?"
            ]
        );
        let (config, problems) = parse("dir = \"/rec\"\nmax-size = \n");
        assert_eq!(config, Config::default());
        assert!(problems[0].starts_with("c.toml:2:"), "{problems:?}");
    }
}
