//! The server of the bench, and the relay that the proxy is compared with: both as plain as they get.

use anyhow::{Context, bail};
use mcpreel_trace::clock::{Clock, Moment, wall_clock_ns};
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// The first argument that makes a server of this executable.
pub const SERVE: &str = "serve";
/// The first argument that makes a relay of this executable; the server's address follows.
pub const RELAY: &str = "relay";

/// Bytes of an event, without the framing of its chunk.
pub const EVENT: usize = 1024;

/// Serves at a free port, which it prints, until it is killed.
pub fn serve() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    for socket in listener.incoming() {
        let socket = socket?;
        // A client that goes away is no concern of the others.
        thread::Builder::new()
            .stack_size(256 * 1024)
            .spawn(move || drop(serve_one(&socket)))?;
    }
    Ok(())
}

fn serve_one(socket: &TcpStream) -> anyhow::Result<()> {
    socket.set_nodelay(true)?;
    let mut input = BufReader::with_capacity(64 * 1024, socket);
    let (mut body, mut prepared) = (Vec::new(), Vec::new());
    loop {
        let (mut target, mut line, mut length) = (String::new(), String::new(), 0);
        if input.read_line(&mut target)? == 0 {
            return Ok(());
        }
        while input.read_line(&mut line)? > 2 {
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse()?;
            }
            line.clear();
        }
        body.resize(length, 0);
        input.read_exact(&mut body)?;
        answer(&target, &mut prepared, socket)?;
    }
}

/// `POST /BYTES` asks for an answer so long; `GET /EVENTS/MICROSECONDS` for events, one after the
/// other in that time, without end where there are 0 of them.
fn answer(
    request_line: &str,
    prepared: &mut Vec<u8>,
    mut output: &TcpStream,
) -> anyhow::Result<()> {
    let target = request_line.split(' ').nth(1).context("a target")?;
    let numbers = target.split('/').skip(1).map(str::parse::<usize>);
    let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
    match numbers[..] {
        [bytes] => {
            if prepared.len() < bytes {
                *prepared = response(bytes);
            }
            output.write_all(prepared)?;
        }
        [count, us] => {
            output.write_all(STREAM.as_bytes())?;
            let (clock, mut at) = (Clock::start(), Duration::ZERO);
            for _ in 0..count {
                thread::sleep(at.saturating_sub(clock.now().since(Moment(0))));
                output.write_all(&event(wall_clock_ns()))?;
                at += Duration::from_micros(us.try_into()?);
            }
        }
        _ => bail!("unknown target {target}"),
    }
    Ok(())
}

/// The head of a stream of events.
pub const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A whole response, with a JSON-RPC result of so many bytes.
pub fn response(bytes: usize) -> Vec<u8> {
    let start = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":""#;
    let end = r#""}]}}"#;
    let text = "x".repeat(bytes.saturating_sub(start.len() + end.len()));
    let body = format!("{start}{text}{end}");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ";
    format!("{head}{}\r\n\r\n{body}", body.len()).into_bytes()
}

/// A chunk with one event, which says when it was sent.
pub fn event(wall_ns: u64) -> Vec<u8> {
    let start = format!(
        r#"data: {{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{wall_ns:020} "#
    );
    let end = "\"}}\n\n";
    let text = "x".repeat(EVENT - start.len() - end.len());
    format!("{EVENT:x}\r\n{start}{text}{end}\r\n").into_bytes()
}

/// When the event in these bytes was sent, nanoseconds since 1970.
pub fn sent_ns(event: &[u8]) -> anyhow::Result<u64> {
    let text = std::str::from_utf8(event)?;
    let (_, number) = text.split_once(r#""data":""#).context("an event")?;
    Ok(number.get(..20).context("a time")?.parse()?)
}

/// Copies bytes between those who connect and `server`, at a free port, which it prints.
#[tokio::main]
pub async fn relay(server: &str) -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    loop {
        let (mut client, _) = listener.accept().await?;
        let server = server.to_owned();
        tokio::spawn(async move {
            let mut server = tokio::net::TcpStream::connect(server).await?;
            client.set_nodelay(true)?;
            server.set_nodelay(true)?;
            tokio::io::copy_bidirectional(&mut client, &mut server).await
        });
    }
}
