//! A redacted recording is the recording that it was made of, but for what was secret.

use crate::redact::redact_made::{self, redacted, stdout};
use crate::support::{Library, text};
use mcpreel_store::annotate::{set_mark, set_note};
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::{Seq, StreamId};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("recordings")
        .join(name)
}

/// The rows of a recording without what may differ: bytes, sizes and what is made of them.
fn rows(library: &Library, reel: &Path, what: &[&str]) -> Vec<Value> {
    let path = reel.to_str().unwrap();
    let mut rows = library.json(&[&["show", path][..], what].concat());
    for row in &mut rows {
        let object = row.as_object_mut().unwrap();
        for key in [
            "text",
            "raw",
            "b64",
            "summary",
            "size",
            "request_size",
            "response_size",
            "bytes",
            "detail",
            "redaction",
            "recording",
            "path",
        ] {
            object.remove(key);
        }
    }
    rows
}

#[test]
fn the_samples_have_the_same_exchanges_statuses_and_latencies() {
    for name in [
        "well-behaved.reel",
        "modern.reel",
        "crash.reel",
        "noisy-stdout.reel",
    ] {
        let library = Library::new();
        let copy = redacted(&library, &sample(name));
        for what in [&[][..], &["--frames"], &["--events"]] {
            let (before, mut after) = (
                rows(&library, &sample(name), what),
                rows(&library, &copy, what),
            );
            // What it was made of is the only thing that it says more.
            if let Some(start) = after.first_mut().filter(|row| row["kind"] == "start")
                && let Some(start) = start.as_object_mut()
            {
                assert!(start.remove("parent").is_some(), "{name}");
            }
            assert_eq!(before.len(), after.len(), "{name} {what:?}");
            if !what.is_empty() {
                assert_eq!(before, after, "{name} {what:?}");
            }
        }
    }
}

/// A session with an id, a token of progress and an argument that are all secret.
const SESSION: [(StreamId, &str); 6] = [
    (
        StreamId::C2S,
        r#"{"jsonrpc":"2.0","id":"s3cr3t-value-1","method":"tools/call","params":{"name":"login","arguments":{"password":"s3cr3t-value-1","pin":1234},"_meta":{"progressToken":1234}}}"#,
    ),
    (
        StreamId::S2C,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1234,"progress":1}}"#,
    ),
    (
        StreamId::C2S,
        r#"{"jsonrpc":"2.0","id":1234,"method":"ping"}"#,
    ),
    (StreamId::S2C, r#"{"jsonrpc":"2.0","id":1234,"result":{}}"#),
    (
        StreamId::S2C,
        r#"{"jsonrpc":"2.0","id":"s3cr3t-value-1","result":{"content":[{"type":"text","text":"welcome s3cr3t-value-1"}]}}"#,
    ),
    (StreamId::STDERR, "login with s3cr3t-value-1"),
];

#[test]
fn pairing_survives_where_ids_are_secret() {
    let library = Library::new();
    let reel = redact_made::frames(library.path(), &SESSION);
    let copy = redacted(&library, &reel);
    let exchanges = |path: &Path| {
        let recording = Recording::open(path).unwrap();
        let ids = [1, 3].map(|seq| recording.exchanges_of_frame(Seq(seq)).unwrap().remove(0));
        ids.map(|one| {
            (
                one.status,
                one.response,
                one.t_request,
                one.t_response,
                one.progress_count,
            )
        })
    };
    let (before, after) = (exchanges(&reel), exchanges(&copy));
    assert_eq!(before, after);
    assert!(after.iter().all(|(_, response, ..)| response.is_some()));
    assert_eq!(after[0].4, 1, "progress is paired as well");
    let raw = Recording::open(&copy).unwrap().raw(Seq(1)).unwrap();
    assert_eq!(
        String::from_utf8(raw).unwrap(),
        concat!(
            r#"{"jsonrpc":"2.0","id":"‹secret:1›","method":"tools/call","params":{"name":"login","#,
            r#""arguments":{"password":"‹secret:1›","pin":"‹secret:2›"},"_meta":{"progressToken":1234}}}"#,
            "\n"
        )
    );
}

