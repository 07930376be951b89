//! What peers send: heads, codings, events, frames.

use crate::{Step, client, server};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use std::io::Write;

/// A head and what follows: `|` is the end of a line.
pub fn text(text: &str) -> String {
    text.replace('|', "\r\n")
}

pub fn with(head: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    [text(head).as_bytes(), body.as_ref()].concat()
}

pub fn ask(steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
    std::iter::once(client(text("GET / HTTP/1.1|Host: a||")))
        .chain(steps)
        .collect()
}

/// A response whose body has this coding and ends with the connection.
pub fn coded(coding: &str, body: impl AsRef<[u8]>) -> Vec<Step> {
    let head = format!("HTTP/1.1 200 OK|Content-Encoding: {coding}||");
    ask([server(with(&head, body))])
}

pub fn events(body: &str) -> Vec<Step> {
    let head = "HTTP/1.1 200 OK|Content-Type: text/event-stream; charset=utf-8||";
    ask([server(with(head, body))])
}

pub fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// Each of `events` compressed and flushed, as a server does that sends them one by one.
pub fn flushed<W: Write>(
    mut encoder: W,
    events: &[&str],
    written: impl Fn(&W) -> Vec<u8>,
) -> Vec<Step> {
    let head = "HTTP/1.1 200 OK|Content-Type: text/event-stream|Content-Encoding: CODING|\
                Transfer-Encoding: chunked||";
    let coding = std::any::type_name::<W>();
    let coding = if coding.contains("Gz") {
        "gzip"
    } else {
        "deflate"
    };
    let mut steps = ask([server(text(&head.replace("CODING", coding)))]);
    let mut sent = 0;
    for event in events {
        encoder.write_all(event.as_bytes()).unwrap();
        encoder.flush().unwrap();
        let all = written(&encoder);
        steps.push(server(chunk(&all[sent..])));
        sent = all.len();
    }
    steps.push(server("0\r\n\r\n"));
    steps
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    zstd_safe::compress(&mut out, bytes, 3).unwrap();
    out
}

/// Each of `parts` compressed and flushed within one frame.
pub fn zstd_flushed(parts: &[&str]) -> Vec<Vec<u8>> {
    let mut context = zstd_safe::CCtx::create();
    let mut compress = |part: &&str| {
        let mut out = vec![0; 1000];
        let mut to = zstd_safe::OutBuffer::around(&mut out[..]);
        let mut from = zstd_safe::InBuffer::around(part.as_bytes());
        context.compress_stream(&mut to, &mut from).unwrap();
        context.flush_stream(&mut to).unwrap();
        let length = to.pos();
        out.truncate(length);
        out
    };
    parts.iter().map(&mut compress).collect()
}

pub fn hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// `{"jsonrpc":"2.0","id":1,"result":{}}`, as Google's encoder compresses it.
pub const BROTLI: &str =
    "8b11807b226a736f6e727063223a22322e30222c226964223a312c22726573756c74223a7b7d7d03";

/// Two events, flushed one by one by Google's encoder, and the end of the stream.
pub const BROTLI_EVENTS: [&str; 3] = [
    "0b0780646174613a207b226e223a317d0a0a",
    "a0000040a025e7271470d29671f2025fa2c013556f55003f18",
    "03",
];

pub const MASK: [u8; 4] = [0x12, 0x34, 0x56, 0x78];

/// A frame: `first` has the FIN bit, the reserved bits and the opcode.
pub fn frame(first: u8, masked: bool, payload: &[u8]) -> Vec<u8> {
    let bit = if masked { 0x80 } else { 0 };
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..126 => frame.push(bit | u8::try_from(length).unwrap()),
        length => {
            frame.push(bit | 0x7e);
            frame.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
    }
    if masked {
        frame.extend(MASK);
        frame.extend(
            payload
                .iter()
                .zip(MASK.iter().cycle())
                .map(|(byte, mask)| byte ^ mask),
        );
    } else {
        frame.extend(payload);
    }
    frame
}

pub fn websocket(extension: &str, steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
    let ask = "GET /ws HTTP/1.1|Connection: Upgrade|Upgrade: websocket||";
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols|Connection: Upgrade|Upgrade: WebSocket|\
         Sec-WebSocket-Extensions: {extension}||"
    );
    [client(text(ask)), server(text(&answer))]
        .into_iter()
        .chain(steps)
        .collect()
}

/// Messages compressed as permessage-deflate has them, each with the context of those before.
pub fn compressed(messages: &[&str]) -> Vec<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    let mut sent = 0;
    let mut compress = |message: &&str| {
        encoder.write_all(message.as_bytes()).unwrap();
        encoder.flush().unwrap();
        let all = encoder.get_ref();
        let message = all[sent..]
            .strip_suffix(&[0, 0, 0xff, 0xff])
            .unwrap()
            .to_vec();
        sent = all.len();
        message
    };
    messages.iter().map(&mut compress).collect()
}
