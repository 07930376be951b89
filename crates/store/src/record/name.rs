//! What a recording is called where nobody gave it a name.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Programs that run something else, which says more than they do.
const LAUNCHERS: [&str; 13] = [
    "bun", "bunx", "deno", "env", "node", "npm", "npx", "pipx", "pnpm", "python", "ruby", "uv",
    "uvx",
];

/// Words after a launcher that are not what it runs.
const VERBS: [&str; 6] = ["dlx", "exec", "run", "tool", "x", "-m"];

/// The name of what `command` runs: of the script or package where the program is a launcher
/// (`npx -y @scope/server-files /home` is `server-files`), else of the program.
pub fn of_command(command: &[OsString]) -> String {
    let Some((program, arguments)) = command.split_first() else {
        return String::new();
    };
    let program = base(program);
    if !is_launcher(&program) {
        return program;
    }
    let is_other = |word: &str| {
        let passed_over = word.starts_with('-') || word.contains('=') || VERBS.contains(&word);
        !passed_over && !is_launcher(&base(OsStr::new(word)))
    };
    let words = arguments.iter().map(|word| word.to_string_lossy());
    let script = words.into_iter().find(|word| is_other(word));
    script.map_or(program, |script| package(&script))
}

fn is_launcher(program: &str) -> bool {
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    LAUNCHERS.contains(&stem)
}

fn base(path: &OsStr) -> String {
    let name = Path::new(path).file_name().unwrap_or(path);
    name.to_string_lossy().into_owned()
}

/// `@scope/name@1.2` and `dir/name.py` without what surrounds the name.
fn package(word: &str) -> String {
    let name = base(OsStr::new(word));
    let name = match name.find('@') {
        Some(at) if at > 0 => &name[..at],
        _ => &name,
    };
    let stem = [".py", ".js", ".mjs", ".cjs", ".ts", ".rb"];
    let stem = stem.iter().find_map(|ending| name.strip_suffix(ending));
    stem.unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_called_after_what_runs_not_after_what_runs_it() {
        for (command, name) in [
            ("weather-server --port 1", "weather-server"),
            ("/usr/bin/weather-server", "weather-server"),
            (
                "npx -y @modelcontextprotocol/server-files@1.2 /home/ada",
                "server-files",
            ),
            ("python3.11 -u src/notes.py", "notes"),
            ("python -m mcp_server_git", "mcp_server_git"),
            ("env LANG=C node dist/index.mjs", "index"),
            ("uv run notes.py", "notes"),
            ("sh -c anything", "sh"),
            ("node", "node"),
            ("", ""),
        ] {
            let words: Vec<_> = command.split_whitespace().map(OsString::from).collect();
            assert_eq!(of_command(&words), name, "{command}");
        }
    }
}