#[test]
fn marks_notes_and_what_it_is_come_with_it_and_it_says_that_it_is_redacted() {
    let library = Library::new();
    let reel = redact_made::frames(library.path(), &SESSION);
    set_note(&reel, None, Some("broken since s3cr3t-value-1")).unwrap();
    set_note(&reel, Some(Seq(2)), Some("look: s3cr3t-value-1")).unwrap();
    set_mark(&reel, Seq(3), Some("odd")).unwrap();
    let copy = redacted(&library, &reel);
    let (before, after) = [&reel, &copy]
        .map(|path| Recording::open(path).unwrap())
        .into();
    let notes: Vec<_> = after.annotations(Seq(0)).unwrap();
    let shown: Vec<_> = notes
        .iter()
        .map(|(seq, note)| (seq.0, note.note.as_deref(), note.mark.as_deref()))
        .collect();
    assert_eq!(
        shown,
        [(2, Some("look: ‹secret:1›"), None), (3, None, Some("odd"))]
    );
    let (before, after) = (before.summary().unwrap(), after.summary().unwrap());
    assert_eq!(after.note.as_deref(), Some("broken since ‹secret:1›"));
    assert_eq!((&before.name, &before.origin), (&after.name, &after.origin));
    // Once it had the id of the original, and who asked for that by its id may have got the other.
    assert_ne!(before.id, after.id);
    assert_eq!(after.context.parent.as_deref(), Some(&*before.id));
    assert_eq!(after.context.recording, after.id);
    for id in [&before.id, &after.id] {
        assert!(stdout(&library, &["show", id]).contains(&**id));
    }
    std::fs::remove_file(&copy).unwrap();
    let twice = redacted(&library, &reel);
    let twice = Recording::open(&twice).unwrap().summary().unwrap();
    assert_eq!(twice.id, after.id, "what is the same is called the same");
    assert_eq!(
        (before.wall_ns, before.t_last_ns),
        (after.wall_ns, after.t_last_ns)
    );
    assert_eq!(
        (before.redaction, after.redaction.as_deref()),
        (None, Some(r#"{"rules":2,"hits":8}"#))
    );
    let listed = library.json(&["ls"]);
    let redactions: Vec<_> = listed.iter().map(|row| &row["redaction"]).collect();
    assert!(
        redactions.iter().any(|note| note["hits"] == 8)
            && redactions.iter().any(|note| note.is_null())
    );
    let shown = stdout(&library, &["show", copy.to_str().unwrap()]);
    assert!(shown.contains("redacted"), "{shown}");
}

#[test]
fn the_report_says_where_and_by_which_rule_and_what_it_cannot_promise() {
    let library = Library::new();
    let reel = redact_made::frames(library.path(), &SESSION);
    let reel = reel.to_str().unwrap();
    let said = stdout(&library, &["redact", reel]);
    assert!(
        said.starts_with("2 values to be replaced in 6 places, by 2 rules\n"),
        "{said}"
    );
    assert!(said.contains("params.arguments.password") && said.contains("key-name"));
    assert!(
        said.contains("Not a guarantee: read it before you share it")
            && !said.contains("s3cr3t-value-1")
    );
    let report: Value =
        serde_json::from_str(&stdout(&library, &["redact", "--json", reel])).unwrap();
    assert_eq!(report["hits"], 6);
    assert_eq!(report["places"][0]["place"], "#1");
    assert!(
        report["limits"]
            .as_str()
            .unwrap()
            .contains("cannot promise")
    );
}

/// It once was advised to users who had given it.
#[test]
fn an_option_that_was_given_is_not_advised() {
    let library = Library::new();
    let homes = [(StreamId::STDERR, "in /home/ada/x, of ada@lovelace.net")];
    let reel = redact_made::frames(library.path(), &homes);
    let said = |options: &[&str]| {
        stdout(
            &library,
            &[&["redact", reel.to_str().unwrap()], options].concat(),
        )
    };
    let advised = ["--email replaces them", "--home replaces them"];
    assert!(advised.iter().all(|one| said(&[]).contains(one)));
    let given = said(&["--email", "--home"]);
    assert!(!given.contains("replaces them"), "{given}");
}

#[test]
fn what_the_configuration_says_is_secret_is() {
    let library = Library::new();
    let session = [(
        StreamId::C2S,
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"q":{"x":["one","two"]},"licence":"L-1","t":"TICKET-123456 ada@lovelace.org","password":"fine"}}"#,
    )];
    let reel = redact_made::frames(library.path(), &session);
    let home = library.path();
    std::fs::create_dir_all(home.join(".config/mcpreel")).unwrap();
    let config = "[redact]\nemail = true\nnames = ['licence']\npaths = ['params.q']\nallow = ['fine']\n[redact.patterns]\nticket = 'TICKET-([0-9]{6})'\n";
    std::fs::write(home.join(".config/mcpreel/config.toml"), config).unwrap();
    let mut command = library.mcpreel("export");
    let output = command.arg(&reel).env("HOME", home).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let lines = String::from_utf8(output.stdout).unwrap();
    let expected = concat!(
        r#""params":{"q":{"x":["‹secret:1›","‹secret:2›"]},"licence":"‹secret:3›","#,
        r#""t":"TICKET-‹secret:4› ‹email:5›","password":"fine"}"#
    );
    assert!(lines.contains(expected), "{lines}");
}

