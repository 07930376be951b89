//! The recording of the session with the mock.

use crate::mock::{CALLS, hears, mock, record};
use crate::support::Library;
use serde_json::json;

const FIRST: &str = r#"request 10 tools/call {"name":"a","arguments":{"q":1}}"#;
const NEW: &str = r#"request 11 tools/call {"name":"a","arguments":{"q":7}}"#;

#[test]
fn what_the_host_asked_and_got_is_on_record() {
    let library = Library::new();
    let recording = record(library.path(), &CALLS);
    let received = hears(
        &mut mock(&library, &recording, &["--stderr"]),
        &[FIRST, NEW],
    );
    let newest = library.json(&["show", "@"]).swap_remove(0);
    assert_eq!(newest["origin"], "mock");
    assert_eq!(newest["parent"], "7f3a9c21");
    assert_eq!(newest["name"], "told-mock");
    assert_eq!(newest["state"], "complete");
    assert_eq!(library.stream("s2c"), received.out);
    assert_eq!(library.stream("stderr"), received.err);
    let exchanges = library.json(&["show", "@", "--exchanges"]);
    let told: Vec<_> = exchanges
        .iter()
        .map(|it| [&it["status"], &it["code"]])
        .collect();
    assert_eq!(
        told,
        [
            [&json!("ok"), &json!(null)],
            [&json!("error"), &json!(-32000)]
        ]
    );
    assert_eq!(library.events("exit")[0]["code"], 0);
    let ends: Vec<_> = library.events("eof");
    let ends: Vec<_> = ends.iter().map(|it| [&it["stream"], &it["by"]]).collect();
    assert_eq!(
        ends,
        [
            [&json!("c2s"), &json!("writer")],
            [&json!("s2c"), &json!("writer")]
        ]
    );
}

#[test]
fn the_mock_of_a_mock_has_the_name_of_the_server() {
    let library = Library::new();
    let recording = record(library.path(), &CALLS);
    hears(&mut mock(&library, &recording, &[]), &[FIRST]);
    hears(&mut mock(&library, "@".as_ref(), &[]), &[FIRST]);
    let recordings = library.json(&["ls"]);
    let names: Vec<_> = recordings.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["told-mock", "told-mock"]);
}
