//! A table of connections and the pieces they give.

use crate::made::{
    BROTLI, BROTLI_EVENTS, ask, chunk, coded, compressed, deflate, events, flushed, frame, gzip,
    hex, text, websocket, with, zlib, zstd, zstd_flushed,
};
use crate::{Step, assert_places_grow, byte_by_byte, client, decode, in_one_read, server};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use mcpreel_wire::http::Protocol;
use mcpreel_wire::message::Direction::{ClientToServer, ServerToClient};
use proptest::prelude::*;

pub struct Scenario {
    pub name: &'static str,
    pub protocol: Protocol,
    pub steps: Vec<Step>,
    pub pieces: &'static [&'static str],
}

fn http(name: &'static str, steps: Vec<Step>, pieces: &'static [&'static str]) -> Scenario {
    Scenario {
        name,
        protocol: Protocol::Http,
        steps,
        pieces,
    }
}

pub fn all() -> Vec<Scenario> {
    let tables = [
        framing(),
        ends(),
        gaps(),
        codings(),
        streams(),
        websockets(),
        switches(),
        no_http(),
    ];
    tables.into_iter().flatten().collect()
}

fn framing() -> Vec<Scenario> {
    vec![
        http(
            "a call and its answer, twice on one connection",
            vec![
                client(text("POST /mcp HTTP/1.1|Content-Length: 5||hello")),
                server(text("HTTP/1.1 200 OK|Content-Length: 3||yes")),
                client(text("DELETE /mcp HTTP/1.1||")),
                server(text("HTTP/1.1 204 No Content||")),
            ],
            &[
                "> 1 request-head POST /mcp HTTP/1.1",
                "> 1 body whole hello",
                "< 1 response-head HTTP/1.1 200 OK",
                "< 1 body whole yes",
                "> 2 request-head DELETE /mcp HTTP/1.1",
                "< 2 response-head HTTP/1.1 204 No Content",
            ],
        ),
        http(
            "chunks with extensions, and trailers",
            ask([server(text(
                "HTTP/1.1 200 OK|Transfer-Encoding: chunked||\
                 5;a=b|hello|1|!|0|Digest: x||HTTP/1.1 200 OK|Content-Length: 0||",
            ))]),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 response-head HTTP/1.1 200 OK",
                "< 1 body whole hello!",
                "< 1 other Digest: x\\r\\n\\r\\n",
                "< 2 response-head HTTP/1.1 200 OK",
            ],
        ),
        http(
            "requests in a row are answered in order; HEAD, 304 and 1xx have no body",
            vec![
                client(text("HEAD /a HTTP/1.1||GET /b HTTP/1.1||GET /c HTTP/1.1||")),
                server(text(
                    "HTTP/1.1 200 OK|Content-Length: 9||HTTP/1.1 103 Early Hints||\
                     HTTP/1.1 200 OK|Content-Length: 1||b\
                     HTTP/1.1 304 Not Modified|Content-Length: 9||",
                )),
            ],
            &[
                "> 1 request-head HEAD /a HTTP/1.1",
                "> 2 request-head GET /b HTTP/1.1",
                "> 3 request-head GET /c HTTP/1.1",
                "< 1 response-head HTTP/1.1 200 OK",
                "< 2 response-head HTTP/1.1 103 Early Hints",
                "< 2 response-head HTTP/1.1 200 OK",
                "< 2 body whole b",
                "< 3 response-head HTTP/1.1 304 Not Modified",
            ],
        ),
        http(
            "a body is sent once the server says continue",
            vec![
                client(text(
                    "POST / HTTP/1.1|Expect: 100-continue|Content-Length: 5||",
                )),
                server(text("HTTP/1.1 100 Continue||")),
                client("hello"),
                server(text("HTTP/1.1 202 Accepted|Content-Length: 0||")),
            ],
            &[
                "> 1 request-head POST / HTTP/1.1",
                "< 1 response-head HTTP/1.1 100 Continue",
                "> 1 body whole hello",
                "< 1 response-head HTTP/1.1 202 Accepted",
            ],
        ),
        http(
            "an answer may come before all of the request, and one to no request at all",
            vec![
                client(text("POST / HTTP/1.1|Content-Length: 5||he")),
                server(text("HTTP/1.1 413 Too Large|Content-Length: 0||")),
                client("llo"),
                server(text("HTTP/1.1 408 Request Timeout|Content-Length: 0||")),
            ],
            &[
                "> 1 request-head POST / HTTP/1.1",
                "< 1 response-head HTTP/1.1 413 Too Large",
                "> 1 body whole hello",
                "< 2 response-head HTTP/1.1 408 Request Timeout",
            ],
        ),
        http(
            "empty lines in front of a head, and lines that end with a newline only",
            vec![client(b"\r\n\nGET / HTTP/1.1\nHost: a\n\n")],
            &[
                "> 0 other \\r\\n\\n",
                "> 1 request-head GET / HTTP/1.1\\nHost: a\\n\\n",
                "< 1 end cut",
            ],
        ),
    ]
}

