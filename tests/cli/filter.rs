//! Which rows are meant: `-q`, and `search`.

use super::{demo, refusal, stdout};
use crate::support::Library;
use serde_json::Value;

fn statuses(rows: &[Value]) -> Vec<&str> {
    let statuses = rows.iter().map(|row| row["status"].as_str());
    statuses
        .map(|status| status.expect("it is an exchange"))
        .collect()
}

#[test]
fn show_gives_the_rows_that_fit_and_says_of_how_many() {
    let library = demo();
    let failed = library.json(&["show", "@", "-q", "is:failed"]);
    let mut expected = library.json(&["show", "@", "--exchanges"]);
    expected.retain(|row| {
        let status = row["status"].as_str();
        let none = [
            "ok",
            "open",
            "task",
            "input-required",
            "listening",
            "user-cancelled",
        ];
        status.is_some_and(|status| !none.contains(&status))
    });
    assert!(!expected.is_empty());
    assert_eq!(statuses(&failed), statuses(&expected));
    assert!(failed.iter().all(|row| row["type"] == "exchange"));

    let lines = stdout(&library, &["show", "@", "-q", "is:failed"]);
    let last = lines.lines().last().expect("there is a line");
    assert!(
        last.starts_with(&format!("{} of ", expected.len())),
        "{last}"
    );
    assert_eq!(lines.lines().count(), expected.len() + 2, "{lines}");
}

#[test]
fn tail_shows_only_what_fits() {
    let library = demo();
    let rows = library.json(&["tail", "@", "-q", "kind:stderr OR status:error"]);
    let kinds: Vec<_> = rows.iter().map(|row| row["type"].as_str()).collect();
    assert!(
        kinds.contains(&Some("stderr")) && kinds.contains(&Some("exchange")),
        "{kinds:?}"
    );
    // A filter may begin with a denial, which looks like an option.
    let quiet = library.json(&["tail", "@", "-q", "-kind:stderr"]);
    assert!(quiet.iter().all(|row| row["type"] != "stderr"));
    let other = |row: &&Value| row["type"] != "stderr" && row["status"] != "error";
    assert_eq!(rows.iter().find(other), None);
}

#[test]
fn ls_lists_the_recordings_with_such_a_row() {
    let library = demo();
    let quiet = library.run_sh("exec 2>&-; cat >/dev/null").output();
    assert!(quiet.expect("the recorder starts").status.success());
    assert_eq!(library.json(&["ls"]).len(), 2);
    let listed = library.json(&["ls", "-q", "tool:get_forecast"]);
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["name"], "weather-server");
    let none = stdout(&library, &["ls", "-q", "tool:no_such_tool"]);
    assert_eq!(none, "none of 2 recordings matches\n");
}

#[test]
fn what_is_no_filter_is_refused_with_its_place_and_the_nearest_name() {
    let library = Library::new();
    for command in ["show", "tail", "stats", "ls"] {
        let (code, said) = refusal(&library, &[command, "-q", "is:open metod:x"]);
        assert_eq!(code, Some(2), "{command}");
        assert!(said.starts_with("mcpreel: -q, column 9: "), "{said}");
        assert!(said.contains("`method`"), "{said}");
        assert!(
            said.ends_with("\n  is:open metod:x\n          ^^^^^\n"),
            "{said}"
        );
    }
    let (code, said) = refusal(&library, &["show", "-q", "a\u{1b}[31m:b"]);
    assert_eq!(code, Some(2));
    assert!(!said.contains('\u{1b}'), "{said}");
}

#[test]
fn a_text_is_found_in_all_recordings_with_its_place() {
    let library = demo();
    let hits = library.json(&["search", "atlantis"]);
    assert!(hits.len() >= 2, "{hits:?}");
    let id = &library.json(&["ls"])[0]["id"];
    for hit in &hits {
        assert_eq!(&hit["id"], id);
        let context = hit["context"].as_str().expect("it is text");
        assert!(context.to_lowercase().contains("atlantis"), "{context}");
    }
    let seqs: Vec<_> = hits.iter().map(|hit| hit["seq"].as_u64()).collect();
    assert!(
        seqs.is_sorted_by(|a, b| a > b),
        "the newest first: {seqs:?}"
    );
    // The command of a server was once found nowhere.
    let command = library.json(&["search", "demo-server"]);
    assert_eq!(command[0]["stream"], "command", "{command:?}");
    assert!(stdout(&library, &["search", "demo-server"]).contains("command line"));
    let text = stdout(&library, &["search", "atlantis"]);
    let lines: Vec<_> = text.lines().collect();
    let [heading, rows @ .., total] = &lines[..] else {
        panic!("{text}");
    };
    assert_eq!(rows.len(), hits.len());
    assert!(rows.iter().all(|row| row.starts_with("  #")), "{text}");
    assert_eq!(*total, format!("{} hits in 1 recording", hits.len()));
    let short = id
        .as_str()
        .expect("it is text")
        .get(..4)
        .expect("it is longer");
    let name = format!("{short}  weather-server, ");
    assert!(heading.starts_with(&name), "{text}");
    let regex = library.json(&["search", "--regex", "atlan[t]is", "weather-server"]);
    assert_eq!(regex, hits);
    // A capital letter means itself.
    let capital = library.json(&["search", "Atlantis"]);
    assert!(!capital.is_empty() && capital.len() < hits.len());
}
