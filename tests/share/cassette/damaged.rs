//! Lines and tails that cannot be read are told and skipped; the rest is read.

use crate::cassette::written;
use crate::cassette::{faults, taken};
use crate::support::Library;
use mcpreel_store::reader::Recording;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::Seq;
use std::path::PathBuf;

fn sample(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("recordings").join(name).with_extension("reel")
}

/// The bytes of all frames.
fn bytes(recording: &Recording) -> Vec<Vec<u8>> {
    let heads = recording.heads(Seq(0), 1000).expect("they can be read");
    let raw = |seq| recording.raw(seq).expect("it can be read");
    heads.into_iter().map(|head| raw(head.seq)).collect()
}

const HEADER: &str = "{\"cassette\":1}\n";
const FRAME: &str = "{\"n\":1,\"t\":5,\"d\":\"s2c\",\"k\":\"other\",\"raw\":{}}\n";
const END: &str = "{\"t\":9,\"k\":\"end\"}\n";

#[test]
fn wherever_a_file_is_cut_off_what_came_before_is_read_and_the_cut_is_told() {
    let whole = written(&sample("crash"));
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let all = bytes(&Recording::open(taken(dir.path(), &whole).reel()).expect("it can be read"));
    let header = memchr::memchr(b'\n', &whole).expect("it has lines") + 1;
    for len in (header..whole.len()).step_by(7) {
        let cut = &whole[..len];
        let told = faults(cut);
        assert!(
            told.last().is_some_and(|last| last.contains("cut off")),
            "at {len}: {told:?}"
        );
        let within = cut.last() != Some(&b'\n') && whole[len] != b'\n';
        assert_eq!(told.len(), 1 + usize::from(within), "at {len}: {told:?}");
        if len % 50 == 0 {
            let tape = taken(dir.path(), cut);
            let some = bytes(&Recording::open(tape.reel()).expect("it can be read"));
            assert!(all.starts_with(&some), "at {len}");
        }
    }
    assert_eq!(faults(&whole), [""; 0]);
}

#[test]
fn every_damage_is_told_with_its_line() {
    let line = |text: &str, told: &str| {
        let file = format!("{HEADER}{FRAME}{text}\n{FRAME}{END}");
        let found = faults(file.as_bytes());
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(
            found[0].starts_with("line 3: ") && found[0].contains(told),
            "{text}: {found:?}"
        );
    };
    let lost = "; the line is skipped";
    line("{\"n\":2,", lost);
    line("nonsense", lost);
    line("[1]", lost);
    line("{}", "neither `raw` nor `b64` nor `text`");
    line("{\"d\":\"S2C\",\"t\":5,\"raw\":1}", "but `S2C`; the line");
    line("{\"d\":7,\"t\":5,\"raw\":1}", lost);
    line("{\"t\":5,\"raw\":1}", "no direction (`d`)");
    line(
        "{\"d\":\"s2c\",\"t\":5,\"b64\":\"!\"}",
        "no base64; the line",
    );
    line("{\"d\":\"s2c\",\"t\":5,\"b64\":\"\"}", "neither `raw`");
    line("{\"d\":\"s2c\",\"t\":5,\"text\":5}", lost);
    line("{\"d\":\"s2c\",\"t\":\"5\",\"raw\":1}", lost);
    line(
        "{\"d\":\"s2c\",\"raw\":1}",
        "its `t` is missing or beyond all times; taken for that of the line before",
    );
    line(
        "{\"d\":\"s2c\",\"t\":9999999999999999999,\"raw\":1}",
        "beyond all times; taken for that of the line before",
    );
    line(
        "{\"d\":\"s2c\",\"t\":3,\"raw\":1}",
        "it lies 2 µs before the frame before it",
    );
    line("{\"k\":\"event\",\"t\":5}", "an event without an `event`");
    line(
        "{\"k\":\"event\",\"t\":5,\"event\":{\"kind\":\"odd\"}}",
        "kept as a warning",
    );
    line(
        "{\"k\":\"event\",\"t\":5,\"event\":{\"kind\":\"start\"}}",
        "does not follow the header",
    );
    let far =
        "{\"k\":\"event\",\"t\":5,\"event\":{\"kind\":\"eof\",\"stream\":-1,\"by\":\"writer\"}}";
    line(far, "kept as a warning");
}

#[test]
fn what_comes_after_a_second_header_is_not_taken_for_the_same_session() {
    let file = format!("{HEADER}{FRAME}{END}{HEADER}{FRAME}{END}");
    let told = faults(file.as_bytes());
    assert_eq!(
        told,
        ["line 4: another cassette begins, which is not read; the line is skipped"]
    );
}

#[test]
fn blank_lines_and_the_line_ends_of_other_systems_do_no_harm() {
    let whole = String::from_utf8(written(&sample("well-behaved"))).expect("it is UTF-8");
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let other = format!("\u{feff}{}", whole.replace('\n', "\r\n\r\n"));
    let tape = taken(dir.path(), other.as_bytes());
    assert_eq!(tape.told(), [""; 0]);
    assert_eq!(written(tape.reel()), whole.as_bytes());
}

#[test]
fn a_loss_is_told_once_and_stands_in_the_recording() {
    let mut file = String::from(HEADER);
    for _ in 0..150 {
        file.push_str("damage\n");
    }
    file.push_str(FRAME);
    file.push_str(END);
    let library = Library::new();
    let path = library.path().join("a.jsonl");
    std::fs::write(&path, &file).expect("it can be written");
    let tape = taken(library.path(), file.as_bytes());
    assert_eq!(tape.told().len(), 6, "{:?}", tape.told());
    assert!(
        tape.told()[5].ends_with("145 more remarks of that kind"),
        "{:?}",
        tape.told()
    );
    let recording = Recording::open(tape.reel()).expect("it can be read");
    let events = recording.events(0).expect("they can be read");
    let warnings = events.iter().filter_map(|row| match &row.event.kind {
        EventKind::Warning { message } => Some(message.as_str()),
        _ => None,
    });
    let warnings: Vec<_> = warnings.collect();
    assert_eq!(warnings.len(), 101);
    assert!(
        warnings[0].starts_with("of the cassette, line 2: "),
        "{}",
        warnings[0]
    );
    assert_eq!(
        warnings[100],
        "50 more lines of the cassette could not be read"
    );
    assert_eq!(bytes(&recording), [b"{}\n"]);
}
