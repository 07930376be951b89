//! The recording of the session with the mock.

use crate::mock::{CALLS, hears, mock, record};
use crate::support::Library;
use serde_json::{Value, json};

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
    let told = exchanges.iter().map(|it| [&it["status"], &it["code"]]);
    let told: Vec<_> = told.collect();
    assert_eq!(
        told,
        [
            [&json!("ok"), &Value::Null],
            [&json!("error"), &json!(-32000)]
        ]
    );
    assert_eq!(library.events("exit")[0]["code"], 0);
    let ends = library.events("eof");
    let ends = ends.iter().map(|it| [&it["stream"], &it["by"]]);
    let ends: Vec<_> = ends.collect();
    assert_eq!(ends, [["c2s", "writer"], ["s2c", "writer"]]);
    // The mock of a mock has the name of the server.
    hears(&mut mock(&library, "@".as_ref(), &[]), &[FIRST]);
    assert_eq!(library.json(&["ls"])[0]["name"], "told-mock");
}
