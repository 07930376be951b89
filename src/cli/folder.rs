//! The folder that a command works in: options, surroundings and configuration put together.

use super::exit::Failure;
use super::output;
use clap::Args;
use mcpreel_config::{Config, Environment, Problem};
use std::path::{Path, PathBuf};
use std::sync::Once;

/// The option that names the folder of the recordings.
#[derive(Debug, Default, Args)]
pub struct Folder {
    /// The folder of the recordings [default: `$MCPREEL_DIR`, else `dir` in
    /// ~/.config/mcpreel/config.toml, else ~/.local/share/mcpreel/recordings]
    #[arg(long, hide_short_help = true, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// The configuration file, with all that is wrong with it.
pub struct Settings {
    environment: Environment,
    config: Config,
    problems: Vec<Problem>,
}

impl Settings {
    /// Reads the configuration file.
    pub fn read() -> Self {
        let environment = Environment::of_process();
        let config = environment.config_file().map(|path| Config::read(&path));
        let (config, problems) = config.unwrap_or_default();
        Self {
            environment,
            config,
            problems,
        }
    }

    /// Reads the configuration file, and refuses one with a setting that is not in force.
    pub fn checked() -> Result<Self, Failure> {
        let settings = Self::read();
        let fault = settings.faults().next();
        fault.map_or(Ok(settings), |fault| Err(Failure::Usage(fault)))
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The problems because of which a setting is not in force, one sentence each.
    pub fn faults(&self) -> impl Iterator<Item = String> {
        let fatal = self.problems.iter().filter(|problem| problem.is_fatal());
        fatal.map(ToString::to_string)
    }

    /// The problems that do no harm, one sentence each.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let odd = self.problems.iter().filter(|problem| !problem.is_fatal());
        odd.map(ToString::to_string)
    }

    /// The file of what the viewer keeps for the next time; `None` without a home directory.
    pub fn state_file(&self) -> Option<PathBuf> {
        self.environment.state_file()
    }

    /// The folder of the recordings, or why there is none.
    pub fn recordings_dir(&self, folder: &Folder) -> Result<PathBuf, String> {
        let (option, configured) = (folder.dir.as_deref(), self.config.one("dir"));
        self.environment.recordings_dir(option, configured)
    }
}

/// Where the sessions are that hosts start, if that is not the folder `dir`: a sentence that says so. Hosts
/// pass no variables of a shell on.
pub fn elsewhere(dir: &Path) -> Option<String> {
    let mut settings = Settings::read();
    settings.environment.mcpreel_dir = None;
    let of_hosts = settings.recordings_dir(&Folder::default()).ok()?;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    (real(&of_hosts) != real(dir)).then(|| {
        let (hosts, dir) = (output::shown(&of_hosts), output::shown(dir));
        format!(
            "hosts do not pass on MCPREEL_DIR or --dir: their servers are recorded in {hosts}; dir = \
             \"{dir}\" in ~/.config/mcpreel/config.toml holds for both"
        )
    })
}

/// The folder for a command that only reads: one that the option names must be there.
pub fn existing(folder: &Folder) -> Result<PathBuf, Failure> {
    let dir = of(folder)?;
    if folder.dir.is_some() && !dir.is_dir() {
        let dir = output::shown(&dir);
        return Err(Failure::Usage(format!("{dir}: there is no such folder")));
    }
    Ok(dir)
}

/// The folder for a command of a person: a configuration that cannot be read is refused, an
/// unknown key is a warning on stderr.
pub fn of(folder: &Folder) -> Result<PathBuf, Failure> {
    static WARNED: Once = Once::new();
    let settings = Settings::checked()?;
    // Some commands ask for the folder several times.
    WARNED.call_once(|| {
        for warning in settings.warnings() {
            output::say(&format!("warning: {warning}"));
        }
    });
    settings.recordings_dir(folder).map_err(Failure::Usage)
}
