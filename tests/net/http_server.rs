//! A server of HTTP for tests: what it answers is up to the test, what it was asked is kept.

use crate::support::proxy::upstream;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone, Debug)]
pub struct Request {
    /// `POST /mcp`
    pub line: String,
    head: String,
    pub body: String,
}

impl Request {
    fn read(reader: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let mut request = Self {
            line: head.split(" HTTP/").next()?.to_owned(),
            body: String::new(),
            head,
        };
        let length = request.header("content-length");
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        reader.read_exact(&mut body).ok()?;
        request.body = String::from_utf8(body).unwrap();
        Some(request)
    }

    pub fn header(&self, name: &str) -> Option<String> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = headers.find(|(one, _)| one.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.to_owned())
    }

    /// Whether its message has this method.
    pub fn calls(&self, method: &str) -> bool {
        self.body.contains(&format!("\"method\":\"{method}\""))
    }
}

#[derive(Clone)]
pub struct HttpServer {
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl HttpServer {
    /// A server at `path` for as long as the test runs. A connection ends where `answer` is false.
    pub fn start(
        path: &str,
        answer: impl Fn(&Request, &mut TcpStream) -> bool + Send + Sync + 'static,
    ) -> Self {
        let (listener, url) = upstream();
        let server = Self {
            url: format!("{url}{path}"),
            requests: Arc::default(),
        };
        let (requests, answer) = (Arc::clone(&server.requests), Arc::new(answer));
        thread::spawn(move || {
            while let Ok((mut client, _)) = listener.accept() {
                let (requests, answer) = (Arc::clone(&requests), Arc::clone(&answer));
                thread::spawn(move || {
                    let mut reader = BufReader::new(client.try_clone().unwrap());
                    while let Some(request) = Request::read(&mut reader) {
                        requests.lock().unwrap().push(request.clone());
                        if !answer(&request, &mut client) {
                            return;
                        }
                    }
                });
            }
        });
        server
    }

    /// What it was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

/// A response with a body, and with these lines more in its head.
pub fn respond(client: &mut TcpStream, status: &str, head: &str, body: &str) -> bool {
    let length = body.len();
    let response = format!("HTTP/1.1 {status}\r\n{head}Content-Length: {length}\r\n\r\n{body}");
    // A client that has gone needs no answer.
    client.write_all(response.as_bytes()).is_ok()
}

pub fn json(client: &mut TcpStream, head: &str, body: &str) -> bool {
    let head = format!("Content-Type: application/json\r\n{head}");
    respond(client, "200 OK", &head, body)
}

/// The beginning of a response of events, which ends with the connection.
pub fn events(client: &mut TcpStream, events: &str) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let _ = client.write_all(format!("{head}{events}").as_bytes());
}
