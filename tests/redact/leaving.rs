//! The corpus through the program: in every form in which traffic leaves it.

use crate::corpus::{self, Case, Session};
use crate::made::{ran, record, stdout};
use crate::support::Library;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::path::Path;

/// How something leaves: what it is called, and the words that write it to a file.
pub const WAYS: [(&str, &[&str]); 10] = [
    ("redact", &["redact"]),
    ("recording", &["export", "--format", "recording"]),
    ("jsonl", &["export"]),
    ("text", &["export", "--format", "text"]),
    ("csv", &["export", "--format", "csv"]),
    ("markdown", &["export", "--format", "markdown"]),
    ("html", &["export", "--format", "html"]),
    ("otlp", &["export", "--format", "otlp", "--with-bodies"]),
    ("perfetto", &["export", "--format", "perfetto"]),
    ("report", &["report"]),
];

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

/// The bytes of the file in which a recording leaves, and of all that can be asked about it.
fn left(library: &Library, reel: &Path, way: (&str, &[&str])) -> Vec<u8> {
    let path = library.path().join(way.0);
    let mut words = way.1.to_vec();
    words.extend([reel.to_str().unwrap(), "-o", path.to_str().unwrap()]);
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
    if !READ.contains(&way.0) {
        return bytes;
    }
    for asked in [&["show", "--json"][..], &["show", "--frames", "--json"]] {
        let words = [asked, &[path.to_str().unwrap()]].concat();
        bytes.extend(stdout(library, &words).into_bytes());
    }
    bytes
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
    let raw = std::fs::read(&reel).unwrap();
    let has = |bytes: &[u8], text: &str| memchr::memmem::find(bytes, text.as_bytes()).is_some();
    for way in WAYS {
        let bytes = left(&library, &reel, way);
        let mut found = Vec::new();
        for case in &cases {
            for form in case.secrets.iter().flat_map(|secret| forms(secret)) {
                if has(&bytes, &form) {
                    found.push(format!("{}: {form}", case.name));
                }
            }
        }
        assert!(found.is_empty(), "{}: {}", way.0, found.join("\n"));
    }
    let planted = cases
        .iter()
        .filter(|case| case.secrets.iter().any(|secret| has(&raw, secret)));
    assert!(planted.count() >= 100, "they were not planted");
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
    for way in WAYS {
        let bytes = left(&library, &reel, way);
        let found: Vec<_> = secrets.iter().filter(|it| has(&bytes, it)).collect();
        assert!(found.is_empty(), "{}: {found:?}", way.0);
    }
}

#[test]
fn what_looks_alike_leaves_as_it_is() {
    let cases = corpus::all("alike");
    let library = Library::new();
    let reel = record(&together(&cases), library.path());
    let reel = reel.to_str().unwrap();
    let raw = stdout(&library, &["export", "--raw", reel]);
    let redacted = stdout(&library, &["export", reel]);
    let without_note = redacted.replacen(",\"redaction\":{\"rules\":0,\"hits\":0}", "", 1);
    assert_eq!(without_note, raw);
}

#[test]
fn raw_is_raw() {
    let cases = corpus::all("planted");
    let library = Library::new();
    let reel = record(&together(&cases), library.path());
    let raw = stdout(&library, &["export", "--raw", reel.to_str().unwrap()]);
    assert!(cases.iter().any(|case| raw.contains(&case.secrets[0])));
    assert!(!raw.contains("\"redaction\""));
}