fn ends() -> Vec<Scenario> {
    vec![
        http(
            "an empty body ends, where its head does not say so",
            ask([
                server(text(
                    "HTTP/1.1 202 Accepted|Transfer-Encoding: chunked||0||",
                )),
                server(text("HTTP/1.1 202 Accepted||")),
            ]),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 response-head HTTP/1.1 202 Accepted",
                "< 1 end whole",
                "< 2 response-head HTTP/1.1 202 Accepted",
                "< 2 end closed",
            ],
        ),
        http(
            "a body that ends with the connection",
            ask([server(text("HTTP/1.0 200 OK||hello"))]),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 response-head HTTP/1.0 200 OK",
                "< 1 body closed hello",
            ],
        ),
        http(
            "a body that is cut",
            ask([server(text("HTTP/1.1 200 OK|Content-Length: 9||hello"))]),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 response-head HTTP/1.1 200 OK",
                "< 1 body cut hello",
            ],
        ),
        http(
            "a body of which nothing is there",
            ask([server(text(
                "HTTP/1.1 200 OK|Transfer-Encoding: chunked||5",
            ))]),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 response-head HTTP/1.1 200 OK",
                "< 1 end cut",
            ],
        ),
        http(
            "a head that is cut",
            ask([server(text("HTTP/1.1 200 OK|Conte"))]),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 other HTTP/1.1 200 OK\\r\\nConte",
                "< 1 end cut",
            ],
        ),
        http(
            "requests without an answer, one of them after the server has ended",
            ask([
                Step::End(ServerToClient),
                client(text("POST / HTTP/1.1|Content-Length: 5||")),
            ]),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 end cut",
                "> 2 request-head POST / HTTP/1.1",
                "> 2 end cut",
                "< 2 end cut",
            ],
        ),
    ]
}

