use super::*;
use crate::written;
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::Seq;
use std::path::Path;

/// Exchanges, each of two frames: some pages of them.
const EXCHANGES: u64 = 3000;

fn recorded(dir: &Path) -> Recording {
    let reel = written::recorded(dir, |session| {
        for id in 1..=EXCHANGES {
            let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
            let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
            session.chunk(StreamId::C2S, call.as_bytes());
            session.chunk(StreamId::S2C, answer.as_bytes());
        }
        session.end();
    });
    Recording::open(&reel).unwrap()
}

/// Goes through the rest of it: the frames that it gave, each of which has to be what it was.
fn rest(script: &mut Script<'_>) -> u64 {
    let mut frames = 0;
    while let Some(step) = script.next_step().unwrap() {
        let (nth, is_answer) = (step.head.seq.0.div_ceil(2), step.head.seq.0 % 2 == 0);
        let raw = String::from_utf8_lossy(step.raw.as_deref().unwrap_or_default());
        assert!(raw.contains(&format!("\"id\":{nth},")), "{raw}");
        match step.single() {
            Some(What::Asks(exchange)) => assert_eq!((exchange.id.0, is_answer), (nth, false)),
            Some(What::Answers(id)) => assert_eq!((id.0, is_answer), (nth, true)),
            other => panic!("{other:?}"),
        }
        frames += 1;
        assert!(step.head.seq.0 >= frames);
    }
    frames
}

#[test]
fn a_long_recording_comes_whole_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let recording = recorded(dir.path());
    let mut script = Script::new(&recording, None);
    assert_eq!(rest(&mut script), 2 * EXCHANGES);
    assert!(script.next_step().unwrap().is_none(), "the end stays it");
}

#[test]
fn nothing_comes_after_the_last_frame_that_is_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let recording = recorded(dir.path());
    for until in [0, 1, 1500, 4321] {
        let mut script = Script::new(&recording, Some(Seq(until)));
        assert_eq!(rest(&mut script), until);
        assert!(script.next_step().unwrap().is_none());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn who_stops_in_the_middle_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let recording = recorded(dir.path());
    let mut script = Script::new(&recording, None);
    for _ in 0..4500 {
        script.next_step().unwrap();
    }
    assert_eq!(connections(&recording), 2);
    drop(script);
    assert_eq!(connections(&recording), 1);
}

/// A thread of its own needs a connection of its own.
#[test]
fn a_recording_that_cannot_be_opened_again_is_read_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let recording = recorded(dir.path());
    std::fs::remove_file(recording.path()).unwrap();
    assert_eq!(rest(&mut Script::new(&recording, None)), 2 * EXCHANGES);
}

#[test]
fn frames_besides_the_latest_are_found_wherever_the_walk_is() {
    let dir = tempfile::tempdir().unwrap();
    let recording = recorded(dir.path());
    let mut script = Script::new(&recording, None);
    for _ in 0..4500 {
        script.next_step().unwrap();
    }
    for seq in [1, 4499, 4500, 4501, 6000] {
        let raw = script.raw(Seq(seq)).unwrap();
        assert_eq!(raw.as_deref(), Some(&*recording.raw(Seq(seq)).unwrap()));
    }
    assert!(script.raw(Seq(6001)).unwrap().is_none());
}

#[cfg(target_os = "linux")]
/// How many connections this process has to a recording.
fn connections(recording: &Recording) -> usize {
    let files = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    targets.filter(|target| target == recording.path()).count()
}
