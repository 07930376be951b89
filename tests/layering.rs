//! Who may import whom, and who may print: the shape of the program, kept by a test.
//!
//! Every `use` line and every inline path of the files under `src` is looked at: `crate::x`,
//! `super::x` where it leaves the module, and `mcpreel::x` in the binary.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each top module with those that it may use. `cli` may use everything; nothing uses `cli` but
/// the binary. `written` is there for the unit tests only.
const MAY_USE: [(&str, &[&str]); 17] = [
    ("text", &[]),
    ("config", &[]),
    ("protocol", &[]),
    ("trace", &["protocol"]),
    ("query", &["trace", "protocol"]),
    ("words", &["store", "trace", "protocol", "text"]),
    ("lint", &["trace", "protocol", "text"]),
    ("redact", &["trace", "protocol"]),
    ("capture", &["trace"]),
    (
        "store",
        &["capture", "query", "lint", "trace", "protocol", "written"],
    ),
    ("record", &["capture", "store", "trace", "protocol"]),
    (
        "formats",
        &[
            "store", "redact", "lint", "trace", "protocol", "words", "text", "written",
        ],
    ),
    (
        "outgoing",
        &[
            "capture", "record", "formats", "store", "redact", "query", "trace", "text", "written",
        ],
    ),
    ("demo", &["protocol"]),
    (
        "replay",
        &[
            "record", "capture", "formats", "store", "redact", "query", "trace", "protocol",
            "text", "config", "written",
        ],
    ),
    (
        "tui",
        &[
            "store", "replay", "outgoing", "formats", "redact", "query", "lint", "trace",
            "protocol", "words", "text", "config", "written",
        ],
    ),
    ("main", &["cli"]),
];

/// Finer rules: of these modules only these parts may be used.
const ONLY_PARTS: [(&str, &str, &[&str]); 6] = [
    ("capture", "trace", &["clock", "event", "frame"]),
    ("store", "capture", &["spool"]),
    ("replay", "capture", &["process", "tap", "gauge"]),
    ("replay", "formats", &["export"]),
    ("outgoing", "capture", &["process"]),
    ("tui", "formats", &["export"]),
];

/// A place where a file names another module.
struct Reference {
    line: usize,
    path: Vec<String>,
}

fn sources(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("src can be listed") {
        let path = entry.expect("src can be listed").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// The module path of a file: `src/trace/clock.rs` is `[trace, clock]`, `src/lib.rs` is empty.
fn module_of(file: &Path) -> Vec<String> {
    let mut module: Vec<String> = file
        .with_extension("")
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    if module
        .last()
        .is_some_and(|last| last == "mod" || last == "lib")
    {
        module.pop();
    }
    module
}

/// The code without comments and without the text of strings, its lines kept.
fn without_comments(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    for line in source.lines() {
        let mut quoted = false;
        let mut previous = ' ';
        let mut kept = String::new();
        for (at, character) in line.char_indices() {
            if !quoted && line[at..].starts_with("//") {
                break;
            }
            if character == '"' && previous != '\\' && previous != '\'' {
                quoted = !quoted;
            } else if !quoted {
                kept.push(character);
            }
            previous = if previous == '\\' { ' ' } else { character };
        }
        code.push_str(&kept);
        code.push('\n');
    }
    code
}

/// All paths that start at the crate, with the braces of `use crate::{a, b::c}` spread out.
fn references(module: &[String], code: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut depth_of_inline_modules = Vec::new();
    let mut depth = 0_usize;
    for (number, line) in code.lines().enumerate() {
        // `super` inside `mod tests { .. }` is the file's own module.
        if line.contains("mod ") && line.trim_end().ends_with('{') {
            depth_of_inline_modules.push(depth);
        }
        let mut here = module.to_vec();
        here.extend(depth_of_inline_modules.iter().map(|_| "inline".to_owned()));
        for (at, root) in roots(line) {
            let rest: String = code
                .lines()
                .skip(number)
                .enumerate()
                .map(|(nth, text)| if nth == 0 { &text[at..] } else { text })
                .take_while_inclusive_semicolon();
            for path in spread(&rest[root.len()..]) {
                if let Some(path) = absolute(&here, root, path) {
                    found.push(Reference {
                        line: number + 1,
                        path,
                    });
                }
            }
        }
        depth += line.matches('{').count();
        depth = depth.saturating_sub(line.matches('}').count());
        while depth_of_inline_modules
            .last()
            .is_some_and(|&open| depth <= open)
        {
            depth_of_inline_modules.pop();
        }
    }
    found
}

/// Joins lines up to the first that ends a statement, so that braces over several lines are whole.
trait Statement<'a> {
    fn take_while_inclusive_semicolon(self) -> String;
}

impl<'a, I: Iterator<Item = &'a str>> Statement<'a> for I {
    fn take_while_inclusive_semicolon(self) -> String {
        let mut text = String::new();
        for line in self {
            text.push_str(line);
            text.push(' ');
            if line.contains(';') {
                break;
            }
        }
        text
    }
}

/// Where on the line a path begins that leaves the module: its offset and its first words.
fn roots(line: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for word in ["crate::", "mcpreel::", "super::"] {
        for (at, _) in line.match_indices(word) {
            let before = line[..at].chars().next_back().unwrap_or(' ');
            if before.is_alphanumeric() || before == '_' || before == ':' {
                continue;
            }
            let mut end = at + word.len();
            while word == "super::" && line[end..].starts_with(word) {
                end += word.len();
            }
            found.push((at, &line[at..end]));
        }
    }
    found
}

