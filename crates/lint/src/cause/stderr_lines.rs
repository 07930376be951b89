//! The last words of a server: which line of stderr names the fault, and the lines around it.
//!
//! Of Python it is the first line behind the places of the last traceback, of npm the one of its many
//! lines that is no field. Else it is the last line that names an error (of a panic in Rust the line
//! behind that), else the last one; places of a stack are indented and name nothing.

use super::facts::{Facts, Line};
use super::{AT_ONCE_NS, SECOND_NS};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Exchange;

/// Lines of stderr that are no further apart belong together, nanoseconds.
const TOGETHER_NS: u64 = 5 * SECOND_NS;

/// Lines that are older at the end have nothing to do with it, nanoseconds.
const LONG_BEFORE_NS: u64 = 10 * SECOND_NS;

/// Words in lines that say what went wrong.
const ERRORS: &str = "error|exception|panic|fatal|cannot|could not|unable to|not found|no such|\
                      not set|denied|refused|failed|invalid|missing";

/// Fields that npm tells one by one around the sentence that says what is wrong.
const NPM_FIELDS: &str = "code|errno|syscall|path|dest|cwd|command|signal|file|spawnargs|\
                          a complete log|workspace";

/// The last lines of stderr, without those that hold nothing but a frame or an underline.
#[derive(Debug)]
pub(super) struct LastWords<'f> {
    lines: Vec<&'f Line>,
    telling: usize,
    /// Whether the telling line names an error.
    pub(super) names_fault: bool,
}

impl<'f> LastWords<'f> {
    /// The last words since the request that they are about, or else of the session; none if they
    /// were said long before its end.
    pub(super) fn of(facts: &'f Facts, since: Option<Moment>) -> Self {
        let last = facts.last_words.last().map_or(facts.now, |line| line.t);
        let is_late = facts.end().is_some() && facts.since(last) > LONG_BEFORE_NS;
        let (is_old, since) = (since.is_none() && is_late, since.unwrap_or_default());
        let is_meant = |line: &&Line| {
            let is_near = line.t >= since && last.ns_since(line.t) <= TOGETHER_NS;
            !is_old && is_near && has_word(line)
        };
        Self::new(facts.last_words.iter().filter(is_meant).collect())
    }

    /// What was said while a call was open, and right after.
    pub(super) fn during(facts: &'f Facts, call: &Exchange) -> Self {
        let answered = call.t_response_last.unwrap_or(facts.now);
        let near = call.t_request..=Moment(answered.0 + AT_ONCE_NS);
        let said = facts.last_words.iter();
        let said = said.filter(|line| near.contains(&line.t) && has_word(line));
        Self::new(said.collect())
    }

    /// The lines up to the answer of a call that name a fault, and a path that stands in the answer too.
    pub(super) fn of_its_paths(facts: &'f Facts, call: &Exchange) -> Self {
        let answer = call.answered().unwrap_or_default();
        let answered = call.t_response.unwrap_or(facts.now);
        let is_about = |line: &&Line| {
            let words = Words::new(line);
            let between = |c: char| c.is_whitespace() || "'\"`,;:()".contains(c);
            let mut paths = words.text.split(between);
            let is_named = |path: &str| path.len() > 1 && answer.contains(path);
            line.t <= answered
                && words.names(ERRORS)
                && paths.any(|path| path.starts_with('/') && is_named(path))
        };
        Self::new(facts.last_words.iter().filter(is_about).collect())
    }

    fn new(lines: Vec<&'f Line>) -> Self {
        let texts: Vec<_> = lines.iter().map(|line| Words::new(line)).collect();
        let fault = fault(&texts);
        Self {
            telling: fault.unwrap_or(lines.len().saturating_sub(1)),
            names_fault: fault.is_some(),
            lines,
        }
    }

    pub(super) fn telling(&self) -> Option<&'f Line> {
        self.lines.get(self.telling).copied()
    }

    /// `count` lines in the order in which they were written: the telling one with what was said
    /// up to the end, as far as there is room, else with what comes behind it.
    pub(super) fn around(&self, count: usize) -> &[&'f Line] {
        let first = self.telling.min(self.lines.len().saturating_sub(count));
        let end = self.lines.len().min(first + count);
        &self.lines[first..end]
    }
}

fn has_word(line: &Line) -> bool {
    let text = String::from_utf8_lossy(line.text());
    let is_word = |letter: char| letter.is_alphanumeric();
    text.contains(is_word)
}

/// What stands in the traces that Python, Rust, Go, Java and Node print when a program dies.
const TRACES: [&str; 4] = [
    "Traceback (most recent call last)",
    "' panicked at ",
    "goroutine 1 [",
    "    at ",
];

