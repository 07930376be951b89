//! Who is known to write to stdout before a server does.

/// Bytes that are looked at. What names itself does so at the beginning; without a limit a long line
/// would be searched once for each name.
const LOOKED_AT: usize = 400;

/// How a line of theirs begins, what else stands in it, both in lower case, and who they are.
#[rustfmt::skip]
const KNOWN: [(&str, &str, &str); 29] = [
    ("content-length:", "", "framing by Content-Length, as language servers have it"),
    ("need to install the following packages", "", "npx asks before it installs"),
    ("npm ", "", "npm"),
    ("", "npm warn", "npm"),
    ("> ", "@", "npm run"),
    ("added ", " package", "npm install"),
    ("up to date", "", "npm install"),
    ("yarn run", "", "yarn"),
    ("[dotenv", "", "dotenv"),
    ("", "injecting env", "dotenv"),
    ("debugger listening", "", "the debugger of Node"),
    ("(node:", "", "Node"),
    ("now using node", "", "nvm"),
    ("installed ", " package", "uv"),
    ("resolved ", " package", "uv"),
    ("collecting ", "", "pip"),
    ("requirement already satisfied", "", "pip"),
    ("compiling ", " v", "cargo"),
    ("unable to find image", "", "docker"),
    ("", "pulling from", "docker"),
    ("active code page", "", "chcp"),
    ("microsoft windows [", "", "a command prompt"),
    ("python ", " on ", "Python, started without a program"),
    ("", "fastmcp", "a banner of FastMCP"),
    ("", "spring boot", "a banner of Spring Boot"),
    ("", "microsoft.hosting", "the log of a .NET host"),
    ("", "server running", "a line that says that the server runs"),
    ("", "server started", "a line that says that the server runs"),
    ("", "listening on", "a line that says that the server listens"),
];

/// Who wrote `line`, or what it is, as far as that can be told.
pub(super) fn name(line: &[u8]) -> Option<&'static str> {
    let line = &line[..line.len().min(LOOKED_AT)];
    let text = String::from_utf8_lossy(line).to_lowercase();
    let text = text.trim_start();
    let mut known = KNOWN.iter();
    let found = known.find(|(start, part, _)| text.starts_with(start) && text.contains(part));
    if let Some((_, _, name)) = found {
        return Some(name);
    }
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
            (
                "Content-Length: 120\r\n",
                Some("framing by Content-Length, as language servers have it"),
            ),
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
            ("hello\n", None),
            ("> hello\n", None),
            ("", None),
        ] {
            assert_eq!(name(line.as_bytes()), expected, "{line}");
        }
    }
}