/// The paths after a root: one, or one per entry of its braces.
fn spread(rest: &str) -> Vec<Vec<String>> {
    let identifier = |text: &str| -> String {
        text.chars()
            .take_while(|character| character.is_alphanumeric() || *character == '_')
            .collect()
    };
    let Some(inside) = rest.strip_prefix('{') else {
        let parts = rest.split("::").map_while(|part| {
            let name = identifier(part);
            (!name.is_empty()).then_some((name.len() == part.len(), name))
        });
        let mut path = Vec::new();
        for (whole, name) in parts {
            path.push(name);
            if !whole {
                break;
            }
        }
        return vec![path];
    };
    let mut entries = vec![String::new()];
    let mut depth = 0;
    for character in inside.chars() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                entries.push(String::new());
                continue;
            }
            _ => {}
        }
        entries
            .last_mut()
            .expect("it is never empty")
            .push(character);
    }
    entries
        .iter()
        .flat_map(|entry| spread(entry.trim()))
        .filter(|path| !path.is_empty())
        .collect()
}

/// The path from the crate's root; `None` where `super` stays inside the file.
fn absolute(here: &[String], root: &str, path: Vec<String>) -> Option<Vec<String>> {
    let ups = root.matches("super::").count();
    if ups == 0 {
        return Some(path);
    }
    let base = here.get(..here.len().checked_sub(ups)?)?;
    if base.first().is_some_and(|top| here.first() == Some(top)) {
        return None;
    }
    Some(base.iter().cloned().chain(path).collect())
}

/// What is wrong with a file's references, one sentence each.
fn violations(file: &Path, source: &str) -> Vec<String> {
    let module = module_of(file);
    let Some(top) = module.first() else {
        return Vec::new();
    };
    if top == "cli" {
        return Vec::new();
    }
    let may_use = BTreeMap::from(MAY_USE);
    let Some(allowed) = may_use.get(top.as_str()) else {
        return vec![format!(
            "{}: `{top}` has no row in the rules",
            file.display()
        )];
    };
    references(&module, &without_comments(source))
        .into_iter()
        .filter(|reference| reference.path.first().is_some_and(|used| used != top))
        .filter(|reference| !is_allowed(top, allowed, &reference.path))
        .map(|reference| {
            let path = reference.path.join("::");
            format!(
                "{}:{}: `{top}` uses `{path}`",
                file.display(),
                reference.line
            )
        })
        .collect()
}

fn is_allowed(top: &str, allowed: &[&str], path: &[String]) -> bool {
    if !allowed.contains(&path[0].as_str()) {
        return false;
    }
    ONLY_PARTS
        .iter()
        .filter(|(user, used, _)| *user == top && *used == path[0])
        .all(|(_, _, parts)| {
            path.get(1)
                .is_some_and(|part| parts.contains(&part.as_str()))
        })
}

/// Every file under `src` with its text, by its path below `src`.
fn all_sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let relative = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("a source file is text");
        let file = file
            .strip_prefix(&root)
            .expect("it is below src")
            .to_owned();
        (file, text)
    };
    files.into_iter().map(relative).collect()
}

#[test]
fn nobody_imports_what_stands_to_the_left() {
    let all = all_sources();
    assert!(all.len() > 20, "src was not found");
    let found: Vec<_> = all
        .iter()
        .flat_map(|(file, source)| violations(file, source))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn only_one_file_prints() {
    let printing = ["println!", "eprintln!", "print!", "eprint!", "dbg!"];
    for (file, source) in all_sources() {
        let code = without_comments(&source);
        let found = printing.iter().find(|word| {
            code.match_indices(**word).any(|(at, _)| {
                let before = code[..at].chars().next_back().unwrap_or(' ');
                !before.is_alphanumeric() && before != '_'
            })
        });
        let may = file == Path::new("cli/output.rs");
        assert!(may || found.is_none(), "{} has {found:?}", file.display());
    }
}

#[test]
fn every_way_of_naming_a_module_is_seen() {
    let file = Path::new("trace/deep/part.rs");
    let wrong = [
        "use crate::store::reader;",
        "use crate::{protocol::id, store};",
        "use crate::{\n    protocol::{id, message},\n    store::Reader,\n};",
        "let a = crate::store::open();",
        "use super::super::super::store;",
        "pub use super::super::super::{protocol, store::open};",
        "mod tests { use crate::store; }",
    ];
    for source in wrong {
        let found = violations(file, source);
        assert_eq!(found.len(), 1, "{source}: {found:?}");
        assert!(found[0].contains("store"), "{found:?}");
    }
    let right = [
        "use crate::protocol::id;",
        "use crate::trace::clock;",
        "use super::other;",
        "use super::super::clock;",
        "// use crate::store;",
        "let text = \"crate::store\";",
        "mod tests {\n use super::super::*;\n}",
    ];
    for source in right {
        assert_eq!(violations(file, source), [""; 0], "{source}");
    }
}

#[test]
fn parts_that_are_not_shared_are_seen() {
    let capture = Path::new("capture/pump.rs");
    assert_eq!(
        violations(capture, "use crate::trace::clock::Moment;"),
        [""; 0]
    );
    assert_eq!(
        violations(capture, "use crate::trace::correlator;").len(),
        1
    );
    assert_eq!(
        violations(Path::new("main.rs"), "mcpreel::cli::main()"),
        [""; 0]
    );
    assert_eq!(
        violations(Path::new("main.rs"), "mcpreel::store::x()").len(),
        1
    );
    assert_eq!(violations(Path::new("other/mod.rs"), "").len(), 1);
}
