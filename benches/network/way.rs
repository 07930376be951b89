//! A server, with nothing, a relay, or the proxy between it and us; and connections to it.

use crate::support::machine;
use crate::{Setup, peers};
use anyhow::{Context, ensure};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// What stands between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// A relay that copies bytes.
    Relay,
    /// A reverse proxy made of hyper.
    ReverseProxy,
    /// `mcpreel proxy`.
    Proxy,
    /// mitmproxy without a screen, which keeps what passes in memory.
    Mitmdump,
}

/// A server behind an [`Arm`].
pub struct Way {
    server: Child,
    between: Child,
    address: String,
}

impl Way {
    /// Starts both.
    pub fn open(arm: Arm, setup: &Setup) -> anyhow::Result<Self> {
        let this = std::env::current_exe()?;
        let mut server = Command::new(&this);
        let mut server = server.arg(peers::SERVE).stdout(Stdio::piped()).spawn()?;
        let behind = first_line(&mut server)?;
        let (between, address) = match arm {
            Arm::Relay | Arm::ReverseProxy => {
                let kind = match arm {
                    Arm::Relay => peers::RELAY,
                    _ => peers::REVERSE_PROXY,
                };
                let mut relay = Command::new(this);
                relay.args([kind, &behind]).stdout(Stdio::piped());
                let mut relay = relay.spawn()?;
                let address = first_line(&mut relay)?;
                (relay, address)
            }
            Arm::Proxy => {
                let address = free_address()?;
                (proxy(&behind, &address, setup)?, address)
            }
            Arm::Mitmdump => {
                let address = free_address()?;
                (mitmdump(&behind, &address)?, address)
            }
        };
        let way = Self {
            server,
            between,
            address,
        };
        way.connect()?;
        Ok(way)
    }

    /// The process that stands between.
    pub fn pid(&self) -> u32 {
        self.between.id()
    }

    /// Waits until what stands between has nothing left to do, and its indexer neither.
    pub fn wait_until_quiet(&self) -> anyhow::Result<()> {
        machine::wait_until_quiet(self.pid())?;
        machine::indexer_of(self.pid()).map_or(Ok(()), machine::wait_until_quiet)
    }

    /// A connection, once it can be had.
    pub fn connect(&self) -> anyhow::Result<Connection> {
        let socket = connect(&self.address)?;
        Ok(Connection {
            socket,
            authority: self.address.clone(),
            buffer: vec![0; 256 * 1024],
        })
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        for child in [&mut self.between, &mut self.server] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts the proxy before the server at `behind`.
pub fn proxy(behind: &str, address: &str, setup: &Setup) -> anyhow::Result<Child> {
    let mut proxy = Command::new(env!("CARGO_BIN_EXE_mcpreel"));
    proxy.args(["proxy", &format!("http://{behind}/"), "--listen", address]);
    proxy.arg("--dir").arg(&setup.dir);
    proxy.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(proxy.spawn()?)
}

/// Starts mitmdump before the server at `behind`.
fn mitmdump(behind: &str, address: &str) -> anyhow::Result<Child> {
    let (host, port) = address.split_once(':').context("a port")?;
    let mut mitmdump = Command::new("mitmdump");
    mitmdump.args(["--quiet", "--mode", &format!("reverse:http://{behind}")]);
    mitmdump.args(["--listen-host", host, "--listen-port", port]);
    mitmdump.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(mitmdump.spawn()?)
}

/// An address of this machine that nobody listens at.
pub fn free_address() -> anyhow::Result<String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    Ok(listener.local_addr()?.to_string())
}

/// Connects to `address` as soon as somebody listens there.
pub fn connect(address: &str) -> anyhow::Result<TcpStream> {
    loop {
        match TcpStream::connect(address) {
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
            socket => {
                let socket = socket?;
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
        }
    }
}

fn first_line(child: &mut Child) -> anyhow::Result<String> {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().context("piped")?).read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// A connection that is kept alive.
pub struct Connection {
    socket: TcpStream,
    authority: String,
    buffer: Vec<u8>,
}

impl Connection {
    /// The bytes of a call of 200 bytes that asks for an answer of `bytes`.
    pub fn call(&self, bytes: usize) -> Vec<u8> {
        let start = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":""#;
        let text = "x".repeat(200 - start.len() - r#""}}}"#.len());
        let body = format!("{start}{text}\"}}}}}}");
        let head = self.head("POST", &bytes.to_string());
        let length = body.len();
        format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
            .into_bytes()
    }

    fn head(&self, method: &str, target: &str) -> String {
        format!(
            "{method} /{target} HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\n",
            self.authority
        )
    }

    /// Asks for `count` events, one each `us` microseconds, and reads the head of the answer.
    pub fn open_stream(&mut self, count: usize, us: u64) -> anyhow::Result<()> {
        let head = self.head("GET", &format!("{count}/{us}"));
        self.send(format!("{head}\r\n").as_bytes())?;
        self.receive(peers::STREAM.len())
    }

    /// The same, compressed.
    pub fn open_compressed_stream(&mut self, count: usize, us: u64) -> anyhow::Result<()> {
        let head = self.head("GET", &format!("{count}/{us}/1"));
        self.send(format!("{head}\r\n").as_bytes())?;
        self.receive(peers::COMPRESSED_STREAM.len())
    }

    /// Receives the content of a chunk.
    pub fn receive_chunk(&mut self) -> anyhow::Result<&[u8]> {
        let mut at = 0;
        while !self.buffer[..at].ends_with(b"\r\n") {
            self.socket.read_exact(&mut self.buffer[at..=at])?;
            at += 1;
        }
        let size = std::str::from_utf8(&self.buffer[..at - 2])?;
        let size = usize::from_str_radix(size, 16)?;
        Ok(&self.receive_few(size + 2)?[..size])
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        Ok(self.socket.write_all(bytes)?)
    }

    /// Receives exactly so many bytes.
    pub fn receive(&mut self, mut bytes: usize) -> anyhow::Result<()> {
        while bytes > 0 {
            let most = bytes.min(self.buffer.len());
            let n = self.socket.read(&mut self.buffer[..most])?;
            ensure!(n > 0, "the connection ended early");
            bytes -= n;
        }
        Ok(())
    }

    /// Receives exactly so many bytes, few enough for a buffer.
    pub fn receive_few(&mut self, bytes: usize) -> anyhow::Result<&[u8]> {
        self.socket.read_exact(&mut self.buffer[..bytes])?;
        Ok(&self.buffer[..bytes])
    }
}
