//! A kill at every place between two transactions, without a race.

use crate::kill::undisturbed::{Spool, index};
use crate::support::stored_rows::Rows;
use mcpreel_store::recovery;
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use std::path::Path;

#[test]
fn a_kill_between_any_two_batches_and_in_mid_line_changes_nothing() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    write_three_interleaved_streams(&dir.path().join("a.spool"));
    let mut killed = Vec::new();
    let undisturbed = index(dir.path(), |nth| {
        // Exactly what a kill would leave.
        let copy = dir.path().join(format!("killed-{nth}"));
        std::fs::create_dir(&copy).expect("a folder can be made");
        for file in ["a.spool", "a.reel", "a.reel-wal"] {
            drop(std::fs::copy(dir.path().join(file), copy.join(file)));
        }
        killed.push(copy.join("a.reel"));
    });
    let (frames, derived) = (Rows::frames(&undisturbed), Rows::derived(&undisturbed));
    assert_eq!((frames.count("frame"), derived.count("exchange")), (21, 6));
    assert!(killed.len() > 30, "a kill after every record");
    for reel in killed {
        let what = reel.display().to_string();
        recovery::bring_up_to_date(&reel, Clock::start(), &mut |_| ())
            .expect("it can be recovered");
        Rows::frames(&reel).assert_same(&frames, &what);
        Rows::derived(&reel).assert_same(&derived, &what);
        assert!(!reel.with_extension("spool").exists(), "{what}");
    }
}

/// Requests, answers and free text, each line in three chunks, between those of the others.
fn write_three_interleaved_streams(path: &Path) {
    let start = EventKind::Start(Box::new(ProcessContext {
        recording: "0badcafe".into(),
        ..ProcessContext::default()
    }));
    let mut spool = Spool::create(path, &serde_json::to_value(start).expect("it is JSON"));
    let mut t = 0;
    for n in 0..7 {
        let lines = [
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"ping\"}}\n"),
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}\n", n - 1),
            format!("step {n}\n"),
        ];
        for part in 0..3 {
            for (stream, line) in StreamId::STDIO.into_iter().zip(&lines) {
                t += 1000;
                let third = line.len() / 3;
                let end = if part == 2 {
                    line.len()
                } else {
                    third * (part + 1)
                };
                // The last line of stderr has no end, the last request is no JSON.
                let end = if n == 6 && stream != StreamId::S2C {
                    end.min(line.len() - 3)
                } else {
                    end
                };
                spool.chunk(stream, Moment(t), &line.as_bytes()[third * part..end]);
            }
        }
    }
}
