//! Recordings whose rows somebody has changed by hand: what is derived says what the bytes do not.

use super::told::{Place, Step, told};
use super::{TOKEN, difference, kept, rows};
use crate::export::Selection;
use crate::outgoing::tests::{order, redacted_of};
use crate::outgoing::{Format, write};
use mcpreel_store::reader::Recording;
use rusqlite::Connection;
use std::path::Path;

/// What is in no frame, or is in none any more.
const NEEDLE: &str = "ada-lovelace";

/// Of a message of a plain call, of its exchange, of the session, what it says in other words.
const DERIVED: [&str; 13] = [
    "UPDATE message SET summary = 'see ada-lovelace' WHERE frame = 60",
    "UPDATE message SET name = 'ada-lovelace' WHERE frame = 60",
    "UPDATE message SET method = 'ada-lovelace' WHERE frame = 60",
    "UPDATE message SET trace_id = 'ada-lovelace' WHERE frame = 60",
    "UPDATE message SET token = '\"ada-lovelace\"' WHERE frame = 60",
    "INSERT INTO message (frame, part, start, size, direction, kind, exchange, name)
        SELECT frame, 7, 0, 0, direction, kind, exchange, 'ada-lovelace' FROM message
        WHERE frame = 60",
    "UPDATE exchange SET name = 'ada-lovelace' WHERE request = (SELECT max(request) FROM exchange)",
    "UPDATE exchange SET rpc_id = '\"ada-lovelace\"' WHERE id = 30",
    "UPDATE exchange SET progress = 'ada-lovelace' WHERE id = 30",
    "INSERT INTO exchange (direction, era, method, rpc_id, request, request_part, t_request, waited,
        status, progress_count, request_size, response_size)
        VALUES ('c2s', 'legacy', 'ada-lovelace', '1', 60, 9, 0, 0, 'ok', 0, 0, 0)",
    "INSERT INTO finding (rule, severity, frame, detail)
        VALUES ('x', 'note', 60, 'see ada-lovelace')",
    "UPDATE recording SET session = json_set(session, '$.client.name', 'ada-lovelace')",
    "UPDATE recording SET session = json_set(session, '$.x', 'ada-lovelace')",
];

/// Where messages of a plain call stand, when they came, and how many there are.
const NUMBERS: [&str; 15] = [
    "UPDATE message SET start = 3 WHERE frame = 60",
    "UPDATE message SET size = size - 1 WHERE frame = 60",
    "UPDATE message SET size = size + 1 WHERE frame = 61",
    "UPDATE exchange SET request_size = 7 WHERE id = 30",
    "UPDATE exchange SET response_size = 7 WHERE id = 30",
    "UPDATE exchange SET t_request = t_request - 1 WHERE id = 30",
    "UPDATE exchange SET t_response = t_response + 1 WHERE id = 30",
    "UPDATE exchange SET t_response_last = t_response_last + 1 WHERE id = 30",
    "UPDATE recording SET messages = 7",
    "UPDATE recording SET exchanges = 7",
    "UPDATE recording SET failed = 7",
    "UPDATE recording SET open = 7",
    "UPDATE recording SET findings = 7",
    "UPDATE recording SET bytes = 7",
    "UPDATE recording SET gap_bytes = 7",
];

/// Of the bytes of all frames: the name of a tool, what a long answer begins with.
const BYTES: [(&str, &str); 2] = [("tool_3", "tool_x"), ("hello", "xxxxx")];

/// What stands beside frames and what is derived, where nobody looks for more than is written.
const BESIDE: [&str; 6] = [
    "UPDATE recording SET origin = 'TOKEN'",
    "UPDATE recording SET transport = 'TOKEN'",
    "UPDATE recording SET context = json_set(context, '$.parent', 'TOKEN', '$.origin', 'TOKEN')",
    "UPDATE stream SET label = 'TOKEN' WHERE id = 1",
    "UPDATE format SET needs = 'TOKEN'",
    "UPDATE event SET detail = json_set(detail, '$.x', 'TOKEN')",
];