/// Whether lines hold the trace of a program that died.
pub fn has_traceback(lines: &[Line]) -> bool {
    lines.iter().any(|line| {
        let text = String::from_utf8_lossy(line.text());
        TRACES.iter().any(|trace| text.contains(trace))
    })
}

/// The side of a box that Rich draws around a traceback, and Typer around an error.
const SIDE: &[u8] = "│".as_bytes();

/// A line without the frame that groups of exceptions have around theirs, or the sides of a box.
pub(super) fn unframed(line: &[u8]) -> &[u8] {
    let bare = line.trim_ascii_start();
    if let Some(boxed) = bare.strip_prefix(SIDE) {
        return boxed.trim_ascii_end().strip_suffix(SIDE).unwrap_or(boxed);
    }
    match bare.strip_prefix(b"|").or_else(|| bare.strip_prefix(b"+")) {
        Some(inside) => inside.strip_prefix(b" ").unwrap_or(inside),
        None => line,
    }
}

/// A line as text, and in lower case.
struct Words {
    text: String,
    lower: String,
}

impl Words {
    fn new(line: &Line) -> Self {
        let text = String::from_utf8_lossy(unframed(line.text())).into_owned();
        let lower = text.to_lowercase();
        Self { text, lower }
    }

    /// Indented lines, as all in a box are, are places of a stack, or go on with the line above.
    fn is_indented(&self) -> bool {
        let is_edge = |letter: char| letter.is_whitespace() || "╭╰".contains(letter);
        self.text.starts_with(is_edge)
    }

    /// Whether the line holds one of `words`, which `|` separates.
    fn names(&self, words: &str) -> bool {
        let is_item = self.is_indented() || self.text.starts_with("- ");
        !is_item && words.split('|').any(|word| self.lower.contains(word))
    }

    fn is_sentence_of_npm(&self) -> bool {
        let prefixes = ["npm error", "npm err!"];
        let said = prefixes.iter().find_map(|it| self.lower.strip_prefix(it));
        let said = said.unwrap_or_default().trim_start();
        !said.is_empty() && !NPM_FIELDS.split('|').any(|field| said.starts_with(field))
    }
}

/// The line that names a fault.
fn fault(lines: &[Words]) -> Option<usize> {
    let named = || lines.iter().rposition(|line| line.names(ERRORS));
    let at = python(lines)
        .or_else(|| lines.iter().position(Words::is_sentence_of_npm))
        .or_else(named)?;
    // A panic in Rust says where, and in the next line why.
    let goes_on = lines[at].text.contains(" panicked at ") && lines[at].text.ends_with(':');
    Some(at + usize::from(goes_on && at + 1 < lines.len()))
}

fn python(lines: &[Words]) -> Option<usize> {
    let traceback = |line: &Words| line.text.contains("Traceback (most recent call last)");
    let begins = lines.iter().rposition(traceback)?;
    (begins + 1..lines.len()).find(|at| !lines[*at].is_indented())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::frame::{Seq, StreamId};

    fn facts(text: &str) -> Facts {
        let line = |(at, text): (usize, &str)| Line {
            seq: Seq(at as u64 + 1),
            stream: StreamId::STDERR,
            t: Moment(0),
            bytes: text.as_bytes().into(),
        };
        Facts {
            last_words: text.lines().enumerate().map(line).collect(),
            ..Facts::default()
        }
    }

    fn text(line: &Line) -> String {
        String::from_utf8(line.text().to_vec()).unwrap()
    }

    #[track_caller]
    fn assert_telling(lines: &str, expected: &str) {
        let facts = facts(lines);
        let said = LastWords::of(&facts, None).telling().map(text);
        assert_eq!(said.unwrap_or_default(), expected);
    }

    const PYTHON: &str = r#"Traceback (most recent call last):
  File "/srv/weather.py", line 15, in <module>
    os.environ["API_KEY"]
    ~~~~~~~~~~^^^^^^^^^^^
  File "<frozen os>", line 679, in __getitem__
KeyError: 'API_KEY'
"#;

    const RICH: &str = "╭───── Traceback (most recent call last) ─────╮
│ /srv/venv/weather.py:12 in main              │
│                                              │
│ ❱ 12     serve()                             │
╰──────────────────────────────────────────────╯
RuntimeError: no config
";

    const TYPER: &str = "Usage: weather [OPTIONS]
╭─ Error ──────────────────────────────────────╮
│ No such option: --api-key                    │
╰──────────────────────────────────────────────╯
";

    const GROUP: &str = r#"  + Exception Group Traceback (most recent call last):
  |   File "/srv/weather.py", line 21, in main
  |     async with anyio.create_task_group() as group:
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/srv/weather.py", line 18, in ask
    |     raise ConnectTimeout("upstream")
    |           ^^^^^^^^^^^^^^^^^^^^^^^^^^
    | httpx.ConnectTimeout: upstream
    +------------------------------------
"#;

    const NODE: &str = r"node:internal/modules/cjs/loader:1215
  throw err;
  ^

Error: Cannot find module 'zod'
Require stack:
- /srv/missing/index.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1212:15)
    at Module._load (node:internal/modules/cjs/loader:1043:27) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/srv/missing/index.js' ]
}

