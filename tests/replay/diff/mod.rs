//! Comparisons of recordings, as the real program makes them.
//!
//! * [`cases`]: how bad each kind of difference is, and what is no difference: `cases/*.toml`;
//! * [`surface`]: tools, prompts and resources: what is gone, what is new, what takes less;
//! * [`bound`]: values that the server chose anew, by rules;
//! * [`which`]: which recordings and exchanges are compared, by which rules;
//! * [`exits`]: how the command ends;
//! * [`forms`]: for people, for programs, for test reports, as annotations;
//! * [`hostile`]: whatever a stranger's recording says, it is shown as text and within bounds.

mod bound;
mod exits;
mod forms;
mod hostile;
mod made;
mod surface;
mod told_comparisons;
mod which;

use crate::support::Library;
use made::Story;
use serde_json::Value;
use std::process::{Output, Stdio};

/// Ids of the two recordings that are compared.
const LEFT: u32 = 0x7f3a_0001;
const RIGHT: u32 = 0xc04d_0002;

/// `mcpreel diff ARGS…`, without a terminal.
fn diff(library: &Library, args: &[&str]) -> Output {
    let mut command = library.mcpreel("diff");
    command.args(args).stdin(Stdio::null());
    command.output().expect("mcpreel starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it ends by itself")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("it is UTF-8")
}

/// Two recordings in a folder of their own.
fn recorded(left: &Story, right: &Story) -> Library {
    let library = Library::new();
    left.record(&library, LEFT);
    right.record(&library, RIGHT);
    library
}

/// What came of comparing two stories.
struct Compared {
    code: i32,
    /// The objects of `--json`, the summary first.
    rows: Vec<Value>,
}

impl Compared {
    /// `CLASS WHERE NOTE`, one for each thing that is said and no noise.
    fn said(&self) -> Vec<String> {
        let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let line = |row: &Value| {
            let whole = [
                text(row, "class"),
                match text(row, "kind").as_str() {
                    "offer" => format!("{} {}", text(row, "list"), text(row, "name")),
                    "exchange" => format!("{} {}", text(row, "method"), text(row, "outcome")),
                    _ => text(row, "path"),
                },
                text(row, "note"),
            ];
            whole.join(" ").trim_end().to_owned()
        };
        let rows = self.rows.iter();
        let said = rows.filter(|row| row["class"].is_string() && row["class"] != "noise");
        said.map(line).collect()
    }

    fn summary(&self) -> &Value {
        &self.rows[0]
    }

    fn count(&self, class: &str) -> u64 {
        self.summary()["counts"][class].as_u64().expect("a number")
    }
}

/// Compares the two recordings of a folder.
fn compare(library: &Library, args: &[&str]) -> Compared {
    let output = diff(library, &[&["7f3a", "c04d", "--json"], args].concat());
    let lines = text(&output.stdout);
    let rows = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")));
    let rows: Vec<Value> = rows.collect();
    assert!(
        rows.first().is_some_and(|row| row["kind"] == "summary"),
        "{}",
        crate::support::text(&output)
    );
    Compared {
        code: code(&output),
        rows,
    }
}

/// Compares two stories.
fn compared(left: &Story, right: &Story, args: &[&str]) -> Compared {
    compare(&recorded(left, right), args)
}
