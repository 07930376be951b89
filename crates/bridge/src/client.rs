//! Requests to one server, over connections that are used again.

use crate::connection::{Connection, Item};
use mcpreel_wire::http::Head;
use mcpreel_wire::message::Direction;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The server, as it is reached from here.
pub struct Client {
    address: SocketAddr,
    /// Headers that every request has.
    headers: Headers,
    /// Cookies of the server, by name: a load balancer knows by one where the session is (RFC 6265).
    cookies: RefCell<BTreeMap<String, String>>,
    idle: RefCell<Vec<Connection>>,
    /// Connections that may still be opened.
    room: Arc<Semaphore>,
}

/// Cookies of one server, which browsers limit likewise.
const MOST_COOKIES: usize = 50;

/// Connections at once.
const MOST_CONNECTIONS: usize = 256;

/// Names and values.
pub type Headers = Vec<(Cow<'static, str>, String)>;

/// A request; its headers besides `Host` and those of its body.
pub struct Request<'a> {
    pub method: &'static str,
    /// Path and query.
    pub target: &'a str,
    pub headers: Headers,
    pub body: Option<&'a [u8]>,
}

/// The head of a response, and what is still to come.
pub struct Response<'c> {
    pub head: Head,
    client: &'c Client,
    /// `None` once all of it came.
    connection: Option<Connection>,
    _room: Option<OwnedSemaphorePermit>,
}

impl Client {
    pub fn new(address: SocketAddr, headers: Headers) -> Self {
        Self {
            address,
            headers,
            cookies: RefCell::default(),
            idle: RefCell::default(),
            room: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
        }
    }

    /// Where the server is reached from here.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether every request has this header.
    pub fn has_header(&self, name: &str) -> bool {
        let mut names = self.headers.iter().map(|(name, _)| name);
        names.any(|it| it.eq_ignore_ascii_case(name))
    }

    /// Sends a request, and waits for the head of its response.
    pub async fn send(&self, request: &Request<'_>) -> io::Result<Response<'_>> {
        let room = Arc::clone(&self.room).acquire_owned().await;
        let mut connection = self.connection().await?;
        let mut bytes = self.head(request).into_bytes();
        bytes.extend_from_slice(request.body.unwrap_or_default());
        connection.write(&bytes).await?;
        match connection.next().await? {
            Some(Item::Head(head)) => {
                self.keep_cookies(&head);
                Ok(Response {
                    head,
                    client: self,
                    connection: Some(connection),
                    _room: room.ok(),
                })
            }
            _ => Err(io::Error::other("the connection ended without a response")),
        }
    }

    /// Keeps the cookies that a response sets; one with an empty value is taken back.
    fn keep_cookies(&self, head: &Head) {
        let mut cookies = self.cookies.borrow_mut();
        for set in head.all("set-cookie") {
            let cookie = set.split(';').next().unwrap_or_default();
            let Some((name, value)) = cookie.trim().split_once('=') else {
                continue;
            };
            if value.is_empty() {
                cookies.remove(name);
            } else if cookies.len() < MOST_COOKIES || cookies.contains_key(name) {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    async fn connection(&self) -> io::Result<Connection> {
        self.idle.borrow_mut().retain(Connection::is_idle);
        let idle = self.idle.borrow_mut().pop();
        if let Some(connection) = idle {
            return Ok(connection);
        }
        let socket = TcpStream::connect(self.address).await?;
        Ok(Connection::new(socket, Direction::ServerToClient))
    }

    fn head(&self, request: &Request<'_>) -> String {
        let (method, target) = (request.method, request.target);
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\n", self.address);
        for (name, value) in request.headers.iter().chain(&self.headers) {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let cookies = self.cookies.borrow();
        if !cookies.is_empty() && !self.has_header("cookie") {
            let pairs = cookies
                .iter()
                .map(|(name, value)| format!("{name}={value}"));
            let _ = write!(head, "Cookie: {}\r\n", pairs.collect::<Vec<_>>().join("; "));
        }
        if let Some(body) = request.body {
            let _ = write!(head, "Content-Length: {}\r\n", body.len());
        }
        head.push_str("\r\n");
        head
    }
}

impl Response<'_> {
    pub fn status(&self) -> u16 {
        self.head.status().unwrap_or_default()
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status())
    }

    /// What comes next of the response; `None` behind its end.
    pub async fn next(&mut self) -> io::Result<Option<Item>> {
        let Some(connection) = &mut self.connection else {
            return Ok(None);
        };
        match connection.next().await? {
            Some(Item::End { is_whole }) => {
                let is_kept = !self
                    .head
                    .list("connection")
                    .any(|it| it.eq_ignore_ascii_case("close"));
                let idle = self.connection.take();
                let idle = idle.filter(|_| is_whole && is_kept && self.head.minor == 1);
                self.client.idle.borrow_mut().extend(idle);
                Ok(Some(Item::End { is_whole }))
            }
            item => Ok(item),
        }
    }

    /// All of the body; events are not part of it.
    pub async fn body(&mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        while let Some(item) = self.next().await? {
            match item {
                Item::Body(bytes) => all = bytes,
                Item::TooLong => return Err(too_long()),
                Item::End { is_whole: false } => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => {}
            }
        }
        Ok(all)
    }
}

/// The error of an answer that is longer than is kept.
pub fn too_long() -> io::Error {
    let most = mcpreel_wire::http::LIMIT >> 20;
    io::Error::other(format!("the answer is longer than {most} MiB"))
}
