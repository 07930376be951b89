//! Random rows with their messages.

use super::dice::Dice;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{MessageKind, MessageRecord};
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_trace::item::{Annotation, FindingNote, Item, ItemKey, What};
use mcpreel_trace::query::Bodies;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::{Direction, Era};
use std::borrow::Cow;

/// What stands beside a row.
#[derive(Clone, Debug)]
pub struct Messages {
    request: Option<&'static [u8]>,
    response: Option<&'static [u8]>,
    in_batch: bool,
    waits_now: bool,
}

impl Bodies for Messages {
    fn request(&mut self) -> Option<Cow<'_, [u8]>> {
        self.request.map(Cow::Borrowed)
    }

    fn response(&mut self) -> Option<Cow<'_, [u8]>> {
        self.response.map(Cow::Borrowed)
    }

    fn in_batch(&mut self) -> bool {
        self.in_batch
    }

    fn waits_now(&mut self) -> bool {
        self.waits_now
    }
}

const REQUESTS: &[&[u8]] = &[
    br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search_docs","arguments":{"q":"a\"b","n":7},"_meta":{"progressToken":"t7"}}}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":"x","data":[1,"\ud800"]}}"#,
    b"\xff\xfe no json \"",
    b"[1,2]",
    b"",
];

const RESPONSES: &[&[u8]] = &[
    br#"{"id":7,"result":{"content":[{"type":"text","text":"caf\u00e9"},{"type":7}],"_meta":null}}"#,
    br#"{"id":"7","error":{"code":-32602,"message":"quota"}}"#,
    b"{\"result\":",
];

const METHODS: &[&str] = &[
    "tools/call",
    "resources/read",
    "prompts/get",
    "notifications/message",
    "x",
];

const IDS: &[&str] = &["7", "\"7\"", "null", "1.0", "true"];

fn one<T: Copy>(dice: &mut Dice, from: &[T]) -> T {
    from[dice.length_below(from.len())]
}

fn maybe<T>(dice: &mut Dice, make: impl FnOnce(&mut Dice) -> T) -> Option<T> {
    (dice.below(2) > 0).then(|| make(dice))
}

fn text(dice: &mut Dice) -> Box<str> {
    one(dice, &["search_docs", "", "a b", "file:///é", "RUST"]).into()
}

fn moment(dice: &mut Dice) -> Moment {
    Moment(dice.below(1 << 45))
}

fn direction(dice: &mut Dice) -> Direction {
    one(
        dice,
        &[Direction::ClientToServer, Direction::ServerToClient],
    )
}

fn id(dice: &mut Dice) -> RequestId {
    RequestId::from_json(one(dice, IDS)).expect("it is JSON")
}

/// Any row, and its messages.
pub fn item(dice: &mut Dice) -> (Item, Messages) {
    let messages = Messages {
        request: maybe(dice, |dice| one(dice, REQUESTS)),
        response: maybe(dice, |dice| one(dice, RESPONSES)),
        in_batch: dice.below(2) > 0,
        waits_now: dice.below(2) > 0,
    };
    let finding = |dice: &mut Dice| FindingNote {
        rule: one(dice, &["frame-truncated", "id-reused"]).into(),
        severity: one(dice, &["error", "note"]).into(),
    };
    let item = Item {
        key: ItemKey::of_part(Seq(dice.below(2000)), 0),
        what: what(dice),
        findings: (0..dice.below(3)).map(|_| finding(dice)).collect(),
        annotation: maybe(dice, |dice| Annotation {
            mark: maybe(dice, text),
            note: maybe(dice, text),
        }),
    };
    (item, messages)
}

fn what(dice: &mut Dice) -> What {
    match dice.below(4) {
        0 => What::Exchange(Box::new(exchange(dice))),
        1 => What::Message {
            record: Box::new(record(dice)),
            head: head(dice),
            exchange: maybe(dice, |dice| Box::new(exchange(dice))),
        },
        2 => What::Line {
            head: head(dice),
            preview: Box::default(),
        },
        _ => What::Event(Box::new(Event {
            t: moment(dice),
            after_seq: Seq(3),
            kind: EventKind::Warning {
                message: text(dice).into(),
            },
        })),
    }
}

fn head(dice: &mut Dice) -> FrameHead {
    FrameHead {
        seq: Seq(dice.below(2000)),
        stream: StreamId(u16::try_from(dice.below(4)).expect("it is below 4")),
        offset: 0,
        t_first: moment(dice),
        t_last: moment(dice),
        size: dice.below(1 << 30),
    }
}

fn exchange(dice: &mut Dice) -> Exchange {
    Exchange {
        id: ExchangeId(1),
        direction: direction(dice),
        method: one(dice, METHODS).into(),
        name: maybe(dice, text).map(Into::into),
        rpc_id: id(dice),
        era: one(dice, &[Era::Legacy, Era::Modern]),
        request: (Seq(1), 0),
        response: maybe(dice, |_| (Seq(2), 0)),
        t_request: moment(dice),
        t_response: maybe(dice, moment),
        t_response_last: None,
        waited_ns: dice.below(2),
        status: one(dice, &Status::ALL),
        code: maybe(dice, |dice| one(dice, IDS).into()),
        parent: None,
        chain: None,
        task: maybe(dice, text),
        cancelled: None,
        progress_count: 0,
        progress: None,
        request_size: dice.below(1 << 20),
        response_size: dice.below(1 << 20),
        summary: text(dice),
    }
}

fn record(dice: &mut Dice) -> MessageRecord {
    let kinds = [
        MessageKind::Request,
        MessageKind::Response,
        MessageKind::Notification,
        MessageKind::Other,
    ];
    MessageRecord {
        frame: Seq(1),
        part: 0,
        direction: direction(dice),
        kind: one(dice, &kinds),
        era: Era::Legacy,
        method: maybe(dice, |dice| one(dice, METHODS).into()),
        rpc_id: maybe(dice, id),
        name: maybe(dice, text),
        summary: text(dice),
        exchange: None,
        code: maybe(dice, |dice| one(dice, IDS).into()),
        token: maybe(dice, id),
        trace_id: maybe(dice, text),
        task: maybe(dice, text),
        subscription: None,
    }
}
