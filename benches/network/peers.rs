//! The server of the bench, and what the proxy is compared with, a relay and a reverse proxy of hyper: all as
//! plain as they get.

use anyhow::{Context, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Incoming;
use hyper::header::HOST;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcpreel_trace::clock::{Clock, Moment, wall_clock_ns};
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// The first argument that makes a server of this executable.
pub const SERVE: &str = "serve";
/// The first argument that makes a relay of this executable; the server's address follows.
pub const RELAY: &str = "relay";
/// The first argument that makes a reverse proxy of this executable; the server's address follows.
pub const REVERSE_PROXY: &str = "reverse-proxy";

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
            line.make_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length: ") {
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
/// other in that time, `GET /EVENTS/MICROSECONDS/1` for the same, compressed.
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
            at_times(count, us, || Ok(output.write_all(&event(wall_clock_ns()))?))?;
        }
        [count, us, _] => {
            output.write_all(COMPRESSED_STREAM.as_bytes())?;
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            at_times(count, us, || {
                packed.write_all(&event_text(wall_clock_ns()))?;
                packed.flush()?;
                let content = std::mem::take(packed.get_mut());
                Ok(output.write_all(&chunk(&content))?)
            })?;
        }
        _ => bail!("unknown target {target}"),
    }
    Ok(())
}

/// Does something so often, once each `us` microseconds.
fn at_times(
    count: usize,
    us: usize,
    mut act: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (clock, mut at) = (Clock::start(), Duration::ZERO);
    for _ in 0..count {
        thread::sleep(at.saturating_sub(clock.now().since(Moment(0))));
        act()?;
        at += Duration::from_micros(us.try_into()?);
    }
    Ok(())
}

/// The head of a stream of events.
pub const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// The same of one that is compressed.
pub const COMPRESSED_STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
     Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n";

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
    chunk(&event_text(wall_ns))
}

fn chunk(content: &[u8]) -> Vec<u8> {
    let size = format!("{:x}\r\n", content.len());
    [size.as_bytes(), content, b"\r\n"].concat()
}

fn event_text(wall_ns: u64) -> Vec<u8> {
    let start = format!(
        r#"data: {{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{wall_ns:020} "#
    );
    let end = "\"}}\n\n";
    let text = "x".repeat(EVENT - start.len() - end.len());
    format!("{start}{text}{end}").into_bytes()
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

/// Passes requests on to `server` as a reverse proxy does that is made of hyper and its pool of connections,
/// at a free port, which it prints.
#[tokio::main]
pub async fn reverse_proxy(server: &str) -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let pool = Client::builder(TokioExecutor::new()).build(connector);
    loop {
        let (client, _) = listener.accept().await?;
        client.set_nodelay(true)?;
        let (pool, server) = (pool.clone(), server.to_owned());
        let pass = service_fn(move |mut request: hyper::Request<Incoming>| {
            let (pool, uri) = (pool.clone(), format!("http://{server}{}", request.uri()));
            request.headers_mut().remove(HOST);
            async move {
                *request.uri_mut() = uri.parse()?;
                anyhow::Ok(pool.request(request).await?)
            }
        });
        let mut serving = hyper::server::conn::http1::Builder::new();
        let serving = serving.auto_date_header(false);
        tokio::spawn(serving.serve_connection(TokioIo::new(client), pass));
    }
}
