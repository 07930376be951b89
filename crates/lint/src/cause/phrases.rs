//! Phrases that several causes need, and which line of stderr says most. Text off the wire is escaped
//! in all of them.

use super::facts::{Facts, Found, Group, Line};
use super::{Evidence, Place, named};
use crate::quote;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Closer, Event, EventKind, ProcessName};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, duration, escape, escape_bytes, plural};

/// Requests that a sentence names.
const NAMED: usize = 3;

const NAME: usize = 40;

/// Columns of what the recorder noted: it ends with the way out.
const NOTED: usize = 400;

/// Columns of a line that is no message: those of stderr say most at their beginning.
const SAID: usize = 160;

/// The tool, prompt or resource, else the method, escaped and cut.
pub fn call(exchange: &Exchange) -> String {
    let name = exchange.name.as_deref().unwrap_or(&exchange.method);
    cut(&escape(name), NAME)
}

pub fn call_at(exchange: &Exchange) -> String {
    format!("{} (#{})", call(exchange), exchange.request.0.0)
}

/// `search_docs (#83), get_forecast (#85), …`: the first three.
pub fn calls<'e>(exchanges: impl IntoIterator<Item = &'e Exchange>) -> String {
    let mut calls: Vec<_> = exchanges.into_iter().map(call_at).collect();
    if calls.len() > NAMED {
        calls.truncate(NAMED);
        calls.push("…".to_owned());
    }
    calls.join(", ")
}

pub fn places(requests: &[Seq]) -> String {
    let mut places: Vec<_> = requests
        .iter()
        .take(NAMED)
        .map(|seq| format!("#{}", seq.0))
        .collect();
    if requests.len() > NAMED {
        places.push("…".to_owned());
    }
    places.join(", ")
}

pub fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => plural(count, "time"),
    }
}

/// How often a rule found something: `once`, `twice`, `1000 times or more`.
pub fn times_found(group: &Group) -> String {
    format!("{}{}", times(group.count), or_more(group))
}

/// ` or more` where not all findings were counted.
pub fn or_more(group: &Group) -> &'static str {
    if group.is_all { "" } else { " or more" }
}

/// What was answered, in one line.
pub fn answer(exchange: &Exchange) -> Option<String> {
    exchange
        .answered()
        .map(|answer| escape(answer).into_owned())
}

/// `ended with exit code 3`, `was ended by SIGSEGV`.
pub fn ended(end: &End) -> String {
    match end {
        End::Exited { code } => format!("ended with exit code {code}"),
        End::Killed { signal } => format!("was ended by {}", quote::text(signal)),
        End::NotStarted { .. } => "was not started".to_owned(),
        End::Unknown => "ended (how is not on record)".to_owned(),
    }
}

/// `; stderr says: …` of the line that says most, if there is one. Who ends with 0 need not have
/// said why: then only a fault is worth telling.
pub fn stderr_says(facts: &Facts) -> String {
    let words = LastWords::of(facts);
    let is_well = facts.end() == Some(&End::Exited { code: 0 }) && facts.first_said.is_some();
    let telling = if is_well {
        words.fault()
    } else {
        words.telling()
    };
    let said = |line: &Line| {
        let text = escape_bytes(unframed(line.text()).trim_ascii());
        format!("; stderr says: {}", cut(&text, SAID))
    };
    telling.map_or_else(String::new, said)
}

pub fn host(host: &ProcessName) -> String {
    match host.name.as_str() {
        "" => "the host".to_owned(),
        name => quote::text(name),
    }
}

/// A stream as the server calls it.
pub fn stream(stream: StreamId) -> &'static str {
    match stream {
        StreamId::STDERR => "stderr",
        StreamId::S2C => "stdout",
        _ => "stdin",
    }
}

pub fn writer(stream: StreamId) -> &'static str {
    match stream {
        StreamId::C2S => "the host",
        _ => "the server",
    }
}

pub fn request(exchange: &Exchange) -> Evidence {
    let way = match exchange.direction {
        Direction::ClientToServer => "the client asked",
        Direction::ServerToClient => "the server asked",
    };
    let text = format!("{way}: {}", escape(exchange.asked()));
    Evidence::new(Place::Frame(exchange.request.0), text)
}

