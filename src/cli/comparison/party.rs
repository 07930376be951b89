//! One of the two that were compared.

use crate::cli::exit::Failure;
use crate::cli::folder::{self, Folder};
use crate::cli::select;
use mcpreel_replay::called;
use mcpreel_share::phrases;
use mcpreel_store::library::{Library, short_id};
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{escape, plural, size};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// One of the two that were compared.
#[derive(Clone, Debug, Serialize)]
pub struct Party {
    /// Its id, all of it.
    pub id: String,
    /// Its name. Not escaped.
    pub name: String,
    /// The version that its server says it has. Not escaped.
    pub version: Option<Box<str>>,
    /// Its file. Not escaped.
    pub path: String,
    /// How many exchanges it has.
    pub exchanges: u64,
    /// How it stands, where that is not as it should be in the end.
    pub state: Option<&'static str>,
    /// Bytes that are not on record.
    pub gap_bytes: u64,
    /// The exchange of it that was compared, where it is one.
    pub seq: Option<u64>,
    /// The beginning of its id that names it, or the file of a cassette, whose id nobody can open.
    /// Escaped.
    #[serde(skip)]
    short: String,
    /// What other commands call it, ready for a shell.
    #[serde(skip)]
    address: String,
}

impl Party {
    /// A recording, as a command names it that works in the folder `dir`. Other commands look for
    /// ids there only if nobody named it by an option.
    pub fn new(recording: &Recording, dir: &Folder) -> Result<Self, Failure> {
        let summary = recording.summary()?;
        let library = Library::new(folder::of(dir)?);
        let path = recording.path().display().to_string();
        let entries = match dir.dir {
            None => library.list().unwrap_or_default(),
            Some(_) => Vec::new(),
        };
        let short = match called::cassette_name(recording) {
            Some(file) => escape(&file).into_owned(),
            None => short_id(&summary.id, &entries).to_owned(),
        };
        let alone = entries.iter().filter(|entry| entry.id == summary.id);
        let by_id = alone.count() == 1 && library.contains(recording.path());
        Ok(Self {
            state: (!summary.state.is_final()).then(|| select::state(recording, &summary)),
            id: summary.id,
            name: summary.name,
            version: summary.session.server.version,
            exchanges: summary.exchanges,
            gap_bytes: summary.gap_bytes,
            seq: None,
            address: if by_id { short.clone() } else { path.clone() },
            path,
            short,
        })
    }

    /// `7f3a`, or `search.jsonl` for a cassette; `7f3a#12` where one exchange is meant.
    pub fn short(&self) -> String {
        match self.seq {
            Some(seq) => format!("{}#{seq}", self.short),
            None => self.short.clone(),
        }
    }

    /// What it is called in every run: the file of a cassette, the name of a recording. Not escaped.
    pub fn lasting_name(&self) -> String {
        let file = Path::new(&self.path).file_name();
        match file.filter(|_| self.is_cassette()) {
            Some(file) => file.to_string_lossy().into_owned(),
            None => self.name.clone(),
        }
    }

    fn is_cassette(&self) -> bool {
        called::is_cassette(Path::new(&self.path))
    }

    /// The file that annotations are about: a cassette, which lies beside the code, or the right
    /// recording. From the folder where we are, where it lies below that. Not escaped.
    pub fn file(parties: &[Self; 2]) -> String {
        let cassette = parties.iter().find(|party| party.is_cassette());
        let path = Path::new(&cassette.unwrap_or(&parties[1]).path);
        let here = std::env::current_dir().ok();
        let below = here.and_then(|here| path.strip_prefix(here).ok());
        below.unwrap_or(path).display().to_string()
    }

    /// `7f3a  weather-server 1.2.0, 31 exchanges, live`, escaped.
    pub fn in_words(&self) -> String {
        let mut words = format!("{}  {}", self.short(), escape(&self.name));
        if let Some(version) = self.version.as_deref().filter(|text| !text.is_empty()) {
            _ = write!(words, " {}", escape(version));
        }
        if self.seq.is_none() {
            _ = write!(words, ", {}", plural(self.exchanges, "exchange"));
        }
        if let Some(state) = self.state {
            _ = write!(words, ", {state}");
        }
        if self.gap_bytes > 0 {
            _ = write!(words, ", {} not on record", size(self.gap_bytes));
        }
        words
    }

    /// The command that opens a frame of it, to be pasted into a shell.
    pub fn open(&self, seq: Seq) -> String {
        let place = format!("{}#{}", escape(&self.address), seq.0);
        format!("mcpreel open '{}'", place.replace('\'', r"'\''"))
    }

    /// The same of a recording that cannot be read yet: this is its id, and this its file.
    pub fn placed(mut self, id: &str, path: &Path) -> Self {
        id.clone_into(&mut self.id);
        id.get(..4).unwrap_or(id).clone_into(&mut self.short);
        self.path = path.display().to_string();
        self.address.clone_from(&self.path);
        self
    }

    /// A command on all of it, to be pasted into a shell.
    pub fn command(&self, name: &str) -> String {
        format!(
            "mcpreel {name} {}",
            phrases::command(std::slice::from_ref(&self.address))
        )
    }
}

/// The commands that open the places of both sides, as far as there are any.
pub fn opens(parties: &[Party; 2], seqs: [Option<Seq>; 2]) -> Vec<String> {
    let places = parties.iter().zip(seqs);
    let commands = places.filter_map(|(party, seq)| seq.map(|seq| party.open(seq)));
    commands.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_file_breaks_out_of_the_command() {
        let party = Party {
            id: "7f3a9c21".into(),
            name: "n\u{1b}".into(),
            version: Some("1\u{202e}".into()),
            path: String::new(),
            exchanges: 0,
            state: None,
            gap_bytes: 0,
            seq: None,
            short: "7f3a".into(),
            address: "a'; rm -r \u{1b}x".into(),
        };
        assert_eq!(party.open(Seq(7)), r"mcpreel open 'a'\''; rm -r \x1bx#7'");
        assert_eq!(party.in_words(), "7f3a  n\\x1b 1\\u{202e}, 0 exchanges");
        let other = party.placed("c04d9c21", Path::new("/r/b.reel"));
        assert_eq!((&*other.short(), &*other.id), ("c04d", "c04d9c21"));
        assert_eq!(other.open(Seq(7)), "mcpreel open '/r/b.reel#7'");
    }
}
