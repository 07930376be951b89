//! What a user may set, and where.
//!
//! * [`Config`]: `~/.config/mcpreel/config.toml`, every key optional;
//! * [`Position`], [`Problem`]: where a value stands in a TOML file, this one or one of rules, and what
//!   is wrong with it;
//! * [`Environment`]: which folder holds the recordings.
//!
//! Settings stay text here: whoever uses a value compiles it, and has its position for the
//! message. Nothing here prints, and a missing file is no error. Only HOME (else the password
//! database) and `MCPREEL_DIR` matter, never any other variable or the working directory: hosts
//! start servers with little more than HOME and PATH.

use nix::fcntl::OFlag;
use nix::unistd::{Uid, User};
use std::ffi::OsString;
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// The shipped sample; it spells out the defaults. It has every key, with a value of its type: a file
/// is read along the sample. A table that is empty in the sample may have any keys, and tables of them.
const SAMPLE: &str = include_str!("sample.toml");

/// A longer file is none of ours, and would be held in memory for as long as it is parsed.
const MAX_SIZE: u64 = 1024 * 1024;

/// The default folder of recordings, below the home directory.
const DEFAULT_DIR: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/mcpreel/recordings"
} else {
    ".local/share/mcpreel/recordings"
};

/// A value as it stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub text: String,
    pub at: Position,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub path: PathBuf,
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, line, column) = (self.path.display(), self.line, self.column);
        write!(formatter, "{path}:{line}:{column}")
    }
}

/// The positions in a file. Each is told from the last mark before it: to count from the beginning
/// each time would take long in a file of many values.
pub struct Positions<'t> {
    text: &'t str,
    path: &'t Path,
    /// Offset, line and column of every line's start and of some places within long lines.
    marks: Vec<(usize, usize, usize)>,
}

impl<'t> Positions<'t> {
    pub fn new(text: &'t str, path: &'t Path) -> Self {
        let (mut marks, mut line, mut column) = (Vec::new(), 1, 1);
        for (offset, char) in text.char_indices().chain([(text.len(), '\n')]) {
            if column % 1024 == 1 {
                marks.push((offset, line, column));
            }
            (line, column) = match char {
                '\n' => (line + 1, 1),
                _ => (line, column + 1),
            };
        }
        Self { text, path, marks }
    }

    /// The position of the byte at `offset`.
    pub fn at(&self, offset: usize) -> Position {
        let after = self.marks.partition_point(|(mark, ..)| *mark <= offset);
        let (mark, line, column) = self.marks[after.saturating_sub(1)];
        let between = self.text.get(mark..offset).unwrap_or_default();
        Position {
            path: self.path.to_owned(),
            line,
            column: column + between.chars().count(),
        }
    }
}

/// A mistake in a file, in a sentence that says where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Problem {
    sentence: String,
    is_fatal: bool,
}

impl Problem {
    /// Something that was set at this place is not in force.
    pub fn new(at: &Position, message: &str) -> Self {
        Self {
            sentence: format!("{at}: {message}"),
            is_fatal: true,
        }
    }

    /// Whether something that was set is not in force: more than a warning.
    pub fn is_fatal(&self) -> bool {
        self.is_fatal
    }
}

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
            Err(error) if error.kind() == io::ErrorKind::NotFound => Default::default(),
            Err(error) => {
                let sentence = format!("cannot read {}: {error}", path.display());
                let is_fatal = true;
                (Self::default(), vec![Problem { sentence, is_fatal }])
            }
        }
    }

    /// Reads the text of a file; `path` is for the positions only.
    pub fn parse(text: &str, path: &Path) -> (Self, Vec<Problem>) {
        let mut reading = Reading {
            places: Positions::new(text, path),
            config: Self::default(),
            problems: Vec::new(),
        };
        match DeTable::parse(text) {
            Ok(table) => {
                let sample = SAMPLE.parse().unwrap_or_default();
                reading.table(table.get_ref(), &sample, &[]);
            }
            Err(error) => {
                let at = reading.places.at(error.span().unwrap_or_default().start);
                reading.problems.push(Problem::new(&at, error.message()));
            }
        }
        (reading.config, reading.problems)
    }

    /// The value of a key, if the file has it.
    pub fn one(&self, key: &str) -> Option<&Setting> {
        self.all(key).next()
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
            let is_so = first.iter().map(|key| &key.text).eq(&names);
            is_so.then_some((rest, value))
        })
    }
}

/// A file that is read.
struct Reading<'t> {
    places: Positions<'t>,
    config: Config,
    problems: Vec<Problem>,
}

