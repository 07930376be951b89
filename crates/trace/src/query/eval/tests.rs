use super::*;
use crate::event::{Event, EventKind};
use crate::exchange::{Exchange, Status};
use crate::frame::{FrameHead, Seq, StreamId};
use crate::item::{Annotation, FindingNote, ItemKey, What};

#[derive(Default)]
struct Given {
    request: Option<&'static str>,
    response: Option<&'static str>,
    in_batch: bool,
    waits: bool,
    asked: usize,
}

impl Bodies for Given {
    fn request(&mut self) -> Option<Cow<'_, [u8]>> {
        self.asked += 1;
        self.request.map(|text| text.as_bytes().into())
    }

    fn response(&mut self) -> Option<Cow<'_, [u8]>> {
        self.asked += 1;
        self.response.map(|text| text.as_bytes().into())
    }

    fn in_batch(&mut self) -> bool {
        self.in_batch
    }

    fn waits_now(&mut self) -> bool {
        self.waits
    }
}

fn context() -> Context {
    Context {
        end: Moment(1_000_000_000_000),
        slow_ns: 1_000_000_000,
    }
}

fn item(what: What) -> Item {
    Item {
        key: ItemKey::of_part(Seq(1187), 0),
        what,
        findings: Vec::new(),
        annotation: None,
    }
}

/// An answered call of `search_docs`.
fn call() -> Item {
    item(What::Exchange(Box::new(Exchange {
        name: Some("search_docs".into()),
        status: Status::ToolError,
        response: Some((Seq(1190), 0)),
        t_request: Moment(724_000_000_000),
        t_response: Some(Moment(724_842_000_000)),
        code: Some("-32602".into()),
        request_size: 412,
        response_size: 1900,
        summary: "tools/call search_docs {q:\"Rust\"}".into(),
        ..Exchange::bare()
    })))
}

fn bodies() -> Given {
    Given {
        request: Some(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_docs","arguments":{"q":"Rust \"async\"\nnow","n":7,"big":9007199254740993,"on":true,"none":null,"s":"7"},"_meta":{"progressToken":"t7","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}"#,
        ),
        response: Some(
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"caf\u00e9"},{"type":"image","n":3}],"isError":true}}"#,
        ),
        ..Given::default()
    }
}

fn fits(item: &Item, mut bodies: Given, text: &str) -> bool {
    let query = Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    Matcher::new(&query, context()).fits(item, &mut bodies)
}

/// Each text fits the call, and its denial does not.
fn assert_call(texts: &[&str], expected: bool) {
    for text in texts {
        assert_eq!(fits(&call(), bodies(), text), expected, "{text}");
        let denial = format!("NOT ({text})");
        assert_eq!(fits(&call(), bodies(), &denial), !expected, "{denial}");
    }
}

#[test]
fn columns_compare_by_their_type() {
    assert_call(
        &[
            "method:TOOLS",
            "method=tools/call",
            "tool:search",
            "name~^SEARCH|^s",
            "kind:request",
            "status:tool-error",
            "is:failed",
            "dir:c2s",
            "stream:c2s",
            "seq:1187",
            "seq:1100..1200",
            "latency>500ms",
            "latency:842ms",
            "latency<=842ms",
            "-is:slow",
            "size:2312",
            "size>2kB",
            "reqsize:412",
            "ressize>=1.9kB",
            "era:legacy",
            "is:legacy",
            "time:12:04",
            "time>-5m",
            "time:12:00..12:30",
            "id:1",
            "id:1.0",
            "code:-32602",
            "code<-32000",
            "code:-32700..-32600",
            "token:t7",
            "trace:0AF7",
            "has:trace",
            "has:text",
        ],
        true,
    );
    assert_call(
        &[
            "method=TOOLS/CALL",
            "prompt:search",
            "uri:search",
            "kind:response",
            "status:error",
            "is:open",
            "latency>842ms",
            "id:\"1\"",
            "time>-4m",
            "is:batch",
            "is:marked",
            "era:modern",
            "token:7",
            "code:32602",
        ],
        false,
    );
}

#[test]
fn what_is_absent_fails_the_positive_test_and_passes_its_denial() {
    for (text, expected) in [
        ("latency>1ms", false),
        ("latency<1ms", false),
        ("latency!=1ms", true),
        ("-latency>1ms", true),
        ("has:latency", false),
        ("finding:x", false),
        ("finding!=x", true),
        ("finding!~x", true),
        ("note:x", false),
        ("-note:x", true),
        ("params.q:x", false),
        ("params.q!=x", true),
        ("level:error", false),
        ("ressize<5", false),
    ] {
        let open = item(What::Exchange(Box::new(Exchange::bare())));
        assert_eq!(fits(&open, Given::default(), text), expected, "{text}");
    }
}