pub fn response(exchange: &Exchange) -> Option<Evidence> {
    let (seq, _) = exchange.response?;
    let took = exchange.latency_ns();
    let took = took.map_or_else(String::new, |ns| format!(" after {}", duration(ns)));
    let answer = answer(exchange).map_or_else(String::new, |answer| format!(": {answer}"));
    let text = format!("answered{took}{answer}");
    Some(Evidence::new(Place::Frame(seq), text))
}

/// So many of the last lines of stderr as evidence, in the order in which they were written; the
/// one that says most is among them.
pub fn stderr(facts: &Facts, count: usize) -> Vec<Evidence> {
    let words = LastWords::of(facts);
    words.around(count).iter().map(|one| line(one)).collect()
}

pub fn has_last_words(facts: &Facts) -> bool {
    LastWords::of(facts).telling().is_some()
}

/// What the recorder noted, a sentence or two.
pub fn noted(text: &str) -> String {
    cut(&escape(text), NOTED)
}

pub fn said(line: &Line) -> String {
    cut(&escape_bytes(line.bytes.trim_ascii()), SAID)
}

pub fn line(line: &Line) -> Evidence {
    let place = match line.stream {
        StreamId::STDERR => Place::Stderr(line.seq),
        _ => Place::Frame(line.seq),
    };
    Evidence::new(place, format!("{}: {}", stream(line.stream), said(line)))
}

pub fn event(event: &Event, text: impl Into<String>) -> Evidence {
    let (after, t) = (event.after_seq, event.t);
    Evidence::new(Place::Event { after, t }, text)
}

/// How the session ended, as evidence.
pub fn end_of(facts: &Facts) -> Vec<Evidence> {
    let is_end =
        |kind: &EventKind| matches!(kind, EventKind::Exit { .. } | EventKind::SpawnFailed { .. });
    let Some(end) = facts.end() else {
        return Vec::new();
    };
    let text = format!("the server {}", ended(end));
    let events = facts.events_that(is_end);
    events.map(|one| event(one, text.clone())).collect()
}

/// The host closing one of its sides, as evidence.
pub fn leaving(facts: &Facts) -> Option<Evidence> {
    let left = facts.host_left()?;
    let by_host = |kind: &EventKind| {
        matches!(
            kind,
            EventKind::Eof {
                stream: StreamId::C2S,
                by: Closer::Writer
            } | EventKind::Eof {
                stream: StreamId::S2C,
                by: Closer::Reader
            }
        )
    };
    let closing = facts.events_that(by_host).find(|event| event.t == left)?;
    Some(event(closing, "the host closed its side"))
}

/// The first findings of a rule as evidence.
pub fn findings(group: &Group) -> impl Iterator<Item = Evidence> {
    group.first.iter().map(|found| finding(&group.rule, found))
}

/// An answer that has nearly the id of a request.
pub struct OtherId {
    /// `; what came is an answer with id "7" in place of 7 (#12)`
    pub said: String,
    pub advice: &'static str,
    pub evidence: Evidence,
}

/// The answer to a request that nobody could take for it, as its id has another JSON type.
pub fn other_id(facts: &Facts, call: &Exchange) -> Option<OtherId> {
    let group = facts.found(named::RESPONSE_ID_TYPE_CHANGED)?;
    let found = group
        .first
        .iter()
        .find(|found| found.exchange == Some(call.id))?;
    let place = found
        .frame
        .map_or_else(String::new, |seq| format!(" (#{})", seq.0));
    let id = quote::text(call.rpc_id.json());
    Some(OtherId {
        said: format!(
            "; what came is an answer with {} in place of {id}{place}",
            found.detail
        ),
        advice: "Let the server send back the id of a request as it came: a number stays a number, \
                 a text a text.",
        evidence: finding(&group.rule, found),
    })
}

pub fn finding(rule: &str, found: &Found) -> Evidence {
    let path = found.path.as_deref();
    let path = path.map_or_else(String::new, |path| format!(" at {}", quote::text(path)));
    let place = found.frame.map_or(Place::Session, Place::Frame);
    let text = format!("{}{path}: {}", quote::text(rule), found.detail);
    Evidence::new(place, text)
}

// The last words of a server: which line of its stderr says most, and those around it.
//
// Where a language tells a fault in several lines, the one that names it stands elsewhere in each:
//
// | | what names the fault |
// |---|---|
// | Python | the first line behind the places of the last traceback; of a group, the innermost |
// | Node, Java, .NET | above the places of the last stack, which begin with `at` |
// | Rust | behind the line that says where it panicked |
// | Go | the line that begins with `panic:`, above all its goroutines |
// | npm | the one of its many lines that is no field |
//
// Else it is the last line that names an error, else the last one. A line that begins as fatal
// counts more than what was told above it.