impl Reading<'_> {
    /// Reads a table along the `sample`; `above` are the keys that lead to it.
    fn table(&mut self, table: &DeTable<'_>, sample: &Table, above: &[Setting]) {
        for (key, value) in table {
            let (name, at) = (key.get_ref().as_ref(), self.places.at(key.span().start));
            let known = sample.get(name);
            if known.is_none() && !sample.is_empty() {
                let known: Vec<_> = sample.keys().map(String::as_str).collect();
                let hint = match nearest(name, &known) {
                    Some(key) => format!("did you mean `{key}`?"),
                    None => format!("known are {}", known.join(", ")),
                };
                self.problems.push(Problem {
                    sentence: format!("{at}: unknown key `{name}`, {hint}"),
                    is_fatal: false,
                });
                continue;
            }
            let text = name.to_owned();
            let keys = [above, &[Setting { text, at }]].concat();
            self.value(value, known, keys);
        }
    }

    /// Reads the value of a key like the one in the sample.
    fn value(&mut self, value: &Spanned<DeValue<'_>>, sample: Option<&Value>, keys: Vec<Setting>) {
        let at = self.places.at(value.span().start);
        let (text, expected) = match (value.get_ref(), sample) {
            (DeValue::Table(table), Some(Value::Table(sample))) => {
                return self.table(table, sample, &keys);
            }
            // A context of keys: the sample has none, and so no limit.
            (DeValue::Table(table), None) if keys.len() < 4 => {
                return self.table(table, &Table::new(), &keys);
            }
            (DeValue::Array(list), Some(Value::Array(_))) => {
                let list = list.iter();
                return list.for_each(|one| self.value(one, None, keys.clone()));
            }
            (DeValue::String(text), None | Some(Value::String(_))) => (Some(text.to_string()), ""),
            (DeValue::Boolean(on), Some(Value::Boolean(_))) => (Some(on.to_string()), ""),
            (_, Some(Value::Table(_))) => (None, "a table"),
            (_, Some(Value::Array(_))) => (None, "a list"),
            (_, Some(Value::Boolean(_))) => (None, "true or false"),
            _ => (None, "a string in quotes"),
        };
        if let Some(text) = text {
            self.config.entries.push((keys, Setting { text, at }));
        } else {
            let key = keys.last().map_or("", |key| &key.text);
            let found = value.get_ref().type_str();
            let message = format!("`{key}` is {found}, expected {expected}");
            self.problems.push(Problem::new(&at, &message));
        }
    }
}

/// The text of the regular file `path`. It may be read before a server is started, so a pipe or
/// device in its place must not be waited for, nor an endless one be read to its end.
fn read_text(path: &Path) -> io::Result<String> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(flags.bits()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    file.take(MAX_SIZE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_SIZE {
        return Err(io::Error::other("it is longer than 1 MiB"));
    }
    Ok(text)
}

/// The word that looks most like `text`, if one does.
pub fn nearest<'k>(text: &str, known: &[&'k str]) -> Option<&'k str> {
    // Below this likeness a suggestion is a guess that sends people the wrong way.
    const ALIKE: f64 = 0.6;
    let known = known.iter().copied();
    let likeness = known.map(|one| (strsim::normalized_damerau_levenshtein(one, text), one));
    let alike = likeness.filter(|(likeness, _)| *likeness >= ALIKE);
    Some(alike.max_by(|one, other| one.0.total_cmp(&other.0))?.1)
}

/// The variables of the environment that decide about folders.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `$MCPREEL_DIR`; empty is as good as unset.
    pub mcpreel_dir: Option<OsString>,
    pub home: Option<PathBuf>,
}

impl Environment {
    /// The surroundings of this process.
    pub fn of_process() -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            mcpreel_dir: set("MCPREEL_DIR"),
            home: home(set("HOME"), password_database_home),
        }
    }

    /// The configuration file, whether it exists or not; `None` without a home directory.
    pub fn config_file(&self) -> Option<PathBuf> {
        Some(self.home.as_ref()?.join(".config/mcpreel/config.toml"))
    }

    /// The file in which the viewer keeps its state; `None` without a home directory.
    pub fn state_file(&self) -> Option<PathBuf> {
        Some(self.home.as_ref()?.join(".local/state/mcpreel/viewer.toml"))
    }

    /// The folder of the recordings: `option` (`--dir`, which alone may be relative), else
    /// `$MCPREEL_DIR`, else the configuration's `dir`, else the default below the home directory; or
    /// why there is none.
    pub fn recordings_dir(
        &self,
        option: Option<&Path>,
        configured: Option<&Setting>,
    ) -> Result<PathBuf, String> {
        let home = self.home.as_deref();
        // `~/` as a shell would take it: hosts start their servers without one.
        let expand = |path: &Path| match (path.strip_prefix("~"), home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        };
        let (origin, path) = match (option, &self.mcpreel_dir, configured) {
            (Some(path), ..) => {
                let path = std::path::absolute(expand(path));
                return path.map_err(|error| format!("--dir: {error}"));
            }
            (_, Some(path), _) => ("MCPREEL_DIR".to_owned(), Path::new(path)),
            (.., Some(setting)) => (format!("{}: dir", setting.at), Path::new(&setting.text)),
            _ => {
                let unknown = "no home directory is known; set MCPREEL_DIR or pass --dir";
                return Ok(home.ok_or(unknown)?.join(DEFAULT_DIR));
            }
        };
        let path = expand(path);
        if path.is_absolute() {
            return Ok(path);
        }
        Err(format!("{origin} is not absolute: {}", path.display()))
    }
}