fn gaps() -> Vec<Scenario> {
    vec![
        http(
            "bytes that are missing in a body of known length",
            ask([
                server(text("HTTP/1.1 200 OK|Content-Length: 10||abc")),
                Step::Missing(ServerToClient, 4),
                server("hij"),
                server(text("HTTP/1.1 200 OK|Content-Length: 2||ab")),
                client(text("GET / HTTP/1.1||POST / HTTP/1.1|Content-Length: 3||a")),
                Step::Missing(ClientToServer, 2),
                client(text("GET /next HTTP/1.1||")),
            ]),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 response-head HTTP/1.1 200 OK",
                "< 1 body cut abc",
                "< 1 other hij",
                "< 2 response-head HTTP/1.1 200 OK",
                "< 2 body whole ab",
                "> 3 request-head GET / HTTP/1.1",
                "> 4 request-head POST / HTTP/1.1",
                "> 4 body cut a",
                "> 5 request-head GET /next HTTP/1.1",
                "< 3 end cut",
                "< 4 end cut",
                "< 5 end cut",
            ],
        ),
        http(
            "bytes that are missing elsewhere",
            ask([
                server(text("HTTP/1.1 200 OK|Transfer-Encoding: chunked||5|abc")),
                Step::Missing(ServerToClient, 4),
                server(text("0||")),
                client("GE"),
                Step::Missing(ClientToServer, 1),
                client(text(" / HTTP/1.1||")),
            ]),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 response-head HTTP/1.1 200 OK",
                "< 1 body cut abc",
                "> 0 other GE",
                "> 0 other  / HTTP/1.1\\r\\n\\r\\n",
                "< 0 other 0\\r\\n\\r\\n",
            ],
        ),
        Scenario {
            name: "lines",
            protocol: Protocol::Lines,
            steps: vec![
                client("{}\n\r\n{"),
                server("a\nb"),
                Step::Missing(ServerToClient, 3),
                server("c\n"),
            ],
            pieces: &[
                "> 0 line {}\\n",
                "> 0 line \\r\\n",
                "< 0 line a\\n",
                "< 0 line b",
                "< 0 line c\\n",
                "> 0 line {",
            ],
        },
    ]
}

fn codings() -> Vec<Scenario> {
    const HELLO: &[&str] = &[
        "> 1 request-head GET / HTTP/1.1",
        "< 1 response-head HTTP/1.1 200 OK",
        "< 1 body closed hello hello hello",
    ];
    let hello = b"hello hello hello";
    let members = [gzip(b"hello "), gzip(b"hello hello"), b"\0\0\0".to_vec()].concat();
    let chunked = [&chunk(&gzip(hello))[..], b"0\r\n\r\n"].concat();
    let broken = [&gzip(hello)[..20], &[0xff; 40]].concat();
    vec![
        http("gzip", coded("gzip", gzip(hello)), HELLO),
        http(
            "gzip in members, with padding",
            coded("x-gzip", members),
            HELLO,
        ),
        http("deflate", coded("deflate", zlib(hello)), HELLO),
        http(
            "deflate without a header",
            coded("Deflate", deflate(hello)),
            HELLO,
        ),
        http("zstd", coded("zstd", zstd(hello)), HELLO),
        http(
            "several in a row",
            coded("deflate, gzip,zstd", zstd(&gzip(&zlib(hello)))),
            HELLO,
        ),
        http(
            "some that leave a body as it is",
            coded("gzip, None, identity", gzip(hello)),
            HELLO,
        ),
        http(
            "one that is not known",
            coded("gzip, aes128gcm", hello),
            HELLO,
        ),
        http("one that was not applied", coded("gzip", hello), HELLO),
        http(
            "brotli",
            coded("br", hex(BROTLI)),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 response-head HTTP/1.1 200 OK",
                "< 1 body closed {\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"result\\\":{}}",
            ],
        ),
        http(
            "a transfer coding, and one that breaks",
            ask([
                server(with(
                    "HTTP/1.1 200 OK|Transfer-Encoding: gzip, chunked||",
                    chunked,
                )),
                server(with(
                    "HTTP/1.1 200 OK|Content-Encoding: gzip|Content-Length: 60||",
                    broken,
                )),
                server(text("HTTP/1.1 204 No Content||")),
            ]),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 response-head HTTP/1.1 200 OK",
                "< 1 body whole hello hello hello",
                "< 2 response-head HTTP/1.1 200 OK",
                "< 2 body cut hello hello hello",
                "< 3 response-head HTTP/1.1 204 No Content",
            ],
        ),
    ]
}

