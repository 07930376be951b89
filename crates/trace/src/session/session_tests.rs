use super::*;
use crate::frame::{Carried, Seq};
use mcpreel_wire::message::classify;

/// A session that is fed lines and events, a millisecond apart.
#[derive(Default)]
struct Feed {
    session: Session,
    t: u64,
}

impl Feed {
    fn now(&mut self) -> Moment {
        self.t += 1_000_000;
        Moment(self.t)
    }

    fn line(&mut self, stream: StreamId, json: &str) -> &mut Self {
        let t = self.now();
        let head = FrameHead {
            seq: Seq(1),
            stream,
            offset: 0,
            t_first: t,
            t_last: t,
            size: 0,
            carried: Carried::default(),
        };
        let content = classify(format!("{json}\n").as_bytes());
        self.session.frame(&head, &content);
        self
    }

    fn event(&mut self, kind: EventKind) -> &mut Self {
        let (t, after_seq) = (self.now(), Seq(0));
        self.session.event(&Event { t, after_seq, kind });
        self
    }

    fn initialize(&mut self, asked: &str, agreed: &str) -> &mut Self {
        self.line(
            StreamId::C2S,
            &format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{asked}","capabilities":{{"roots":{{}}}},"clientInfo":{{"name":"host","version":"1"}}}}}}"#
            ),
        );
        assert_eq!(self.session.phase, Phase::Initializing);
        self.line(
            StreamId::S2C,
            &format!(
                r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{agreed}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"srv","version":"2"}}}}}}"#
            ),
        )
    }
}

fn eof(stream: StreamId, by: Closer) -> EventKind {
    EventKind::Eof { stream, by }
}

fn exit(code: Option<i32>, signal: Option<&str>) -> EventKind {
    EventKind::Exit {
        code,
        signal: signal.map(Into::into),
        max_rss_bytes: 4096,
        user_ns: 1,
        system_ns: 2,
    }
}

const MODERN: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"new","version":"9"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

#[test]
fn a_legacy_session_goes_through_its_phases() {
    let mut feed = Feed::default();
    feed.event(EventKind::Spawned { pid: 7 })
        .initialize("2025-11-25", "2025-06-18");
    assert_eq!(feed.session.phase, Phase::Initializing);
    feed.line(
        StreamId::C2S,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    );
    assert_eq!(feed.session.phase, Phase::Ready);
    feed.event(eof(StreamId::C2S, Closer::Writer));
    assert_eq!(feed.session.phase, Phase::Closing);
    feed.event(eof(StreamId::S2C, Closer::Writer))
        .event(exit(Some(3), None));
    let session = &feed.session;
    assert_eq!(session.phase.end(), Some(&End::Exited { code: 3 }));
    assert_eq!(
        session.closed_first.map(|closed| closed.by),
        Some(Side::Host)
    );
    assert_eq!(session.version_asked.as_deref(), Some("2025-11-25"));
    assert_eq!(session.version(), Some("2025-06-18"));
    assert_eq!(session.eras, [Era::Legacy]);
    assert_eq!(session.client.name.as_deref(), Some("host"));
    assert_eq!(
        session.client.capabilities.as_deref(),
        Some(r#"{"roots":{}}"#)
    );
    assert_eq!(session.server.version.as_deref(), Some("2"));
    assert_eq!(
        session.server.capabilities.as_deref(),
        Some(r#"{"tools":{}}"#)
    );
    assert_eq!(session.handshake_ns, Some(1_000_000));
    assert_eq!(session.spawned, Some(Moment(1_000_000)));
    assert_eq!(session.first_byte.c2s, Some(Moment(2_000_000)));
    assert_eq!(session.first_byte.s2c, Some(Moment(3_000_000)));
    assert_eq!(session.first_byte.stderr, None);
    assert_eq!(session.usage.map(|usage| usage.max_rss_bytes), Some(4096));
}

#[test]
fn a_modern_session_has_no_handshake() {
    let mut feed = Feed::default();
    feed.line(
        StreamId::C2S,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{MODERN}}}}}"#),
    );
    assert_eq!(feed.session.phase, Phase::Starting);
    assert_eq!(feed.session.version(), None);
    feed.line(
        StreamId::S2C,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"srv","version":"3"}}}}"#,
    );
    let session = &feed.session;
    assert_eq!(session.phase, Phase::Ready);
    assert_eq!(session.version(), Some("2026-07-28"));
    assert_eq!(session.eras, [Era::Modern]);
    assert_eq!(session.client.name.as_deref(), Some("new"));
    assert_eq!(session.server.name.as_deref(), Some("srv"));
    assert_eq!(session.handshake_ns, None);
}

#[test]
fn a_probe_that_is_answered_says_what_the_server_offers() {
    let mut feed = Feed::default();
    feed.line(
        StreamId::C2S,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{MODERN}}}}}"#),
    )
    .line(
        StreamId::S2C,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#,
    );
    let session = &feed.session;
    assert_eq!(session.phase, Phase::Ready);
    assert_eq!(session.versions_offered, ["2026-07-28"]);
    assert_eq!(session.version(), Some("2026-07-28"));
    assert_eq!(session.handshake_ns, Some(1_000_000));
}

#[test]
fn the_end_is_told_in_one_way() {
    let mut feed = Feed::default();
    feed.event(EventKind::SpawnFailed {
        exit_code: 127,
        message: "not found".into(),
        searched: None,
    });
    assert!(matches!(
        feed.session.phase.end(),
        Some(End::NotStarted { exit_code: 127, .. })
    ));
    let mut feed = Feed::default();
    feed.event(exit(None, Some("SIGSEGV")));
    let killed = End::Killed {
        signal: "SIGSEGV".into(),
    };
    assert_eq!(feed.session.phase.end(), Some(&killed));
    assert_eq!(feed.session.closed_first, None, "no end is on record");
    feed.event(eof(StreamId::C2S, Closer::Writer));
    assert_eq!(
        feed.session.closed_first.map(|closed| closed.by),
        Some(Side::Server)
    );
    let mut feed = Feed::default();
    feed.session.finish();
    assert_eq!(feed.session.phase.end(), Some(&End::Unknown));
}

/// A host that does not wait asked 6,000 things before a server was there; who that server is was
/// then not known.
#[test]
fn a_server_that_answers_the_handshake_late_is_known_all_the_same() {
    let mut feed = Feed::default();
    feed.line(
        StreamId::C2S,
        r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
    );
    for id in 0..6000 {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
        feed.line(StreamId::C2S, &line);
    }
    feed.line(
        StreamId::S2C,
        r#"{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"srv"}}}"#,
    );
    assert_eq!(feed.session.server.name.as_deref(), Some("srv"));
    assert_eq!(feed.session.version(), Some("2025-11-25"));
    assert!(feed.session.handshake_ns.is_some());
    for _ in 0..1000 {
        let line = r#"{"jsonrpc":"2.0","id":"j","method":"initialize"}"#;
        feed.line(StreamId::C2S, line);
    }
    assert!(feed.session.pending.len() <= 32);
}

#[test]
fn a_session_survives_json() {
    let mut feed = Feed::default();
    feed.initialize("2025-11-25", "2025-11-25")
        .event(eof(StreamId::S2C, Closer::Reader))
        .event(exit(Some(0), None));
    let json = serde_json::to_string(&feed.session).unwrap();
    assert!(
        json.starts_with(r#"{"phase":"ended","how":{"kind":"exited","code":0},"client":"#),
        "{json}"
    );
    let read: Session = serde_json::from_str(&json).unwrap();
    assert_eq!(read, feed.session);
}