Node.js v20.20.2
";

    const RUST: &str = "listening\nthread 'main' (4711) panicked at src/main.rs:7:5:\n\
        no station called Atlantis\n\
        note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";

    const GO: &str = "panic: runtime error: index out of range [5] with length 3\n\n\
        goroutine 1 [running]:\nmain.main()\n\t/srv/main.go:7 +0x1d\nexit status 2\n";

    const JAVA: &str = "Exception in thread \"main\" java.lang.IllegalStateException: no config\n\
        \tat weather.Main.main(Main.java:7)\nCaused by: java.io.IOException: /etc/weather: denied\n\
        \tat weather.Config.read(Config.java:31)\n\t... 1 more\n";

    const NPM: &str = "npm error code E404\nnpm error 404 Not Found - GET https://example.org/no\n\
        npm error 404\nnpm error 404  'no-server@*' is not in this registry.\n\
        npm error A complete log of this run can be found in: /root/.npm/_logs/x.log\n";

    #[test]
    fn of_the_last_words_the_one_that_names_the_fault_is_told() {
        assert_telling(PYTHON, "KeyError: 'API_KEY'");
        assert_telling(GROUP, "    | httpx.ConnectTimeout: upstream");
        assert_telling(RICH, "RuntimeError: no config");
        let typer = "│ No such option: --api-key                    │";
        assert_telling(TYPER, typer);
        assert_telling(NODE, "Error: Cannot find module 'zod'");
        assert_telling(RUST, "no station called Atlantis");
        let place = "   0: rust_begin_unwind\n             at /rustc/src/panicking.rs:689:5\n";
        let traced = format!("{RUST}stack backtrace:\n{}", place.repeat(20));
        assert_telling(&traced, "no station called Atlantis");
        assert_telling(
            "thread 'main' panicked at 'no station', src/main.rs:7:5\nnote: run with RUST_BACKTRACE",
            "thread 'main' panicked at 'no station', src/main.rs:7:5",
        );
        let go = "panic: runtime error: index out of range [5] with length 3";
        assert_telling(GO, go);
        assert_telling(JAVA, "Caused by: java.io.IOException: /etc/weather: denied");
        let npm = "npm error 404 Not Found - GET https://example.org/no";
        assert_telling(NPM, npm);
    }

    #[test]
    fn where_no_language_tells_it_the_last_line_that_names_an_error_is_told_or_the_last() {
        assert_telling(
            "starting\nError: no token\n  in config\nbye\n \n",
            "Error: no token",
        );
        assert_telling("starting\nbye\n \n", "bye");
        assert_telling("", "");
        assert_telling("panic: not of Go\nbye", "panic: not of Go");
        // A second exception on the way out of the first.
        let chained = PYTHON.to_owned()
            + "\nDuring handling of the above exception, another exception occurred:\n\n"
            + &PYTHON.replace("KeyError: 'API_KEY'", "weather.NoKey: set one");
        assert_telling(&chained, "weather.NoKey: set one");
    }

    #[test]
    fn lines_stand_in_the_order_in_which_they_were_written() {
        let around = |lines: &str, count| {
            let facts = facts(lines);
            let words = LastWords::of(&facts, None);
            let around = words.around(count).iter();
            around.map(|line| text(line)).collect::<Vec<_>>()
        };
        assert_eq!(
            around(PYTHON, 3),
            [
                "    os.environ[\"API_KEY\"]",
                "  File \"<frozen os>\", line 679, in __getitem__",
                "KeyError: 'API_KEY'",
            ]
        );
        let node = around(NODE, 3);
        assert_eq!(node[0], "Error: Cannot find module 'zod'");
        assert_eq!(node[2], "- /srv/missing/index.js");
        let rust = around(&format!("{RUST}one\ntwo\nthree\nfour\n"), 3);
        assert!(rust[0].starts_with("no station"));
        assert_eq!(around("one\n\ntwo", 4), ["one", "two"]);
        assert!(around("", 4).is_empty());
    }
}