fn streams() -> Vec<Scenario> {
    const ONE_AND_TWO: &[&str] = &[
        "> 1 request-head GET / HTTP/1.1",
        "< 1 response-head HTTP/1.1 200 OK",
        "< 1 event {\\\"n\\\":1}",
        "< 1 event id=7 {\\\"n\\\":2}",
        "< 1 end whole",
    ];
    let two = &["data: {\"n\":1}\n\n", "id: 7\ndata: {\"n\":2}\n\n"];
    let level = Compression::default();
    let mut brotli = ask([server(text(
        "HTTP/1.1 200 OK|Content-Type: text/event-stream|Content-Encoding: br|\
         Transfer-Encoding: chunked||",
    ))]);
    brotli.extend(BROTLI_EVENTS.map(|part| server(chunk(&hex(part)))));
    brotli.push(server("0\r\n\r\n"));
    let mut zstd_events = ask([server(text(
        "HTTP/1.1 200 OK|Content-Type: text/event-stream|Content-Encoding: zstd|\
         Transfer-Encoding: chunked||",
    ))]);
    zstd_events.extend(zstd_flushed(two).iter().map(|part| server(chunk(part))));
    zstd_events.push(server("0\r\n\r\n"));
    vec![
        http(
            "events with all fields, comments, and what is no event at the end",
            events(
                "\u{feff}: hi\n\n\n\ndata: a\ndata:  b\ndata\nid: 1\nevent: message\nretry: 50\n\n\
                 id: x\0\nretry: 5s\ndata:c\nfoo: bar\n: no\n\nretry: 9\n\n\u{feff}data: d\n\ndata: unfinished\n",
            ),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 response-head HTTP/1.1 200 OK",
                "< 1 comment : hi\\n",
                "< 1 event id=1 event=message retry=50 a\\n b\\n",
                "< 1 event c",
                "< 1 event retry=9",
                "< 1 event",
                "< 1 other data: unfinished\\n",
                "< 1 end closed",
            ],
        ),
        http(
            "lines that end in every way",
            events("data: a\r\ndata: b\r\n\r\n: c\r\n\r\ndata: d\r\rdata: e\n\r\ndata: f\r\n\r"),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 response-head HTTP/1.1 200 OK",
                "< 1 event a\\nb",
                "< 1 comment : c\\r\\n",
                "< 1 event d",
                "< 1 event e",
                "< 1 event f",
                "< 1 end closed",
            ],
        ),
        http(
            "a stream that is cut within a chunk, and one without events",
            ask([
                server(text(
                    "HTTP/1.1 200 OK|Content-Type: text/event-stream|Transfer-Encoding: chunked||0||",
                )),
                client(text("GET / HTTP/1.1||")),
                server(text(
                    "HTTP/1.1 200 OK|Content-Type: text/event-stream|Transfer-Encoding: chunked||\
                     7|data: a|5|\n\nda",
                )),
            ]),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 1 response-head HTTP/1.1 200 OK",
                "< 1 end whole",
                "> 2 request-head GET / HTTP/1.1",
                "< 2 response-head HTTP/1.1 200 OK",
                "< 2 event a",
                "< 2 other da",
                "< 2 end cut",
            ],
        ),
        http(
            "events in gzip",
            flushed(GzEncoder::new(Vec::new(), level), two, |encoder| {
                encoder.get_ref().clone()
            }),
            ONE_AND_TWO,
        ),
        http(
            "events in deflate",
            flushed(ZlibEncoder::new(Vec::new(), level), two, |encoder| {
                encoder.get_ref().clone()
            }),
            ONE_AND_TWO,
        ),
        http("events in brotli", brotli, ONE_AND_TWO),
        http("events in zstd", zstd_events, ONE_AND_TWO),
    ]
}