#[test]
fn values_in_bodies_compare_by_their_own_type() {
    assert_call(
        &[
            "params.arguments.q:rust",
            r#"params.arguments.q="Rust \"async\"\nnow""#,
            "params.arguments.n:7",
            "params.arguments.n=7.0",
            "params.arguments.n>6.5",
            "params.arguments.n:5..9",
            "params.arguments.on:true",
            "params.arguments.none:null",
            "has:params.arguments.none",
            "params.arguments.s:7",
            "params.arguments.s=\"7\"",
            "params.arguments.big=9007199254740993",
            "params.arguments:async",
            "params:search_docs",
            "res.content[*].type=image",
            "result.content[0].text:CAFÉ",
            "res.isError:true",
            "params.arguments.q~\"async\\\"\\nnow\"",
            "req.method=tools/call",
            "_meta.progressToken:t7",
            "params[\"name\"]:search",
            "res.content[*].n>=3",
            "result.content:café",
        ],
        true,
    );
    assert_call(
        &[
            "params.arguments.n=\"7\"",
            "params.arguments.n:70",
            "params.arguments.on:\"true\"",
            "params.arguments.big=9007199254740992",
            "params.arguments.q=rust",
            "error:x",
            "res.content[*].type=audio",
            "params.arguments.s>6",
            "result.content[5].text:x",
        ],
        false,
    );
    assert!(!fits(&call(), bodies(), "res.content[*].type!=image"));
    assert!(fits(&call(), bodies(), "res.content[*].type!=audio"));
}

#[test]
fn a_word_is_found_wherever_it_stands_in_smart_case() {
    assert_call(
        &[
            "rust",
            "Rust",
            r#""\"async\"""#,
            r#""async\"\nnow""#,
            "café",
            "caf",
            "search_docs",
            "text:rust",
            "text~isError",
            "text=Rust",
        ],
        true,
    );
    assert_call(&["RUST", "absent", "text=rust", "text:RUST"], false);
    let head = FrameHead {
        seq: Seq(1),
        stream: StreamId::STDERR,
        offset: 0,
        t_first: Moment(0),
        t_last: Moment(0),
        size: 9,
    };
    let line = item(What::Line {
        head,
        preview: Box::default(),
    });
    let text = Given {
        request: Some("Panicked \"here\""),
        ..Given::default()
    };
    assert!(fits(
        &line,
        text,
        r#"kind:stderr stream:stderr panicked "\"here\"" -has:dir size:9"#
    ));
    let kind = EventKind::Warning {
        message: "the disk is full".into(),
    };
    let event = item(What::Event(Box::new(Event {
        t: Moment(5),
        after_seq: Seq(1),
        kind,
    })));
    assert!(fits(
        &event,
        Given::default(),
        "kind:event DISK OR disk time:5ns"
    ));
}

#[test]
fn findings_marks_and_flags_are_seen() {
    let mut item = call();
    item.findings = vec![
        FindingNote {
            rule: "frame-truncated".into(),
            severity: "error".into(),
        },
        FindingNote {
            rule: "id-reused".into(),
            severity: "warning".into(),
        },
    ];
    item.annotation = Some(Annotation {
        mark: Some("".into()),
        note: Some("look here".into()),
    });
    let given = || Given {
        in_batch: true,
        ..bodies()
    };
    for text in [
        "finding:reused",
        "finding=id-reused",
        "severity:warning",
        "severity:error",
        "has:finding",
        "is:truncated",
        "is:marked",
        "is:noted",
        "has:mark",
        "note:LOOK",
        "is:batch",
        "-severity:note",
    ] {
        assert!(fits(&item, given(), text), "{text}");
    }
    assert!(!fits(&item, given(), "severity!=error"));
}

#[test]
fn waiting_is_what_has_waited_or_waits() {
    let mut exchange = Exchange::bare();
    let waits = |exchange: &Exchange, waits| {
        let given = Given {
            waits,
            ..Given::default()
        };
        fits(
            &item(What::Exchange(Box::new(exchange.clone()))),
            given,
            "is:waiting",
        )
    };
    assert!(!waits(&exchange, false));
    assert!(waits(&exchange, true));
    exchange.status = Status::Ok;
    assert!(!waits(&exchange, true));
    exchange.waited_ns = 1;
    assert!(waits(&exchange, false));
}

#[test]
fn bodies_are_not_asked_for_where_columns_decide() {
    let query = Query::parse("rust params.a:1 status:ok").unwrap();
    let mut given = bodies();
    let matcher = Matcher::new(&query, context());
    assert!(matcher.needs_bodies());
    assert!(!matcher.fits(&call(), &mut given));
    assert_eq!(given.asked, 0);
    let columns = Query::parse("is:failed latency>1s").unwrap();
    assert!(!Matcher::new(&columns, context()).needs_bodies());
}
