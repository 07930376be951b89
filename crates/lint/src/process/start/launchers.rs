//! Who is known to write to stdout before a server does.

/// Bytes that are looked at. What names itself does so at the beginning; without a limit a long line
/// would be searched once for each name.
const LOOKED_AT: usize = 400;

/// How a line of theirs begins, what else stands in it, both in lower case, and who they are.
type Known = (&'static str, &'static str, &'static str);

/// Programs that start a server and talk while they do.
#[rustfmt::skip]
const LAUNCHERS: [Known; 21] = [
    ("need to install the following packages", "", "npx asks before it installs"),
    ("npm ", "", "npm"),
    ("", "npm warn", "npm"),
    ("> ", "@", "npm run"),
    ("added ", " package", "npm install"),
    ("up to date", "", "npm install"),
    ("yarn ", "", "yarn"),
    ("now using node", "", "nvm"),
    ("installed ", " package", "uv"),
    ("resolved ", " package", "uv"),
    ("collecting ", "", "pip"),
    ("requirement already satisfied", "", "pip"),
    ("compiling ", " v", "cargo"),
    ("building", "", "the build tool that starts it"),
    ("restored ", "", "dotnet run"),
    ("using launch settings", "", "dotnet run"),
    ("unable to find image", "", "docker"),
    ("", "pulling from", "docker"),
    ("active code page", "", "chcp"),
    ("microsoft windows [", "", "a command prompt"),
    ("python ", " on ", "Python, started without a program"),
];

#[rustfmt::skip]
const OTHERS: [Known; 10] = [
    ("[dotenv", "", "dotenv"),
    ("", "injecting env", "dotenv"),
    ("debugger listening", "", "the debugger of Node"),
    ("(node:", "", "Node"),
    ("", "fastmcp", "a banner of FastMCP"),
    ("", "spring boot", "a banner of Spring Boot"),
    ("", "microsoft.hosting", "the log of a .NET host"),
    ("", "server running", "a line that says that the server runs"),
    ("", "server started", "a line that says that the server runs"),
    ("", "listening on", "a line that says that the server listens"),
];

/// Which launcher wrote `line`, if one is known to.
pub fn launcher(line: &[u8]) -> Option<&'static str> {
    find(&LAUNCHERS, &beginning(line))
}

/// Who wrote `line`, or what it is, as far as that can be told.
pub fn name(line: &[u8]) -> Option<&'static str> {
    let text = beginning(line);
    let known = find(&LAUNCHERS, &text).or_else(|| find(&OTHERS, &text));
    known.or_else(|| kind(&text))
}

/// The beginning of `line` in lower case.
fn beginning(line: &[u8]) -> String {
    let line = &line[..line.len().min(LOOKED_AT)];
    let text = String::from_utf8_lossy(line).to_lowercase();
    text.trim_start().to_owned()
}

fn find(known: &[Known], text: &str) -> Option<&'static str> {
    let mut known = known.iter();
    let found = known.find(|(start, part, _)| text.starts_with(start) && text.contains(part));
    found.map(|(_, _, name)| *name)
}

/// What a line is that nobody is known by.
fn kind(text: &str) -> Option<&'static str> {
    let is_drawn = |char: char| matches!(char, '\u{2500}'..='\u{259f}');
    if text.starts_with('{') {
        Some("a JSON object that is no message")
    } else if text.starts_with("\u{1b}[") {
        Some("text for a terminal")
    } else if text.contains(is_drawn) {
        Some("a banner")
    } else {
        is_log(text).then_some("a log line")
    }
}

/// Whether a line begins with a level or with a date, in brackets or not.
fn is_log(text: &str) -> bool {
    let text = text.trim_start_matches('[');
    let levels = ["trace", "debug", "info", "notice", "warn", "error", "log"];
    let level = levels.iter().find_map(|level| text.strip_prefix(level));
    let is_end = |char: char| !char.is_alphanumeric();
    let by_level = level.is_some_and(|rest| rest.starts_with(is_end) || rest.starts_with("ing"));
    let date = text.get(..10).unwrap_or_default();
    let is_date = |(at, byte): (usize, u8)| match at {
        4 | 7 => matches!(byte, b'-' | b'/'),
        _ => byte.is_ascii_digit(),
    };
    by_level || (date.len() == 10 && date.bytes().enumerate().all(is_date))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_suspects_are_named() {
        for (line, expected) in [
            ("> server@1.0.0 start\n", Some("npm run")),
            (
                "[dotenv@17.2.0] injecting env (3) from .env\n",
                Some("dotenv"),
            ),
            ("  NPM WARN deprecated x\n", Some("npm")),
            ("╭──── FastMCP 2.0 ────╮\n", Some("a banner of FastMCP")),
            ("█▀▀ hello\n", Some("a banner")),
            ("\u{1b}[32mready\u{1b}[0m\n", Some("text for a terminal")),
            (
                "{\"level\":30,\"msg\":\"up\"}\n",
                Some("a JSON object that is no message"),
            ),
            ("[INFO] started\n", Some("a log line")),
            ("2026-11-20 12:00:00 started\n", Some("a log line")),
            ("WARNING: x\n", Some("a log line")),
            ("information desk\n", None),
            ("Using launch settings from x\n", Some("dotnet run")),
            ("hello\n", None),
            ("> hello\n", None),
            ("", None),
        ] {
            assert_eq!(name(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn what_runs_inside_a_server_is_no_launcher() {
        assert_eq!(launcher(b"> server@1.0.0 start\n"), Some("npm run"));
        assert_eq!(launcher(b"Building...\n"), name(b"Building...\n"));
        for line in ["[INFO] started", "[dotenv@17.2.0] up", "listening on 1"] {
            assert_eq!(launcher(line.as_bytes()), None, "{line}");
            assert!(name(line.as_bytes()).is_some(), "{line}");
        }
    }
}
