//! The corpus through the program: in every form in which traffic leaves it.

use crate::redact::corpus::{self, Case, Session};
use crate::redact::redact_made::{frames, ran, record, stdout};
use crate::redact::ways::{PLACES, WAYS, Way};
use crate::support::Library;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpreel_store::annotate::{set_mark, set_note};
use mcpreel_trace::frame::{Seq, StreamId};
use std::path::Path;

/// Those whose files mcpreel reads.
const READ: [&str; 3] = ["redact", "recording", "jsonl"];

/// All cases as one session. What each one knows of the process is put together.
fn together(cases: &[Case]) -> Session {
    let mut session = Session::default();
    for case in cases {
        case.tell(&mut session);
    }
    session
}

/// Puts a mark and a note on the first frame.
fn annotate(reel: &Path, mark: &str, note: &str) {
    set_mark(reel, Seq(1), Some(mark)).unwrap();
    set_note(reel, Some(Seq(1)), Some(note)).unwrap();
}

/// The bytes of the file in which a recording leaves by these words.
fn written(library: &Library, reel: &Path, words: &[&str]) -> (std::path::PathBuf, Vec<u8>) {
    let path = library.path().join(words.join(""));

    if path.is_file() {
        std::fs::remove_file(&path).unwrap();
    }
    let words = [
        words,
        &[reel.to_str().unwrap(), "-o", path.to_str().unwrap()],
    ]
    .concat();
    let output = ran(library, &words);
    assert!(output.status.success(), "{}", crate::support::text(&output));
    let mut bytes = output.stdout;
    bytes.extend(output.stderr);
    if path.is_dir() {
        for file in std::fs::read_dir(&path).unwrap() {
            bytes.extend(std::fs::read(file.unwrap().path()).unwrap());
        }
    } else {
        bytes.extend(std::fs::read(&path).unwrap());
    }
    (path, bytes)
}

/// The same, and all that can be asked about it.
fn left(library: &Library, reel: &Path, way: &Way) -> Vec<u8> {
    let (path, mut bytes) = written(library, reel, way.words);
    if !READ.contains(&way.name) {
        return bytes;
    }
    for asked in [&["show", "--json"][..], &["show", "--frames", "--json"]] {
        let words = [asked, &[path.to_str().unwrap()]].concat();
        bytes.extend(stdout(library, &words).into_bytes());
    }
    bytes
}

fn has(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}

/// A secret as it may stand in bytes: as it is, and as base64 with anything in front.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    for shift in 0..3 {
        let coded = STANDARD.encode([&b"~~"[..shift], secret.as_bytes()].concat());
        let end = coded.trim_end_matches('=').len() - 1;
        let certain = &coded[(shift * 8).div_ceil(6)..end];
        if certain.len() >= 8 {
            forms.push(certain.to_owned());
        }
    }
    forms
}

#[test]
fn no_planted_secret_is_in_any_file_that_leaves() {
    let cases = corpus::all("planted");
    let library = Library::new();
    let reel = record(&together(&cases), library.path());
    let secret = &cases[0].secrets[0];
    annotate(&reel, secret, &format!("it is {secret}"));
    for way in &WAYS {
        let bytes = left(&library, &reel, way);
        let mut found = Vec::new();
        for case in &cases {
            for form in case.secrets.iter().flat_map(|secret| forms(secret)) {
                if has(&bytes, &form) {
                    found.push(format!("{}: {form}", case.name));
                }
            }
        }
        assert!(found.is_empty(), "{}: {}", way.name, found.join("\n"));
    }
}

