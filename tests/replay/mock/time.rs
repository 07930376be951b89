//! Answers that come later: as on record, by so much, or by way of a fault.

use crate::mock::{Row, mock, record, tell};
use crate::support::host_session::Session;
use crate::support::{Library, wait_for};

const ASKED: &str = r#"request 1 tools/call {"name":"a"}"#;

/// An answer that took 80 ms.
const SLOW: [Row<&str>; 2] = [(0, "c2s", ASKED), (80, "s2c", r#"result 1 {"n":1}"#)];

#[test]
fn an_answer_comes_so_much_later() {
    let ms = 1_000_000;
    let cases: [(&[&str], u64); 4] = [
        (&[], 0),
        (&["--latency", "recorded"], 80 * ms),
        (&["--latency", "fixed:50ms"], 50 * ms),
        (&["--fault", "tool:a -> delay 60ms"], 60 * ms),
    ];
    for (options, least) in cases {
        let library = Library::new();
        let recording = record(library.path(), &SLOW);
        let session = Session::start(&mut mock(&library, &recording, options));
        tell(&session, ASKED);
        wait_for("the answer", || {
            session.out.contains(b"\"n\":1").then_some(())
        });
        assert_eq!(session.end().status.code(), Some(0));
        let exchanges = library.json(&["show", "@", "--exchanges"]);
        let latency = exchanges[0]["latency_ns"].as_u64();
        assert!(latency >= Some(least), "{options:?}: {latency:?}");
    }
}
