//! Names of recordings: `2026-11-20T15-17-03_weather-server_7f3a9c21.reel`.

use crate::values::is_id;
use chrono::{DateTime, Local, NaiveDateTime, TimeZone};

/// Longer names are cut: file systems allow 255 bytes for everything.
const MAX_NAME: usize = 64;

const TIME: &str = "%Y-%m-%dT%H-%M-%S";

/// What the name of a recording's file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// Wall clock of the start, nanoseconds since the Unix epoch, to the second.
    pub wall_ns: u64,
    /// The server's name, [`sanitised`].
    pub name: String,
    /// The recording's id, eight hex digits.
    pub id: String,
}

impl FileName {
    /// Reads the name of a file without its extension; `None` if it has another form.
    pub fn parse(stem: &str) -> Option<Self> {
        let (time, rest) = stem.split_once('_')?;
        let (name, id) = rest.rsplit_once('_')?;
        let time = NaiveDateTime::parse_from_str(time, TIME).ok()?;
        let start = Local.from_local_datetime(&time).earliest()?;
        is_id(id).then(|| Self {
            wall_ns: u64::try_from(start.timestamp_nanos_opt().unwrap_or(0)).unwrap_or(0),
            name: name.into(),
            id: id.into(),
        })
    }
}

/// The name, without extension, of the files of a recording that began at `wall_ns`: its local
/// time, the sanitised name of the server, its id.
pub fn file_stem(wall_ns: u64, name: &str, id: &str) -> String {
    let start = DateTime::from_timestamp_nanos(i64::try_from(wall_ns).unwrap_or(i64::MAX));
    let start = start.with_timezone(&Local).format(TIME);
    format!("{start}_{}_{id}", sanitised(name))
}

/// What of a server's name goes into a file name: ASCII letters, digits, `.`, `_` and `-`; anything
/// else becomes one `-`.
pub fn sanitised(name: &str) -> String {
    let mut clean = String::new();
    for c in name.chars() {
        let c = match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' => c,
            _ => '-',
        };
        if c != '-' || !clean.ends_with('-') {
            clean.push(c);
        }
        if clean.len() == MAX_NAME {
            break;
        }
    }
    let clean = clean.trim_matches(['-', '.']);
    if clean.is_empty() {
        "server".into()
    } else {
        clean.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_holds_what_it_was_made_from() {
        let wall_ns = 1_795_000_000_000_000_000;
        for (name, clean) in [
            ("weather-server", "weather-server"),
            ("a_b", "a_b"),
            ("@scope/pkg  x", "scope-pkg-x"),
            ("../../etc/passwd", "etc-passwd"),
            ("日本", "server"),
            ("", "server"),
        ] {
            let stem = file_stem(wall_ns, name, "7f3a9c21");
            let parsed = FileName::parse(&stem).unwrap();
            assert_eq!(parsed.name, clean);
            assert_eq!(parsed.id, "7f3a9c21");
            assert_eq!(parsed.wall_ns, wall_ns);
        }
    }

    #[test]
    fn a_long_name_is_cut() {
        assert_eq!(sanitised(&"x".repeat(1000)).len(), MAX_NAME);
    }

    #[test]
    fn other_names_say_nothing() {
        for stem in [
            "notes",
            "2026-11-20T15-17-03_7f3a9c21",
            "a_b_7f3a9c21",
            "a_b_c",
        ] {
            assert_eq!(FileName::parse(stem), None, "{stem}");
        }
    }
}