fn run(reel: &Path, sql: &str) {
    let changed = Connection::open(reel).unwrap().execute(sql, []).unwrap();
    assert!(changed > 0, "{sql}");
}

/// Sessions in which nothing is replaced, or something.
fn sessions() -> [Vec<Step>; 2] {
    let plain = vec![Step::Plain(50), Step::Plain(50)];
    let secret = vec![
        Step::Plain(50),
        Step::Secret(Place::Argument, 1),
        Step::Plain(50),
    ];
    [plain, secret]
}

fn assert_gone(reel: &Path, needle: &str, why: &str) {
    let redacted = redacted_of(reel);
    let bytes = std::fs::read(redacted.file()).unwrap();
    let is_there = memchr::memmem::find(&bytes, needle.as_bytes()).is_some();
    assert!(!is_there, "{why}: {:?}", kept(&redacted, needle));
}

#[test]
fn what_is_derived_leaves_only_if_the_bytes_say_it() {
    for steps in sessions() {
        for sql in DERIVED {
            let dir = tempfile::tempdir().unwrap();
            let reel = told(dir.path(), &steps);
            run(&reel, sql);
            assert_gone(&reel, NEEDLE, sql);
        }
    }
}

#[test]
fn frames_that_no_copy_has_are_told() {
    for (sql, is_in_a_cassette) in [
        ("UPDATE frame SET seq = -5 WHERE seq = 60", false),
        (
            "INSERT INTO frame (seq, stream, \"offset\", t_first, t_last, raw)
            VALUES (-5, 0, 0, 0, 0, x'0a')",
            false,
        ),
        ("UPDATE frame SET raw = x'' WHERE seq = 60", true),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let reel = told(dir.path(), &[Step::Plain(50)]);
        run(&reel, sql);
        let recording = Recording::open(&reel).unwrap();
        let all = Selection::default();
        for format in [Format::Text, Format::Jsonl] {
            let (mut out, order) = (Vec::new(), order(&all, format, false));
            let (_, report) = write(&recording, &order, &mut out, &mut |_| Ok(())).unwrap();
            let report = report.unwrap();
            let said = crate::outgoing::told::in_words(Some(&report), format);
            let is_told = said.contains("without bytes or with a number that none has: 1 frame");
            assert_eq!(
                is_told,
                !(is_in_a_cassette && format == Format::Jsonl),
                "{sql} {said}"
            );
            assert_eq!(report.lacks(), is_told);
        }
    }
}

#[test]
fn numbers_are_those_of_the_bytes_whatever_somebody_wrote() {
    for steps in sessions() {
        let dir = tempfile::tempdir().unwrap();
        let redacted = redacted_of(&told(dir.path(), &steps));
        let genuine = rows(redacted.file());
        for sql in NUMBERS {
            let dir = tempfile::tempdir().unwrap();
            let reel = told(dir.path(), &steps);
            run(&reel, sql);
            let redacted = redacted_of(&reel);
            let differs = difference(&genuine, &rows(redacted.file()));
            assert!(differs.is_none(), "{sql}: {}", differs.unwrap());
        }
    }
}

#[test]
fn what_was_taken_out_of_the_bytes_by_hand_stays_out() {
    for mut steps in sessions() {
        steps.insert(1, Step::Long);
        for (said, instead) in BYTES {
            let dir = tempfile::tempdir().unwrap();
            let reel = told(dir.path(), &steps);
            run(
                &reel,
                &format!(
                    "UPDATE frame SET raw = CAST(replace(CAST(raw AS TEXT), '{said}', '{instead}')
                        AS BLOB) WHERE instr(raw, CAST('{said}' AS BLOB))"
                ),
            );
            assert_gone(&reel, said, said);
        }
    }
}

#[test]
fn what_stands_beside_is_looked_at_like_all_else() {
    for steps in sessions() {
        for sql in BESIDE {
            let dir = tempfile::tempdir().unwrap();
            let reel = told(dir.path(), &steps);
            run(&reel, &sql.replace("TOKEN", TOKEN));
            assert_gone(&reel, TOKEN, sql);
        }
    }
}