fn websockets() -> Vec<Scenario> {
    let again = compressed(&["{\"n\":1}", "{\"n\":1}"]);
    let alone = compressed(&["{\"n\":3}"]);
    let halves = again[0].split_at(3);
    let deflated = "permessage-deflate; client_no_context_takeover; client_max_window_bits=10";
    vec![
        http(
            "WebSocket: masks, fragments, control frames between them, lengths",
            websocket(
                "",
                [
                    client(frame(0x81, true, b"hello")),
                    server(frame(0x01, false, b"a")),
                    server(frame(0x89, false, b"ping")),
                    server(frame(0x00, false, b"")),
                    server(frame(0x80, false, b"b")),
                    server(frame(0x82, false, &[b'x'; 300])),
                    client(frame(0x8a, true, b"ping")),
                    client(frame(0x88, true, b"\x03\xe8")),
                ],
            ),
            &[
                "> 1 request-head GET /ws HTTP/1.1",
                "< 1 response-head HTTP/1.1 101 Switching Protocols",
                "> 1 message hello",
                "< 1 control ping",
                "< 1 message ab",
                "< 1 message [300]",
                "> 1 control ping",
                "> 1 control \\x03\\xe8",
            ],
        ),
        http(
            "WebSocket: compressed, with a context and without",
            websocket(
                deflated,
                [
                    server(frame(0x41, false, halves.0)),
                    server(frame(0x80, false, halves.1)),
                    server(frame(0xc1, false, &again[1])),
                    server(frame(0x81, false, b"plain")),
                    client(frame(0xc1, true, &[0xff; 5])),
                    client(frame(0xc1, true, &alone[0])),
                    server(frame(0xc1, false, &[0xff; 5])),
                    server(frame(0xc1, false, b"lost")),
                ],
            ),
            &[
                "> 1 request-head GET /ws HTTP/1.1",
                "< 1 response-head HTTP/1.1 101 Switching Protocols",
                "< 1 message {\\\"n\\\":1}",
                "< 1 message {\\\"n\\\":1}",
                "< 1 message plain",
                "> 1 other",
                "> 1 message {\\\"n\\\":3}",
                "< 1 other",
                "< 1 other lost",
            ],
        ),
        http(
            "WebSocket: control frames that are long or a fragment",
            websocket(
                "",
                [
                    client(frame(0x09, true, b"")),
                    server(frame(0x89, false, &[b'x'; 126])),
                ],
            ),
            &[
                "> 1 request-head GET /ws HTTP/1.1",
                "< 1 response-head HTTP/1.1 101 Switching Protocols",
                "> 1 other \\t\\x80\\x124Vx",
                "< 1 other [130]",
            ],
        ),
        http(
            "WebSocket: broken frames, and frames that are cut",
            websocket(
                "",
                [
                    client(frame(0xc1, true, b"no deflate")),
                    client("more"),
                    server(frame(0x01, false, b"a")),
                    server(frame(0x89, false, b"ping").split_at(4).0),
                ],
            ),
            &[
                "> 1 request-head GET /ws HTTP/1.1",
                "< 1 response-head HTTP/1.1 101 Switching Protocols",
                "> 1 other \\xc1\\x8a\\x124Vx|[v\\x1cwR:\\x19fQmore",
                "< 1 other a",
                "< 1 other pi",
            ],
        ),
    ]
}

fn switches() -> Vec<Scenario> {
    vec![
        http(
            "an upgrade that is refused, and one to a protocol that is not known",
            vec![
                client(text("GET /a HTTP/1.1|Upgrade: websocket||")),
                server(text("HTTP/1.1 426 Upgrade Required|Content-Length: 2||no")),
                client(text("GET /b HTTP/1.1|Upgrade: mcp/2||early")),
                server(text("HTTP/1.1 101 Switching Protocols|Upgrade: mcp/2||hi")),
                client("|rest"),
            ],
            &[
                "> 1 request-head GET /a HTTP/1.1",
                "< 1 response-head HTTP/1.1 426 Upgrade Required",
                "< 1 body whole no",
                "> 2 request-head GET /b HTTP/1.1",
                "< 2 response-head HTTP/1.1 101 Switching Protocols",
                "> 2 other early|rest",
                "< 2 other hi",
            ],
        ),
        http(
            "a tunnel, after one that was refused",
            vec![
                client(text("CONNECT a:1 HTTP/1.1||")),
                server(text("HTTP/1.1 407 No|Content-Length: 2||no")),
                client(text("CONNECT a:1 HTTP/1.1||")),
                server(text("HTTP/1.1 200 Connected|Content-Length: 2||hello")),
                client("hello"),
            ],
            &[
                "> 1 request-head CONNECT a:1 HTTP/1.1",
                "< 1 response-head HTTP/1.1 407 No",
                "< 1 body whole no",
                "> 2 request-head CONNECT a:1 HTTP/1.1",
                "< 2 response-head HTTP/1.1 200 Connected",
                "> 2 other hello",
                "< 2 other hello",
            ],
        ),
    ]
}

