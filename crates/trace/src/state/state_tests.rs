use super::*;
use crate::clock::Moment;
use crate::frame::{Carried, StreamId};
use mcpreel_wire::message::classify;

/// A state that is fed lines; the first has the number 1.
#[derive(Default)]
struct Feed {
    state: State,
    seq: u64,
}

impl Feed {
    fn line(&mut self, stream: StreamId, json: &str) -> &mut Self {
        self.seq += 1;
        let raw = format!("{json}\n").into_bytes();
        let head = FrameHead {
            seq: Seq(self.seq),
            stream,
            offset: 0,
            t_first: Moment(self.seq),
            t_last: Moment(self.seq),
            size: raw.len() as u64,
            carried: Carried::default(),
        };
        self.state.frame(&head, &classify(&raw), Some(&raw));
        self
    }

    fn client(&mut self, rest: &str) -> &mut Self {
        self.line(StreamId::C2S, &format!(r#"{{"jsonrpc":"2.0",{rest}}}"#))
    }

    fn server(&mut self, rest: &str) -> &mut Self {
        self.line(StreamId::S2C, &format!(r#"{{"jsonrpc":"2.0",{rest}}}"#))
    }

    fn initialized() -> Self {
        let mut feed = Self::default();
        feed.client(r#""id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{}},"clientInfo":{"name":"host","version":"1"}}"#)
            .server(r#""id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true,"listChanged":false},"experimental":{"acme":{"x":{}}}},"serverInfo":{"name":"srv","version":"2"}}"#)
            .client(r#""method":"notifications/initialized""#);
        feed
    }
}

fn names<'s>(state: &'s State, list: &str) -> Vec<&'s str> {
    let listed = &state.lists[list];
    listed.names.iter().map(AsRef::as_ref).collect()
}

#[test]
fn capabilities_are_declared_and_used_apart() {
    let mut feed = Feed::initialized();
    feed.client(r#""id":1,"method":"tools/call","params":{"name":"a"}"#)
        .client(r#""id":2,"method":"prompts/list""#)
        .server(r#""id":9,"method":"sampling/createMessage","params":{}"#)
        .server(r#""method":"notifications/tools/list_changed""#);
    let show = |by| -> Vec<String> {
        let all = feed.state.capabilities(by);
        let word = |yes, word: &'static str| if yes { word } else { "" };
        all.iter()
            .map(|one| {
                format!(
                    "{}{}{}",
                    one.path,
                    word(one.declared, " d"),
                    word(one.used, " u")
                )
            })
            .collect()
    };
    assert_eq!(
        show(Declared::ByServer),
        [
            "experimental d",
            "experimental.acme d",
            "logging d",
            "prompts u",
            "resources d",
            "resources.subscribe d",
            "tools d u",
            "tools.listChanged d u",
        ]
    );
    assert_eq!(
        show(Declared::ByClient),
        ["roots d", "roots.listChanged d", "sampling d u"]
    );
}

#[test]
fn a_list_is_stale_from_the_change_to_an_answer_that_was_asked_for_later() {
    let mut feed = Feed::initialized();
    feed.client(r#""id":1,"method":"tools/list""#)
        .server(r#""id":1,"result":{"tools":[{"name":"a"}],"nextCursor":"2"}"#);
    assert!(feed.state.lists["tools"].more);
    feed.client(r#""id":2,"method":"tools/list","params":{"cursor":"2"}"#)
        .server(r#""id":2,"result":{"tools":[{"name":"b"}]}"#);
    assert_eq!(names(&feed.state, "tools"), ["a", "b"]);
    let tools = &feed.state.lists["tools"];
    assert!(!tools.more && tools.stale_since.is_none());
    assert_eq!(tools.answered, Some(Seq(7)));
    feed.client(r#""id":3,"method":"tools/list""#)
        .server(r#""method":"notifications/tools/list_changed""#)
        .server(r#""id":3,"result":{"tools":[{"name":"c"}]}"#);
    assert_eq!(names(&feed.state, "tools"), ["c"]);
    let tools = &feed.state.lists["tools"];
    assert_eq!(tools.stale_since, Some(Seq(9)), "it was asked for before");
    feed.client(r#""id":4,"method":"tools/list""#)
        .server(r#""id":4,"result":{"tools":[]}"#);
    assert!(feed.state.lists["tools"].stale_since.is_none());
}

#[test]
fn roots_are_what_the_client_answered() {
    let mut feed = Feed::initialized();
    feed.client(r#""id":1,"method":"ping""#)
        .server(r#""id":1,"method":"roots/list""#)
        .server(r#""id":1,"result":{}"#)
        .client(r#""id":1,"result":{"roots":[{"uri":"file:///a"}]}"#)
        .client(r#""method":"notifications/roots/list_changed""#);
    assert_eq!(names(&feed.state, "roots"), ["file:///a"]);
    assert!(feed.state.lists["roots"].stale_since.is_some());
}

#[test]
fn subscriptions_and_log_level_count_from_their_answer() {
    let mut feed = Feed::initialized();
    feed.client(r#""id":1,"method":"resources/subscribe","params":{"uri":"a://1"}"#)
        .client(r#""id":2,"method":"resources/subscribe","params":{"uri":"a://2"}"#)
        .client(r#""id":3,"method":"logging/setLevel","params":{"level":"debug"}"#);
    assert!(feed.state.subscriptions.is_empty() && feed.state.log_level.is_none());
    feed.server(r#""id":1,"result":{}"#)
        .server(r#""id":2,"error":{"code":-1,"message":"no"}"#)
        .server(r#""id":3,"result":{}"#);
    let uris: Vec<_> = feed.state.subscriptions.iter().collect();
    assert_eq!(uris, [(&"a://1".into(), &Seq(4))]);
    assert_eq!(feed.state.log_level, Some(("debug".into(), Seq(6))));
    feed.client(r#""id":4,"method":"resources/unsubscribe","params":{"uri":"a://1"}"#)
        .server(r#""id":4,"result":{}"#);
    assert!(feed.state.subscriptions.is_empty());
}

#[test]
fn a_call_is_open_between_its_request_and_its_answer_or_cancel() {
    let open_at = |exchange: &Exchange, seq| {
        let mut state = State::default();
        state.exchange(exchange, Seq(seq));
        state.open.len() == 1
    };
    let mut exchange = Exchange::bare();
    exchange.request = (Seq(5), 0);
    exchange.response = Some((Seq(9), 0));
    let open: Vec<u64> = (3..12).filter(|&seq| open_at(&exchange, seq)).collect();
    assert_eq!(open, [5, 6, 7, 8]);
    exchange.cancelled = Some(Seq(7));
    let open: Vec<u64> = (3..12).filter(|&seq| open_at(&exchange, seq)).collect();
    assert_eq!(open, [5, 6]);
}
