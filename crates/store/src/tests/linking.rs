//! What frames have to do with each other.

use super::written_session::*;
use crate::reader::Recording;
use crate::schema::State;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::{Seq, StreamId};

const MODERN: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn recorded(dir: &std::path::Path, lines: &[(StreamId, String)]) -> Recording {
    let mut session = Session::start(dir, "weather", 1);
    for (stream, line) in lines {
        session.chunk(*stream, format!("{line}\n").as_bytes());
    }
    let mut indexer = session.indexer();
    session.end();
    drain(&mut indexer, &bytes(1 << 20));
    indexer.finish(State::Complete).unwrap();
    Recording::open(&session.reel).unwrap()
}

/// Frame, kind, method, what it answers, what it is within.
fn links(recording: &Recording) -> Vec<String> {
    let links = recording.links(Seq(0), Seq(u64::MAX)).unwrap();
    let seq = |seq: Option<Seq>| seq.map_or(0, |seq| seq.0);
    let line = |link: &crate::notices::Link| {
        let method = link.method.as_deref().unwrap_or("-");
        let (kind, answers, within) = (link.kind.as_str(), seq(link.answers), seq(link.within));
        format!("{} {kind} {method} {answers} {within}", link.frame.0)
    };
    links.iter().map(line).collect()
}

fn whole(recording: &Recording, exchange: u64) -> Vec<u64> {
    let frames = recording.frames_of_exchange(ExchangeId(exchange)).unwrap();
    let mut frames: Vec<_> = frames.into_iter().map(|seq| seq.0).collect();
    frames.sort_unstable();
    frames
}

#[test]
fn a_call_has_its_progress_its_cancel_and_what_the_server_asked() {
    use StreamId as S;
    let dir = tempfile::tempdir().unwrap();
    let text = |stream, text: &str| (stream, text.to_owned());
    let recording = recorded(
        dir.path(),
        &[
            text(S::C2S, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
            text(
                S::C2S,
                r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":7}}}"#,
            ),
            text(S::S2C, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            text(
                S::S2C,
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}"#,
            ),
            text(
                S::S2C,
                r#"{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#,
            ),
            text(
                S::C2S,
                r#"{"jsonrpc":"2.0","id":"e","result":{"action":"cancel"}}"#,
            ),
            text(S::S2C, "no message"),
            text(S::S2C, r#"{"jsonrpc":"2.0","id":99,"result":{}}"#),
            text(
                S::C2S,
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
            ),
            text(
                S::S2C,
                r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#,
            ),
        ],
    );
    assert_eq!(
        links(&recording),
        [
            "1 request ping 0 0",
            "2 request tools/call 0 0",
            "3 response ping 1 0",
            "4 notification notifications/progress 0 2",
            "5 request elicitation/create 0 2",
            "6 response elicitation/create 5 0",
            "8 response - 0 0",
            "9 notification notifications/cancelled 0 2",
            "10 response tools/call 2 0",
        ]
    );
    assert_eq!(whole(&recording, 1), [1, 3]);
    assert_eq!(whole(&recording, 2), [2, 4, 5, 6, 9, 10]);
    assert_eq!(whole(&recording, 3), [5, 6]);
    assert_eq!(whole(&recording, 9), [0; 0]);
}

#[test]
fn the_rounds_of_a_chain_belong_together() {
    use StreamId as S;
    let dir = tempfile::tempdir().unwrap();
    let call = |id: u32, more: &str| {
        let params = format!(r#"{{"name":"book",{more}{MODERN}}}"#);
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
        (S::C2S, text)
    };
    let answer = |id: u32, result: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        (S::S2C, text)
    };
    let asks = |state: &str| {
        format!(
            r#"{{"resultType":"input_required","inputRequests":{{"k":{{"method":"roots/list"}}}},"requestState":"{state}"}}"#
        )
    };
    let says = |state: &str| {
        format!(r#""inputResponses":{{"k":{{"roots":[]}}}},"requestState":"{state}","#)
    };
    let recording = recorded(
        dir.path(),
        &[
            call(1, ""),
            answer(1, &asks("s1")),
            call(2, &says("s1")),
            answer(2, &asks("s2")),
            call(3, &says("s2")),
            answer(3, r#"{"resultType":"complete","content":[]}"#),
        ],
    );
    let links = links(&recording);
    assert_eq!(links[2], "3 request tools/call 0 1");
    assert_eq!(links[4], "5 request tools/call 0 1");
    for exchange in 1..=3 {
        assert_eq!(whole(&recording, exchange), [1, 2, 3, 4, 5, 6]);
    }
}