// Else nothing would be left because nothing of it is there.
#[test]
fn what_is_planted_is_in_the_files_that_leave_raw() {
    let cases = corpus::all("planted");
    let library = Library::new();
    let reel = record(&together(&cases), library.path());
    let coded = cases.iter().find(|case| case.name == "in all codes");
    let coded = &coded.expect("it is there").secrets;
    for (way, words) in WAYS.iter().filter_map(|way| Some((way, way.raw?))) {
        let (name, raw) = (way.name, written(&library, &reel, words).1);
        let is_in = |case: &&Case| case.secrets.iter().any(|secret| has(&raw, secret));
        let there = cases.iter().filter(is_in).count();
        assert!(there >= way.planted, "{name}: only {there} are there raw");
        // A trace for timelines tells of each call in a line.
        let told = match name {
            "perfetto" => &coded[..1],
            _ => &coded[..],
        };
        let lacks: Vec<_> = told.iter().filter(|secret| !has(&raw, secret)).collect();
        assert!(lacks.is_empty(), "{name}: {lacks:?} are not there raw");
    }
}

/// Where nothing that was said is secret, what is derived of it is kept as it stands.
#[test]
fn what_only_the_command_tells_is_in_no_file_that_leaves() {
    let secrets = [
        "ghp_016C7e4fK2mQ9xZ3vB8nL5tR1wYdHsJaPcUo",
        "wandering-heron-42x",
    ];
    let mut session = together(&corpus::all("alike"));
    session.context.argv = ["server", "--token", secrets[0], "--password", secrets[1]]
        .map(str::to_owned)
        .to_vec();
    let library = Library::new();
    let reel = record(&session, library.path());
    let has = |bytes: &[u8], text: &str| memchr::memmem::find(bytes, text.as_bytes()).is_some();
    let raw = std::fs::read(&reel).unwrap();
    assert!(secrets.iter().all(|secret| has(&raw, secret)));
    for way in &WAYS {
        let bytes = left(&library, &reel, way);
        let found: Vec<_> = secrets.iter().filter(|it| has(&bytes, it)).collect();
        assert!(found.is_empty(), "{}: {found:?}", way.name);
    }
}

#[test]
fn what_looks_alike_leaves_as_it_is() {
    let cases = corpus::all("alike");
    let library = Library::new();
    let reel = record(&together(&cases), library.path());
    annotate(&reel, "seen-in-mark", "seen-in-note");
    for way in &WAYS {
        let (path, bytes) = written(&library, &reel, way.words);
        let is_there = |place: &&str| has(&bytes, &format!("seen-in-{place}"));
        let lacks: Vec<_> = PLACES.iter().filter(|place| !is_there(place)).collect();
        let expected: Vec<_> = way.lacks.iter().collect();
        assert_eq!(lacks, expected, "{} lacks what stands there", way.name);
        let Some(words) = way.raw else { continue };
        let (raw, redacted) = if READ.contains(&way.name) {
            let export =
                |path: &Path| stdout(&library, &["export", "--raw", path.to_str().unwrap()]);
            (export(&reel), export(&path))
        } else {
            let raw = written(&library, &reel, words).0;
            let read = |path: &Path| std::fs::read_to_string(path).unwrap();
            (read(&raw), read(&path))
        };
        assert_eq!(unnoted(&redacted), unnoted(&raw), "{}", way.name);
    }
    // A report is made of the session, the page and the text, which are proved to be so above.
}

/// A file without what it says of its redaction, and of the file that it was made of.
fn unnoted(file: &str) -> String {
    let notes = [
        (",\"redaction\":{\"rules\":0,\"hits\":0}", ""),
        ("redacted   values replaced in 0 places, by 0 rules\n", ""),
        (
            "- redacted: `values replaced in 0 places, by 0 rules`\n",
            "",
        ),
        (
            "\"redaction\":\"{\\\"rules\\\":0,\\\"hits\\\":0}\"",
            "\"redaction\":null",
        ),
        ("\nRedacted by mcpreel; read", "\nNot redacted: read"),
    ];
    let unnoted = notes
        .into_iter()
        .fold(file.to_owned(), |file, (note, raw)| {
            file.replacen(note, raw, 1)
        });
    unnoted.replace("told.reel", "7f3a9c21")
}

