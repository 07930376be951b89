//! Which folder holds the recordings.

use super::reading::Setting;
use nix::unistd::{Uid, User};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where recordings live when nothing else is said, below the home directory.
const DEFAULT_DIR: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/mcpreel/recordings"
} else {
    ".local/share/mcpreel/recordings"
};

/// Where the configuration file lives, below the home directory.
const CONFIG_FILE: &str = ".config/mcpreel/config.toml";

/// The file in which the viewer keeps its state, below the home directory.
const STATE_FILE: &str = ".local/state/mcpreel/viewer.toml";

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
        Some(self.home.as_ref()?.join(CONFIG_FILE))
    }

    /// The file in which the viewer keeps its state; `None` without a home directory.
    pub fn state_file(&self) -> Option<PathBuf> {
        Some(self.home.as_ref()?.join(STATE_FILE))
    }
}

/// `$HOME` if it is absolute (a relative one would make the working directory matter), else what
/// the password database says.
fn home(variable: Option<OsString>, database: impl Fn() -> Option<PathBuf>) -> Option<PathBuf> {
    variable
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(database)
}

fn password_database_home() -> Option<PathBuf> {
    let user = User::from_uid(Uid::current()).ok()??;
    user.dir.is_absolute().then_some(user.dir)
}

/// Why no folder could be determined.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum FolderError {
    /// Nobody named one, and there is no home directory.
    #[error("no home directory is known; set MCPREEL_DIR or pass --dir")]
    NoHome,
    /// A relative path where the working directory must not matter.
    #[error("{origin} is not absolute: {}", path.display())]
    Relative { origin: String, path: PathBuf },
}

/// The folder of the recordings: `option` (`--dir`, which may be relative to `cwd`), else
/// `$MCPREEL_DIR`, else the configuration's `dir`, else the default below the home directory.
pub fn recordings_dir(
    option: Option<&Path>,
    environment: &Environment,
    configured: Option<&Setting>,
    cwd: impl FnOnce() -> Option<PathBuf>,
) -> Result<PathBuf, FolderError> {
    let home = environment.home.as_deref();
    if let Some(path) = option {
        let path = expand(path, home);
        return match (path.is_absolute(), cwd) {
            (true, _) => Ok(path),
            (false, cwd) => cwd().map(|cwd| cwd.join(&path)).ok_or_else(|| {
                let origin = "--dir".to_owned();
                FolderError::Relative { origin, path }
            }),
        };
    }
    if let Some(variable) = &environment.mcpreel_dir {
        return absolute("MCPREEL_DIR", Path::new(variable), home);
    }
    if let Some(setting) = configured {
        let origin = format!("{}: dir", setting.at);
        return absolute(&origin, Path::new(&setting.text), home);
    }
    Ok(home.ok_or(FolderError::NoHome)?.join(DEFAULT_DIR))
}

fn absolute(origin: &str, path: &Path, home: Option<&Path>) -> Result<PathBuf, FolderError> {
    let path = expand(path, home);
    if path.is_absolute() {
        return Ok(path);
    }
    let origin = origin.to_owned();
    Err(FolderError::Relative { origin, path })
}

/// `~/` as a shell would take it: hosts start their servers without one.
fn expand(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::Config;
    use super::*;

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
        let result = recordings_dir(
            (!option.is_empty()).then(|| Path::new(option)),
            &environment(variable, home),
            config.one("dir").filter(|_| !configured.is_empty()),
            || Some("/cwd".into()),
        );
        result.map_or_else(|error| error.to_string(), |path| path.display().to_string())
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
        assert_eq!(resolve("rec", "", "", "/h"), "/cwd/rec");
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
        let dir = |setting| recordings_dir(None, &environment, setting, || None);
        assert_eq!(dir(defaults.one("dir")), dir(None));
        assert_eq!(
            defaults.one("max-size").expect("it is in the sample").text,
            "none"
        );
    }
}
