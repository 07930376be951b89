//! What sides can declare. Unknown capabilities are allowed.

use super::methods::TASKS_EXTENSION;
use crate::brief;
use crate::json::{Document, Kind, Value};
use std::collections::BTreeSet;

/// Whether a capability, a path of members, is the client's to declare; the others are the server's,
/// and those about the tasks themselves are declared by both.
pub fn is_of_client(path: &str) -> bool {
    let mut members = path.split('.');
    matches!(members.next(), Some("roots" | "sampling" | "elicitation"))
}

/// Capabilities of a side that are looked at: a hostile one could declare a million.
const KEPT: usize = 200;

/// What a side has declared, as paths of members: `resources`, `resources.subscribe`,
/// `extensions.io.modelcontextprotocol/tasks`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    paths: BTreeSet<String>,
    /// Whether there may be more of them.
    is_partial: bool,
}

impl Declared {
    /// Reads `capabilities`, JSON text as on the wire: its members, and below them what is an
    /// object or `true`. What cannot be read declares nothing.
    pub fn read(json: Option<&str>) -> Self {
        let mut paths = BTreeSet::new();
        let document = json.and_then(|json| Document::parse(json.as_bytes()).ok());
        if let Some(document) = &document {
            collect(document.root(), "", 0, &mut paths);
        }
        Self {
            is_partial: paths.len() >= KEPT,
            paths,
        }
    }

    /// What was declared where nobody has looked at it: anything.
    pub fn unknown() -> Self {
        Self {
            paths: BTreeSet::new(),
            is_partial: true,
        }
    }

    pub fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Whether all of it was looked at: what is not there was not declared.
    pub fn is_whole(&self) -> bool {
        !self.is_partial
    }

    /// Whether something was declared, or may have been, that can define methods and results of its
    /// own and is not known here.
    pub fn has_unknown_extensions(&self) -> bool {
        let is_unknown = |path: &str| {
            let extension = path.strip_prefix("extensions.");
            path.starts_with("experimental.") || extension.is_some_and(|it| it != TASKS_EXTENSION)
        };
        !self.is_whole() || self.iter().any(is_unknown)
    }

    /// The paths, in the order of the alphabet.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }
}

/// How deep capabilities nest: `tasks.requests.tools.call`.
const DEPTH: usize = 4;

fn collect(value: Value<'_>, prefix: &str, depth: usize, paths: &mut BTreeSet<String>) {
    for (name, inner) in value.members() {
        let declares = inner.is_object() || inner.as_bool() == Some(true);
        if paths.len() == KEPT || depth == DEPTH || !(declares || depth == 0 && !off(inner)) {
            continue;
        }
        let name = name.as_str().unwrap_or_default();
        let name = brief::text(&name);
        let path = match prefix {
            "" => name.into_owned(),
            _ => format!("{prefix}.{name}"),
        };
        // What stands below these is anybody's own.
        if !matches!(path.as_str(), "experimental" | "extensions") || inner.kind() != Kind::Object {
            collect(inner, &path, depth + 1, paths);
        } else {
            let own = inner.members().filter_map(|(name, _)| name.as_str());
            paths.extend(
                own.take(KEPT)
                    .map(|name| format!("{path}.{}", brief::text(&name))),
            );
        }
        paths.insert(path);
    }
}

fn off(value: Value<'_>) -> bool {
    value.is_null() || value.as_bool() == Some(false)
}