/// The forms that a filter is for.
const FILTERED: [&str; 5] = ["jsonl", "markdown", "html", "otlp", "perfetto"];

#[test]
fn what_somebody_looked_for_is_no_secret_that_leaves() {
    let (known, shape) = ("hunter2xyz", "ghp_016C7e4fK2mQ9xZ3vB8nL5tR1wYdHsJaPcUo");
    let library = Library::new();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"login","params":{"password":"hunter2xyz"}}"#;
    let reel = frames(library.path(), &[(StreamId::C2S, call)]);
    let filter = format!("{known} -{shape}");
    let path = library.path().join("out");
    for format in FILTERED {
        let words = ["export", "--format", format, "-q", &filter, "-o"];
        let paths = [path.to_str().unwrap(), reel.to_str().unwrap()];
        stdout(&library, &[&words[..], &paths].concat());
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        for secret in [known, shape] {
            assert!(!has(&bytes, secret), "{format} has {secret}");
        }
        if ["jsonl", "markdown", "html"].contains(&format) {
            assert!(has(&bytes, "‹secret:1› -‹secret:2›"), "{format}");
        }
    }
}

/// Once a filter in small letters, or with a part of a secret, was told as it was.
#[test]
fn a_part_of_a_secret_that_somebody_looked_for_is_not_told() {
    let library = Library::new();
    let call =
        r#"{"jsonrpc":"2.0","id":1,"method":"login","params":{"password":"Kq8vWp3mXrT4Zb"}}"#;
    let reel = frames(library.path(), &[(StreamId::C2S, call)]);
    let path = library.path().join("out");
    for (filter, hint) in [
        ("text:kq8vwp3mxrt4zb", Some("kq8vwp3m")),
        (r#"params.password~"Kq8vWp3m""#, Some("Kq8vWp3m")),
        ("method:login", None),
    ] {
        for format in ["jsonl", "markdown", "html"] {
            let words = ["export", "--format", format, "-q", filter, "-o"];
            let paths = [path.to_str().unwrap(), reel.to_str().unwrap()];
            stdout(&library, &[&words[..], &paths].concat());
            let bytes = std::fs::read(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            let told = hint.map_or("method:login", |_| "not told: a part of something secret");
            assert!(has(&bytes, told), "{format}: {filter}");
            assert!(
                hint.is_none_or(|hint| !has(&bytes, hint)),
                "{format}: {filter}"
            );
        }
    }
}

#[test]
fn what_the_header_of_a_cassette_says_is_no_secret_that_leaves() {
    let secret = "ghp_016C7e4fK2mQ9xZ3vB8nL5tR1wYdHsJaPcUo";
    let library = Library::new();
    let cassette = library.path().join("a.jsonl");
    let keys = [
        "tool",
        "era",
        "protocol",
        "transport",
        "command",
        "redaction",
        "selection",
        "later",
    ];
    let text = keys.map(|key| match key {
        "command" => format!(r#""command":["{secret}"]"#),
        "selection" => format!(r#""selection":{{"query":"{secret}"}}"#),
        _ => format!(r#""{key}":"{secret}""#),
    });
    let frame =
        r#"{"n":1,"t":0,"d":"c2s","k":"req","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#;
    let lines = format!(
        "{{\"cassette\":1,{}}}\n{frame}\n{{\"t\":1,\"k\":\"end\"}}\n",
        text.join(",")
    );
    std::fs::write(&cassette, lines).unwrap();
    for format in FILTERED {
        let path = library.path().join("out");
        let words = ["export", "--format", format, "-o", path.to_str().unwrap()];
        stdout(
            &library,
            &[&words[..], &[cassette.to_str().unwrap()]].concat(),
        );
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        assert!(
            !has(&bytes, secret),
            "{format}: {}",
            String::from_utf8_lossy(&bytes)
        );
    }
}
