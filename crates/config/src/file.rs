//! The configuration file: TOML, kebab-case, every key optional.

use super::reading::{Problem, Reading, Setting, read_text, table};
use super::redact::{self, Redact};
use super::viewer::Viewer;
use std::path::Path;
use toml::Spanned;
use toml::de::DeValue;

/// The shipped sample; it spells out the defaults.
pub const SAMPLE: &str = include_str!("sample.toml");

const KEYS: [&str; 6] = ["dir", "lint", "max-size", "redact", "slow", "viewer"];

const LINT_KEYS: [&str; 1] = ["allow"];

/// What the file says, or the defaults where it says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The folder of the recordings; absolute, or below `~/`.
    pub dir: Option<Setting>,
    /// The size at which recording stops, or `none`.
    pub max_size: Option<Setting>,
    /// How long an answer takes that is called slow.
    pub slow: Option<Setting>,
    /// Rules whose findings `lint` passes over.
    pub allow: Vec<Setting>,
    pub redact: Redact,
    /// What the viewer looks like, and its keys.
    pub viewer: Viewer,
}

impl Config {
    /// What the shipped sample says; a missing key means the same.
    pub fn defaults() -> Self {
        Self::parse(SAMPLE, Path::new("sample.toml")).0
    }

    /// Reads the file, with all that is wrong with it. A missing file says nothing, which is fine.
    pub fn read(path: &Path) -> (Self, Vec<Problem>) {
        match read_text(path) {
            Ok(text) => Self::parse(&text, path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Default::default(),
            Err(source) => {
                let path = path.to_owned();
                (Self::default(), vec![Problem::Unreadable { path, source }])
            }
        }
    }

    /// Reads the text of a file; `path` is for the positions only.
    pub fn parse(text: &str, path: &Path) -> (Self, Vec<Problem>) {
        let table = match table(text, path) {
            Ok(table) => table,
            Err(problem) => return (Self::default(), vec![problem]),
        };
        let mut config = Self::default();
        let mut reading = Reading::new(text, path);
        for (key, value) in &table {
            match key.get_ref().as_ref() {
                "dir" => config.dir = reading.text("dir", value),
                "max-size" => config.max_size = reading.text("max-size", value),
                "slow" => config.slow = reading.text("slow", value),
                "lint" => config.allow = allow(value, &mut reading),
                "redact" => config.redact = Redact::read(value, &mut reading),
                "viewer" => config.viewer = Viewer::read(value, &mut reading),
                _ => reading.unknown(key, &KEYS),
            }
        }
        (config, reading.finish())
    }
}

/// `allow` of `[lint]`: a list of strings.
fn allow(value: &Spanned<DeValue<'_>>, reading: &mut Reading<'_>) -> Vec<Setting> {
    let DeValue::Table(table) = value.get_ref() else {
        return reading.wrong("lint", value, "a table").unwrap_or_default();
    };
    let mut allowed = Vec::new();
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "allow" => allowed = redact::list("allow", value, reading),
            _ => reading.unknown(key, &LINT_KEYS),
        }
    }
    allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Config, Vec<String>) {
        let (config, problems) = Config::parse(text, Path::new("c.toml"));
        (config, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_sample_has_every_key_and_nothing_else() {
        let (config, problems) = parse(SAMPLE);
        assert_eq!(problems, [""; 0]);
        assert!(config.dir.is_some() && config.max_size.is_some());
        assert!(config.slow.is_some());
        let table: toml::Table = SAMPLE.parse().expect("the sample is TOML");
        let mut keys: Vec<_> = table.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, KEYS);
    }

    #[test]
    fn an_empty_file_says_nothing() {
        assert_eq!(parse(""), (Config::default(), vec![]));
    }

    #[test]
    fn what_is_no_file_of_a_sensible_size_is_refused_at_once() {
        let dir = tempfile::tempdir().expect("a folder can be made");
        let path = dir.path().join("config.toml");
        let refusal = |path: &Path| {
            let (config, problems) = Config::read(path);
            assert_eq!(config, Config::default());
            let [Problem::Unreadable { source, .. }] = &problems[..] else {
                panic!("{problems:?}");
            };
            source.to_string()
        };
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("a FIFO can be made");
        assert_eq!(refusal(&path), "it is no regular file");
        assert_eq!(refusal(Path::new("/dev/zero")), "it is no regular file");
        std::fs::remove_file(&path).expect("the FIFO can be removed");
        let file = std::fs::File::create(&path).expect("the file can be made");
        file.set_len(1 << 40).expect("it can be sparse");
        assert_eq!(refusal(&path), "it is longer than 1 MiB");
    }

    #[test]
    fn an_unknown_key_is_named_with_the_nearest_one_and_the_rest_counts() {
        let (config, problems) = parse("# first\n  max_size = \"1GB\"\ndir = \"/rec\"\n");
        assert_eq!(
            problems,
            ["c.toml:2:3: unknown key `max_size`, did you mean `max-size`?"]
        );
        assert_eq!(config.dir.expect("dir is set").text, "/rec");
        let (_, problems) = parse("dri = '/rec'");
        assert!(problems[0].ends_with("did you mean `dir`?"), "{problems:?}");
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
        let (config, problems) = parse("dir = \"/rec\"\nmax-size = \n");
        assert_eq!(config, Config::default());
        assert!(problems[0].starts_with("c.toml:2:"), "{problems:?}");
    }

    #[test]
    fn allowed_rules_have_their_positions_and_what_is_no_rule_is_told() {
        let (config, problems) = parse("[lint]\nallow = ['frame-crlf', 7]\nalow = 1");
        let rules: Vec<_> = config.allow.iter().map(|rule| &*rule.text).collect();
        assert_eq!(rules, ["frame-crlf"]);
        assert_eq!(config.allow[0].at.to_string(), "c.toml:2:10");
        assert_eq!(
            problems,
            [
                "c.toml:2:24: `allow` is integer, expected a string in quotes",
                "c.toml:3:1: unknown key `alow`, did you mean `allow`?"
            ]
        );
        assert_eq!(
            parse("lint = 1").1,
            ["c.toml:1:8: `lint` is integer, expected a table"]
        );
    }

    #[test]
    fn a_setting_knows_where_it_stands() {
        let at = parse("# é\ndir = '/rec'").0.dir.expect("dir is set").at;
        assert_eq!(at.to_string(), "c.toml:2:7");
    }
}