/// Lines of stderr that are no further apart belong together, nanoseconds.
const TOGETHER_NS: u64 = 5_000_000_000;

/// What was said longer before the end has nothing to do with it, nanoseconds.
const LONG_BEFORE_NS: u64 = 10_000_000_000;

/// Lines above a stack in which its message is looked for: some messages have several.
const ABOVE: usize = 12;

/// Words in lines that say what went wrong.
const ERRORS: [&str; 15] = [
    "error",
    "exception",
    "panic",
    "fatal",
    "cannot",
    "could not",
    "unable to",
    "not found",
    "no such",
    "not set",
    "denied",
    "refused",
    "failed",
    "invalid",
    "missing",
];

/// Fields that npm tells one by one around the sentence that says what is wrong.
const NPM_FIELDS: [&str; 12] = [
    "code",
    "errno",
    "syscall",
    "path",
    "dest",
    "cwd",
    "command",
    "signal",
    "file",
    "spawnargs",
    "a complete log",
    "workspace",
];

/// The last words of a server: lines that were said together, in their order, without those that
/// hold nothing but a frame or an underline.
#[derive(Debug)]
pub(super) struct LastWords<'f> {
    lines: Vec<&'f Line>,
    telling: Option<usize>,
    /// Whether that line names a fault.
    is_fault: bool,
    /// Lines before it that belong to it: where a program in Rust panicked.
    lead: usize,
}

impl<'f> LastWords<'f> {
    /// Those of a session; none if they were said long before its end.
    pub(super) fn of(facts: &'f Facts) -> Self {
        let last = facts.last_words.last().map_or(Moment(0), |line| line.t);
        let is_old = facts.end().is_some() && facts.since(last) > LONG_BEFORE_NS;
        let together = |line: &&Line| !is_old && last.0 - line.t.0.min(last.0) <= TOGETHER_NS;
        let lines: Vec<_> = facts.last_words.iter().filter(together).collect();
        let lines: Vec<_> = lines
            .into_iter()
            .filter(|line| says_something(line))
            .collect();
        let texts: Vec<_> = lines.iter().map(|line| Words::new(line)).collect();
        let fault = fault(&texts);
        Self {
            lead: usize::from(fault.is_some() && fault == rust(&texts)),
            is_fault: fault.is_some(),
            telling: fault.or_else(|| lines.len().checked_sub(1)),
            lines,
        }
    }

    pub(super) fn telling(&self) -> Option<&'f Line> {
        self.lines.get(self.telling?).copied()
    }

    /// The line that says most, if it names a fault.
    pub(super) fn fault(&self) -> Option<&'f Line> {
        self.telling().filter(|_| self.is_fault)
    }

    /// So many lines in the order in which they were written: the one that says most with what
    /// was said up to the end, as far as there is room, else with what comes behind it.
    pub(super) fn around(&self, count: usize) -> &[&'f Line] {
        let last = self.lines.len().saturating_sub(count);
        let telling = self.telling.map(|at| at.saturating_sub(self.lead));
        let first = telling.map_or(last, |telling| telling.min(last));
        let end = self.lines.len().min(first + count);
        &self.lines[first..end]
    }
}

/// A line without the frame that groups of exceptions have around theirs.
pub(super) fn unframed(line: &[u8]) -> &[u8] {
    let bare = line.trim_ascii_start();
    match bare.strip_prefix(b"|").or_else(|| bare.strip_prefix(b"+")) {
        Some(inside) => inside.strip_prefix(b" ").unwrap_or(inside),
        None => line,
    }
}

/// Such a line as text, and in lower case.
struct Words {
    text: String,
    lower: String,
}

impl Words {
    fn new(line: &Line) -> Self {
        let text = String::from_utf8_lossy(unframed(line.text())).into_owned();
        Self {
            lower: text.to_lowercase(),
            text,
        }
    }

    /// Lines that begin with white space are places of a stack, or go on with the line above.
    fn is_indented(&self) -> bool {
        self.text.starts_with(char::is_whitespace)
    }

    fn names_error(&self) -> bool {
        !self.is_indented() && ERRORS.iter().any(|word| self.lower.contains(word))
    }