#[test]
fn a_frame_that_is_too_long_is_left_out_and_counted() {
    let library = Library::new();
    let long = format!("{{\"x\":\"{}\"}}", "y".repeat(65 << 20));
    let session = [
        (StreamId::C2S, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
        (StreamId::S2C, &*long),
        (StreamId::S2C, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
    ];
    let reel = redact_made::frames(library.path(), &session);
    let copy = redacted(&library, &reel);
    let recording = Recording::open(&copy).unwrap();
    let line = String::from_utf8(recording.raw(Seq(2)).unwrap()).unwrap();
    assert!(line.contains("left out"), "{line}");
    assert_eq!(recording.exchanges_of_frame(Seq(3)).unwrap().len(), 1);
    let said = stdout(&library, &["redact", reel.to_str().unwrap()]);
    let counted = "1 frame too long to be looked through and left out";
    assert!(said.contains(counted), "{said}");
}

/// Once nobody was told what a rule that was switched off let through.
#[test]
fn a_rule_that_is_switched_off_is_named() {
    let library = Library::new();
    let token = "ghp_016C7e4fK2mQ9xZ3vB8nL5tR1wYdHsJaPcUo";
    let cassette = library.path().join("a.jsonl");
    let line = |n: u8| {
        let said = format!("{{\"n\":{n},\"t\":{n},\"d\":\"stderr\",\"k\":\"text\"");
        format!("{said},\"text\":\"with {token} to {n}\\n\"}}\n")
    };
    let header = "{\"cassette\":1,\"tool\":\"t\",\"transport\":\"stdio\",\"command\":[\"x\"]}\n";
    let said = format!("{header}{}{}", line(1), line(2));
    std::fs::write(&cassette, said).expect("it can be written");
    let cassette = cassette.to_str().expect("the path is text");
    let report = library.path().join("report").display().to_string();
    let told = "github-token is switched off: what it finds is left";
    let off = ["--without", "github-token"];
    for command in [
        &["redact", cassette][..],
        &["export", cassette, "-o", &format!("{report}.jsonl")],
        &[
            "export",
            cassette,
            "--format",
            "markdown",
            "-o",
            &format!("{report}.md"),
        ],
        &["report", cassette, "-o", &report],
    ] {
        let mut program = library.mcpreel(command[0]);
        let output = program.args(&command[1..]).args(off).output();
        let output = output.expect("mcpreel starts");
        let said = text(&output);
        assert!(
            output.status.success() && said.contains(told),
            "{command:?}: {said}"
        );
        assert!(!said.contains(token), "{said}");
    }
    let kept = std::fs::read_to_string(format!("{report}/redaction.txt")).expect("it is there");
    assert!(kept.contains(told) && !kept.contains(token), "{kept}");
    let json = library.json(&["redact", cassette, "--without", "github-token"]);
    assert_eq!(json[0]["switched_off"], serde_json::json!(["github-token"]));
    let json = library.json(&["redact", cassette]);
    assert_eq!(json[0]["switched_off"], serde_json::json!([]));
}
