//! What may be said of sessions without fault: `expected.toml`.
//!
//! ```toml
//! happens = ["tools/call"]        # in some session
//!
//! [[finding]]                     # a rule that finds an error or a warning; notes are free
//! id = "shutdown-eof-ignored"
//! severity = "warning"            # an error names the `section` of the specification too
//! servers = ["everything"]        # where; whatever is left out may be any
//! clients = ["python-sdk"]
//! modes = ["auto"]
//! says = "alive"                  # stands in what was found; may be left out
//! sometimes = true                # not in each of these sessions, or
//! by-chance = true                # perhaps in none: it depends on how busy the machine is
//! why = "…"                       # why it is true
//!
//! [[cause]]                       # what `mcpreel why` names, if not that nothing is wrong
//! id = "calls-failed"
//! ```

use crate::interop_session::Session;
use crate::peers::{CLIENTS, SERVERS};
use serde::Deserialize;
use std::fmt;

/// All that is expected.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Methods, and how requests ended: each happens in some session, or it would mean nothing that no
    /// rule says a word.
    pub happens: Vec<String>,
    pub finding: Vec<Entry>,
    pub cause: Vec<Entry>,
}

/// Something that is true of some sessions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entry {
    id: String,
    severity: Option<String>,
    section: Option<String>,
    servers: Option<Vec<String>>,
    clients: Option<Vec<String>>,
    modes: Option<Vec<String>>,
    #[serde(default)]
    says: String,
    #[serde(default)]
    sometimes: bool,
    #[serde(default)]
    by_chance: bool,
    why: String,
}

/// Something that was said of a session.
pub struct Said {
    pub id: String,
    /// The severity of a finding; causes have none.
    pub severity: Option<String>,
    pub text: String,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = self.severity.as_deref().unwrap_or("why");
        write!(f, "{severity} {}: {}", self.id, self.text)
    }
}

impl Expected {
    /// Reads the file, and fails the test where it contradicts itself.
    pub fn read() -> Self {
        let expected: Self =
            toml::from_str(include_str!("expected.toml")).expect("the file is what it should be");
        for entry in expected.finding.iter().chain(&expected.cause) {
            entry.check();
        }
        expected
    }
}

impl Entry {
    fn check(&self) {
        let all = |names: &Option<Vec<String>>, known: &[&str]| {
            let mut names = names.iter().flatten();
            names.all(|name| known.contains(&name.as_str()))
        };
        let modes: Vec<_> = CLIENTS
            .iter()
            .flat_map(|client| client.modes)
            .copied()
            .collect();
        assert!(
            all(&self.servers, &SERVERS.map(|server| server.name)),
            "{}: a server",
            self.id
        );
        assert!(
            all(&self.clients, &CLIENTS.map(|client| client.name)),
            "{}: a client",
            self.id
        );
        assert!(all(&self.modes, &modes), "{}: a mode", self.id);
        assert!(!self.why.is_empty(), "{} has no argument", self.id);
        let is_error = self.severity.as_deref() == Some("error");
        assert!(
            !is_error || self.section.is_some(),
            "{} names no section",
            self.id
        );
    }

    /// Whether it is about this session.
    fn covers(&self, session: &Session) -> bool {
        let has = |names: &Option<Vec<String>>, name: &str| {
            names
                .as_ref()
                .is_none_or(|names| names.iter().any(|one| one == name))
        };
        has(&self.servers, session.server.name)
            && has(&self.clients, session.client.name)
            && has(&self.modes, session.mode)
    }

    fn fits(&self, said: &Said) -> bool {
        self.id == said.id && self.severity == said.severity && said.text.contains(&self.says)
    }
}

/// What was said that nobody expected, and what was expected and not said.
pub fn complaints(entries: &[Entry], sessions: &[Session], said: &[Vec<Said>]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (session, said) in sessions.iter().zip(said) {
        let is_new = |said: &&Said| {
            !entries
                .iter()
                .any(|entry| entry.covers(session) && entry.fits(said))
        };
        let new = said.iter().filter(is_new);
        complaints.extend(new.map(|said| format!("{}: {said}", session.name())));
    }
    for entry in entries {
        let about = sessions
            .iter()
            .zip(said)
            .filter(|(session, _)| entry.covers(session));
        let (fires, silent): (Vec<_>, Vec<_>) =
            about.partition(|(_, said)| said.iter().any(|said| entry.fits(said)));
        if entry.by_chance {
            continue;
        }
        if fires.is_empty() {
            complaints.push(format!("{} {:?} is never said", entry.id, entry.says));
        } else if !entry.sometimes {
            let silent = silent.iter().map(|(session, _)| session.name());
            let not_said = |name| format!("{name}: {} {:?} is not said", entry.id, entry.says);
            complaints.extend(silent.map(not_said));
        }
    }
    complaints
}
