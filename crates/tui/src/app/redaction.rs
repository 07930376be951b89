//! The redacted screen: nothing that it shows was made of anything but a redacted recording.
//!
//! While it is on, the recording that is open is read from a likeness without its secrets, the next
//! one that is opened is too, and the recordings screen shows what is redacted of each.

use super::App;
use super::replay::Running;
use crate::action::Action;
use mcpreel_store::library::spool_of;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::escape;
use std::path::Path;

/// What is said instead of how a file is called.
const FILE: &str = "(a file)";

#[derive(Debug, Default)]
pub struct Redaction {
    /// Whether nothing is shown but what was redacted.
    pub is_on: bool,
    /// Why that cannot be: nobody knows what is secret. One sentence, escaped.
    pub refusal: Option<String>,
    /// What is done for the recording that is open.
    pub work: Option<Work>,
}

/// What is done for the recording that is open.
#[derive(Debug)]
pub enum Work {
    /// Its likeness is made. Until it is there, whatever was on the screen stays.
    Making(Running),
    /// It is shown, and made anew as the recording grows. The number names the answers.
    Following(u64),
}

/// What is known of the likeness that is shown in place of a recording.
#[derive(Debug)]
pub struct Shown {
    pub last: Seq,
    /// The last frame of the recording.
    pub newest: Seq,
    /// The filter as it was typed before, for when the recording itself is shown again.
    pub before: Typed,
}

/// Filters and searches that were typed while the recording itself was shown: they may have its
/// values in them.
#[derive(Debug, Default)]
pub struct Typed {
    pub text: String,
    pub instead: String,
    pub history: Vec<String>,
    pub searches: Vec<String>,
}

impl Redaction {
    /// What is being made, as long as it is not there.
    pub fn making(&self) -> Option<&Running> {
        match &self.work {
            Some(Work::Making(running)) => Some(running),
            _ => None,
        }
    }

    /// The number that names the answers.
    pub fn generation(&self) -> Option<u64> {
        match &self.work {
            Some(Work::Making(running)) => Some(running.generation),
            Some(Work::Following(generation)) => Some(*generation),
            None => None,
        }
    }

    /// Whether this is refused for now: it reads recordings with their secrets. Two calls of the
    /// recording that is open are compared as they are shown.
    pub fn refuses(&self, action: Action, is_open: bool) -> bool {
        let reads = matches!(action, Action::Replay | Action::CompareParent)
            || action == Action::Diff && !is_open;
        reads && self.is_wanted()
    }

    /// Whether it is on or about to be: what cannot be redacted is not begun.
    pub fn is_wanted(&self) -> bool {
        self.is_on || self.making().is_some()
    }
}

impl App {
    /// How the file of a recording is called, escaped. While the screen is redacted that is not
    /// told: it may be called after its command.
    pub fn file(&self, path: &Path) -> String {
        if self.redaction.is_on {
            return FILE.to_owned();
        }
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        escape(&file).into_owned()
    }

    /// What was said of recordings, escaped, without how their files are called where that is not
    /// told.
    pub fn without_files(&self, text: &str) -> String {
        let rows = self.library.rows.iter().map(|row| &*row.entry.path);
        let open = self.session.as_deref().map(|open| &*open.path);
        let paths = rows.chain(self.library.selected.as_deref()).chain(open);
        paths.fold(text.to_owned(), |text, path| self.without_file(&text, path))
    }

    /// What was said of the recording `path`, likewise.
    pub fn without_file(&self, text: &str, path: &Path) -> String {
        let mut text = text.to_owned();
        if !self.redaction.is_on {
            return text;
        }
        // Paths before names, which are in them.
        let files = [path, &spool_of(path)];
        let paths = files.map(Path::as_os_str);
        let names = files.map(|file| file.file_name().unwrap_or_default());
        for said in [paths, names].concat() {
            let said = said.to_string_lossy();
            if !said.is_empty() {
                text = text.replace(&*escape(&said), FILE);
            }
        }
        text
    }
}

impl Shown {
    pub fn behind(&self) -> u64 {
        self.newest.0.saturating_sub(self.last.0)
    }
}