/// `$HOME` if it is absolute (a relative one would make the working directory matter), else what
/// the password database says.
fn home(variable: Option<OsString>, database: impl Fn() -> Option<PathBuf>) -> Option<PathBuf> {
    let variable = variable.map(PathBuf::from);
    variable.filter(|path| path.is_absolute()).or_else(database)
}

fn password_database_home() -> Option<PathBuf> {
    let user = User::from_uid(Uid::current()).ok()??;
    user.dir.is_absolute().then_some(user.dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

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

    /// To count lines from the beginning for each of them once took minutes.
    #[test]
    fn a_file_of_very_many_values_is_read_in_little_time() {
        let (tx, rx) = std::sync::mpsc::sync_channel(1);
        std::thread::spawn(move || {
            let many = "7,\n".repeat(40_000);
            let problems = parse(&format!("lint.allow = [{many}]")).1;
            tx.send(problems.last().cloned()).unwrap();
        });
        let last = rx.recv_timeout(Duration::from_secs(20)).unwrap().unwrap();
        assert!(last.starts_with("c.toml:40000:1: "), "{last}");
    }

    #[test]
    fn a_position_counts_characters_also_far_within_a_long_line() {
        let text = format!("lint.allow = ['{}', 7,\n8]", "é".repeat(3000));
        let problems = parse(&text).1;
        assert!(problems[0].starts_with("c.toml:1:3019: "), "{problems:?}");
        assert!(problems[1].starts_with("c.toml:2:1: "), "{problems:?}");
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

    fn environment(mcpreel_dir: &str, home: &str) -> Environment {
        let set = |text: &str| (!text.is_empty()).then(|| OsString::from(text));
        Environment {
            mcpreel_dir: set(mcpreel_dir),
            home: set(home).map(PathBuf::from),
        }
    }

    fn resolve(option: &str, variable: &str, configured: &str, home: &str) -> String {
        let text = format!("dir = \"{configured}\"");
        let config = Config::parse(&text, Path::new("c.toml")).0;
        let result = environment(variable, home).recordings_dir(
            (!option.is_empty()).then(|| Path::new(option)),
            config.one("dir").filter(|_| !configured.is_empty()),
        );
        result.map_or_else(|error| error, |path| path.display().to_string())
    }

    #[test]
    fn the_first_of_option_variable_file_and_default_counts() {
        assert_eq!(resolve("/o", "/v", "/c", "/h"), "/o");
        assert_eq!(resolve("", "/v", "/c", "/h"), "/v");
        assert_eq!(resolve("", "", "/c", "/h"), "/c");
        assert_eq!(resolve("", "", "", "/h"), format!("/h/{DEFAULT_DIR}"));
    }

    #[test]
    fn only_the_option_may_be_relative() {
        let here = std::env::current_dir().expect("there is one");
        let rec = here.join("rec").display().to_string();
        assert_eq!(resolve("rec", "", "", "/h"), rec);
        assert_eq!(
            resolve("", "rec", "", "/h"),
            "MCPREEL_DIR is not absolute: rec"
        );
        assert_eq!(
            resolve("", "", "rec", "/h"),
            "c.toml:1:7: dir is not absolute: rec"
        );
    }

    #[test]
    fn the_password_database_stands_in_for_a_missing_or_relative_home() {
        let database = || Some(PathBuf::from("/db"));
        assert_eq!(home(Some("/h".into()), database), Some("/h".into()));
        assert_eq!(home(Some("h".into()), database), Some("/db".into()));
        assert_eq!(home(None, database), Some("/db".into()));
    }

    #[test]
    #[cfg(not(target_os = "macos"))]
    fn the_sample_spells_out_the_defaults() {
        let defaults = Config::defaults();
        let environment = environment("", "/h");
        let dir = |setting| environment.recordings_dir(None, setting);
        assert_eq!(dir(defaults.one("dir")), dir(None));
        assert_eq!(
            defaults.one("max-size").expect("it is in the sample").text,
            "none"
        );
    }
}