fn no_http() -> Vec<Scenario> {
    vec![
        http(
            "TLS on a plain port",
            vec![
                client(b"\x16\x03\x01\x00\n\r\n\r\nx"),
                server(text("HTTP/1.1 400 Bad Request|Content-Length: 0||")),
            ],
            &[
                "< 1 response-head HTTP/1.1 400 Bad Request",
                "> 0 other \\x16\\x03\\x01\\x00\\n\\r\\n\\r\\nx",
            ],
        ),
        http(
            "a request where a response belongs",
            ask([server(text("GET / HTTP/1.1||rest"))]),
            &[
                "> 1 request-head GET / HTTP/1.1",
                "< 0 other GET / HTTP/1.1\\r\\n\\r\\nrest",
                "< 1 end cut",
            ],
        ),
        http(
            "two lengths: the chunks count",
            vec![client(text(
                "POST / HTTP/1.1|Content-Length: 4|Transfer-Encoding: chunked||1|a|0||GET / HTTP/1.1||",
            ))],
            &[
                "> 1 request-head POST / HTTP/1.1",
                "> 1 body whole a",
                "> 2 request-head GET / HTTP/1.1",
                "< 1 end cut",
                "< 2 end cut",
            ],
        ),
        http(
            "two lengths that contradict each other",
            vec![client(text(
                "POST / HTTP/1.1|Content-Length: 4|Content-Length: 5||hello",
            ))],
            &[
                "> 1 request-head POST / HTTP/1.1",
                "> 0 other hello",
                "< 1 end cut",
            ],
        ),
        http(
            "a chunk that is longer than it says",
            vec![client(text(
                "POST / HTTP/1.1|Transfer-Encoding: chunked||2|abc|0||",
            ))],
            &[
                "> 1 request-head POST / HTTP/1.1",
                "> 1 body misframed ab",
                "> 0 other c\\r\\n0\\r\\n\\r\\n",
                "< 1 end cut",
            ],
        ),
    ]
}

#[test]
fn every_connection_gives_its_pieces_however_it_is_read() {
    for scenario in all() {
        let whole = decode(scenario.protocol, &scenario.steps, &mut in_one_read);
        let shown: Vec<&str> = whole.iter().map(|piece| &*piece.shown).collect();
        assert_eq!(shown, scenario.pieces, "{}", scenario.name);
        assert_places_grow(&whole);
        let bytes = decode(scenario.protocol, &scenario.steps, &mut byte_by_byte);
        assert_eq!(bytes, whole, "{}", scenario.name);
    }
}

proptest! {
    #[test]
    fn every_connection_gives_the_same_pieces_cut_at_random(
        cuts in prop::collection::vec(1usize..40, 1..20),
    ) {
        for scenario in all() {
            let mut cuts = cuts.iter().cycle();
            let cut = decode(scenario.protocol, &scenario.steps, &mut |_| *cuts.next().unwrap());
            let shown: Vec<&str> = cut.iter().map(|piece| &*piece.shown).collect();
            prop_assert_eq!(shown, scenario.pieces, "{}", scenario.name);
        }
    }
}