    fn names_exception(&self) -> bool {
        let words = ["error", "exception", "caused by"];
        !self.is_indented() && words.iter().any(|word| self.lower.contains(word))
    }

    fn begins(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.lower.starts_with(word))
    }

    /// A place in a stack of Node, Java or .NET.
    fn is_place(&self) -> bool {
        self.is_indented() && self.text.trim_start().starts_with("at ")
    }

    /// What npm says in this line, if it is npm's.
    fn of_npm(&self) -> Option<&str> {
        let said = ["npm error", "npm err!"];
        let said = said.iter().find_map(|it| self.lower.strip_prefix(it))?;
        Some(said.trim_start())
    }
}

/// Whether it holds more than frames and underlines.
fn says_something(line: &Line) -> bool {
    line.text()
        .iter()
        .any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

/// Which of the lines names a fault.
fn fault(lines: &[Words]) -> Option<usize> {
    // What a panic in Rust tells of its stack looks like that of other languages.
    let rust = rust(lines);
    let stack = stack(lines).filter(|_| rust.is_none());
    let told = [python(lines), stack, rust, go(lines)];
    let told = told.into_iter().flatten().max();
    let is_fatal = |at: &usize| lines[*at].begins(&["fatal", "critical"]);
    let fatal = (0..lines.len()).rev().find(is_fatal);
    let told = told.max(fatal.filter(|_| told.is_some()));
    let named = || (0..lines.len()).rev().find(|at| lines[*at].names_error());
    told.or_else(|| npm(lines)).or_else(named)
}

fn python(lines: &[Words]) -> Option<usize> {
    let traceback = |line: &Words| line.text.contains("Traceback (most recent call last)");
    let begins = lines.iter().rposition(traceback)?;
    let is_end = |at: &usize| !lines[*at].is_indented();
    (begins + 1..lines.len()).find(is_end)
}

fn stack(lines: &[Words]) -> Option<usize> {
    let last = lines.iter().rposition(Words::is_place)?;
    let above = lines[..last].iter().rposition(|line| !line.is_place())?;
    let near = || (above.saturating_sub(ABOVE)..=above).rev();
    let is_exception = |at: &usize| lines[*at].names_exception();
    let names = near().find(is_exception);
    names
        .or_else(|| near().find(|at| lines[*at].names_error()))
        .or(Some(above))
}

fn rust(lines: &[Words]) -> Option<usize> {
    let panicked = |line: &Words| line.begins(&["thread "]) && line.text.contains(" panicked at ");
    let at = lines.iter().rposition(panicked)?;
    // Older ones said it all in one line.
    let goes_on = lines[at].text.ends_with(':') && at + 1 < lines.len();
    Some(at + usize::from(goes_on))
}

fn go(lines: &[Words]) -> Option<usize> {
    let panicked = |line: &Words| line.begins(&["panic: ", "fatal error: "]);
    let is_go = lines.iter().any(|line| line.begins(&["goroutine "]));
    lines.iter().position(panicked).filter(|_| is_go)
}

fn npm(lines: &[Words]) -> Option<usize> {
    let is_sentence = |line: &Words| {
        let said = line.of_npm();
        said.is_some_and(|said| {
            !said.is_empty() && !NPM_FIELDS.iter().any(|field| said.starts_with(field))
        })
    };
    lines.iter().position(is_sentence)
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
        let said = LastWords::of(&facts).telling().map(text);
        assert_eq!(said.unwrap_or_default(), expected);
    }

    const PYTHON: &str = r#"Traceback (most recent call last):
  File "/srv/weather.py", line 15, in <module>
    os.environ["API_KEY"]
    ~~~~~~~~~~^^^^^^^^^^^
  File "<frozen os>", line 679, in __getitem__
KeyError: 'API_KEY'
"#;

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
        // A warning with a stack, and what it died of.
        let both = format!("{PYTHON}shutting down\nFATAL: database is locked\n");
        assert_telling(&both, "FATAL: database is locked");
        assert_telling(
            &format!("{PYTHON}shutting down: error\n"),
            "KeyError: 'API_KEY'",
        );
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
            let words = LastWords::of(&facts);
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
        assert!(rust[0].contains("panicked at") && rust[1].starts_with("no station"));
        assert_eq!(around("one\n\ntwo", 4), ["one", "two"]);
        assert!(around("", 4).is_empty());
    }
}
