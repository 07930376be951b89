//! The configuration file: TOML, kebab-case, every key optional.

use super::reading::{Problem, Reading, Setting, Value, read_text, table};
use std::path::Path;

/// The shipped sample; it spells out the defaults.
pub const SAMPLE: &str = include_str!("sample.toml");

const KEYS: &[&str] = &["dir", "lint", "max-size", "redact", "slow", "viewer"];
const LINT: &[&str] = &["allow"];
const REDACT: &[&str] = &[
    "allow", "email", "home", "names", "paths", "patterns", "without",
];
const VIEWER: &[&str] = &["theme", "color", "ascii", "motion", "mouse", "keys"];

/// What the file says; what it does not say is `None` or empty.
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
    pub viewer: Viewer,
}

/// `[redact]`: what is secret.
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

/// `[viewer]` and `[viewer.keys.CONTEXT]`: what the viewer looks like, and its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Viewer {
    pub theme: Option<Setting>,
    pub color: Option<Setting>,
    /// `true`: nothing but ASCII is drawn.
    pub ascii: Option<Setting>,
    /// `false`: nothing moves by itself.
    pub motion: Option<Setting>,
    /// `false`: the terminal keeps the mouse.
    pub mouse: Option<Setting>,
    /// Keys in place of the usual ones.
    pub keys: Vec<Binding>,
}

/// Keys in place of the usual ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub context: Setting,
    pub action: Setting,
    pub keys: Setting,
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
            Err(error) => (Self::default(), vec![Problem::unreadable(path, &error)]),
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
        reading.members(&table, KEYS, |reading, key, value| match key {
            "dir" => config.dir = reading.text(key, value),
            "max-size" => config.max_size = reading.text(key, value),
            "slow" => config.slow = reading.text(key, value),
            "lint" => reading.section(key, value, LINT, |reading, key, value| {
                config.allow = reading.list(key, value);
            }),
            "redact" => config.redact.read(value, reading),
            _ => config.viewer.read(value, reading),
        });
        (config, reading.finish())
    }
}

impl Redact {
    fn read(&mut self, value: &Value<'_>, reading: &mut Reading<'_>) {
        reading.section("redact", value, REDACT, |reading, key, value| match key {
            "email" => self.email = reading.switch(key, value),
            "home" => self.home = reading.switch(key, value),
            "names" => self.names = reading.list(key, value),
            "paths" => self.paths = reading.list(key, value),
            "allow" => self.allow = reading.list(key, value),
            "without" => self.without = reading.list(key, value),
            _ => reading.entries(key, value, |reading, name, value| {
                let pattern = reading.text(&name.text, value);
                self.patterns
                    .extend(pattern.map(|pattern| (name.text, pattern)));
            }),
        });
    }
}

impl Viewer {
    fn read(&mut self, value: &Value<'_>, reading: &mut Reading<'_>) {
        reading.section("viewer", value, VIEWER, |reading, key, value| match key {
            "theme" => self.theme = reading.text(key, value),
            "color" => self.color = reading.text(key, value),
            "ascii" => self.ascii = reading.switch(key, value),
            "motion" => self.motion = reading.switch(key, value),
            "mouse" => self.mouse = reading.switch(key, value),
            _ => reading.entries(key, value, |reading, context, value| {
                reading.entries(&context.text, value, |reading, action, value| {
                    let keys = reading.text(&action.text, value);
                    let context = context.clone();
                    self.keys.extend(keys.map(|keys| Binding {
                        context,
                        action,
                        keys,
                    }));
                });
            }),
        });
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
        let dir = config.dir.expect("dir is set");
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
        assert_eq!(config.allow[0].text, "frame-crlf");
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
