//! What was recorded over one transport is used over the other: `mock --listen`, `replay --url`.

use crate::http_server::{HttpServer, json, respond};
use crate::support::host_session::{Collected, Session};
use crate::support::pieces::Pieces;
use crate::support::proxy::{Proxy, later_upstream};
use crate::support::{Library, send, text, wait_for};
use crate::wire;
use nix::sys::signal::Signal;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

/// What the client says in each session here.
const CLIENT: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":7}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fail"}}"#,
];
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"server","version":"1"}}}"#;
const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}"#;
const WORKED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;

fn said(lines: &[&str]) -> Pieces {
    let lines = lines.iter().map(|line| format!("{line}\n"));
    Pieces(vec![lines.collect::<String>().into()])
}

/// What a host gets that says all of that to `mcpreel ARGUMENTS…`.
fn converse(library: &Library, arguments: &[&str]) -> String {
    let host = begin(library, arguments);
    host.send(&said(&CLIENT));
    let received = host.end();
    String::from_utf8(received.out).unwrap()
}

fn begin(library: &Library, arguments: &[&str]) -> Session {
    let mut command = library.mcpreel(arguments[0]);
    command.args(&arguments[1..]).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Session::start(&mut command)
}

/// A server with a URL that answers the client above: `fail` with a status and no message.
fn server() -> HttpServer {
    server_at("/mcp")
}

fn server_at(path: &str) -> HttpServer {
    HttpServer::start(path, |request, client| match request {
        _ if request.calls("initialize") => json(
            client,
            if request.body.contains("idle") {
                "Mcp-Session-Id: s2\r\n"
            } else {
                "Mcp-Session-Id: s1\r\n"
            },
            &INITIALIZED.replace(',', ",\n "),
        ),
        _ if request.calls("notifications/initialized") => respond(client, "202 Accepted", "", ""),
        _ if request.line.starts_with("GET ") => respond(client, "405 Method Not Allowed", "", ""),
        _ if request.body.contains("work") => {
            crate::http_server::events(client, &format!("data: {PROGRESS}\n\ndata: {WORKED}\n\n"));
            false
        }
        _ if request.body.contains("fail") => respond(client, "503 Service Unavailable", "", ""),
        _ => respond(client, "200 OK", "", ""),
    })
}

/// `mcpreel mock RECORDING --listen 0`.
struct Served {
    child: Child,
    said: Option<Collected>,
    port: u16,
}

impl Served {
    fn start(library: &Library, recording: &str, more: &[&str]) -> Self {
        let mut command = library.mcpreel("mock");
        command.arg(recording).args(["--listen", "0"]).args(more);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let said = Collected::from(child.stderr.take().unwrap());
        let port = wait_for("the mock to say where it listens", || {
            let said = String::from_utf8(said.so_far()).unwrap();
            let (_, behind) = said.split_once("http://127.0.0.1:")?;
            behind.split_once('/')?.0.parse().ok()
        });
        let said = Some(said);
        Self { child, said, port }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Sends a request, and does not wait for what comes.
    fn send(&self, line: &str, head: &str, body: &str) -> TcpStream {
        let mut client = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let host = if head.contains("Host: ") {
            String::new()
        } else {
            format!("Host: 127.0.0.1:{}\r\n", self.port)
        };
        let head = format!("Connection: close\r\n{head}");
        let length = body.len();
        let request =
            format!("{line} HTTP/1.1\r\n{host}{head}Content-Length: {length}\r\n\r\n{body}");
        client.write_all(request.as_bytes()).unwrap();
        client
    }

    /// What comes for a request.
    fn ask(&self, line: &str, head: &str, body: &str) -> String {
        read(&self.send(line, head, body))
    }

    /// Begins a session: the header that names it.
    fn begin(&self) -> String {
        let answer = self.ask("POST /mcp", "", CLIENT[0]);
        let mut lines = answer.lines();
        let session = lines.find(|line| line.starts_with("Mcp-Session-Id: "));
        format!("{}\r\n", session.unwrap())
    }

    fn end(mut self) -> (ExitStatus, String) {
        send(Signal::SIGTERM, self.child.id());
        let status = self.child.wait().unwrap();
        let said = self.said.take().unwrap().whole();
        (status, String::from_utf8(said).unwrap())
    }
}

/// A test that fails leaves none behind.
impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a response: to its end, or to that of the connection.
fn read(mut client: &TcpStream) -> String {
    let mut answer = Vec::new();
    // A connection that is reset has said what it had to say.
    let _ = client.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

/// A recording over HTTP, made by `run --url`; the recording of the host's side is `a`.
fn recorded(library: &Library, server: &HttpServer) {
    converse(library, &["run", "--name", "a", "--url", &server.url]);
}

#[test]
fn a_recording_is_served_over_http_as_over_stdio_whatever_it_was_recorded_over() {
    let library = Library::new();
    recorded(&library, &server());
    for recording in ["a", "a-http"] {
        let over_stdio = converse(&library, &["mock", recording]);
        let lines: Vec<_> = over_stdio.lines().collect();
        assert_eq!((lines[1], lines[2]), (PROGRESS, WORKED));
        assert!(lines[3].contains("HTTP 503"), "{}", lines[3]);
        let served = Served::start(&library, recording, &["--assert-all-used"]);
        let over_http = converse(&library, &["run", "--name", "b", "--url", &served.url()]);
        let sorted = |text: &str| {
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&over_http), sorted(&over_stdio), "{recording}");
        let (status, said) = served.end();
        assert_eq!(status.code(), Some(0), "{said}");
        assert!(said.contains("3 of 3 recorded requests used"), "{said}");
    }
}

/// Once the second session was answered from the recording of the first.
#[test]
fn all_sessions_are_answered_from_the_recording_that_was_the_newest() {
    let library = Library::new();
    recorded(&library, &server());
    let served = Served::start(&library, "@", &[]);
    for name in ["b", "c"] {
        let said = converse(&library, &["run", "--name", name, "--url", &served.url()]);
        assert!(said.contains(WORKED), "{said}");
    }
    served.end();
    // The newest is one of these sessions now, which is said.
    let said = text(&library.mcpreel("why").output().unwrap());
    assert!(said.contains(", a session with a mock of"), "{said}");
}

/// Once the first word that equals the recording's name was replaced, and an option stood behind `--`.
#[test]
fn a_recording_that_is_named_like_the_command_is_served_from_its_busiest_conversation() {
    let library = Library::new();
    let proxy = Proxy::start(&library, &server().url, &["--name", "mock"]);
    let idle = CLIENT[0].replace("host", "idle");
    let length = idle.len();
    let head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json";
    proxy.ask(format!("{head}\r\nContent-Length: {length}\r\n\r\n{idle}"));
    let url = format!("http://{}/mcp", proxy.authority());
    converse(&library, &["run", "--name", "b", "--url", &url]);
    proxy.end();
    let served = Served::start(&library, "mock", &["--"]);
    let said = converse(&library, &["run", "--name", "c", "--url", &served.url()]);
    let (status, told) = served.end();
    assert!(said.contains(WORKED), "{said}: {told}");
    assert!(status.success(), "{told}");
}

#[test]
fn all_clients_are_named_and_which_of_them_is_served() {
    let library = Library::new();
    let begin = |name| CLIENT[0].replace("host", name);
    let session = |n: u32, name: &str, lines: &[String]| {
        let line = |line: &String| {
            format!("{n}> POST /mcp\n{n}> Mcp-Session-Id: {name}\n{n}>\n{n}> {line}\n{n}< 202\n")
        };
        lines.iter().map(line).collect::<String>()
    };
    let case = session(1, "idle", &[begin("idle")])
        + &session(2, "busy", &[begin("busy"), CLIENT[2].to_owned()]);
    let recording = wire::told(library.path(), &case);
    let mut mock = library.mcpreel("mock");
    let ran = mock
        .arg(recording.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = text(&ran);
    assert!(
        told.contains("conversation 2 (busy 1, 2 requests) is served"),
        "{told}"
    );
    assert!(told.contains("another: 1 (idle 1, 1 request)"), "{told}");
    let shown = library.mcpreel("show").arg(recording.path()).output();
    let shown = text(&shown.unwrap());
    assert!(shown.contains("2 clients: idle 1, busy 1"), "{shown}");
}

#[test]
fn what_does_not_hold_at_the_end_of_a_session_is_the_exit_code() {
    let library = Library::new();
    recorded(&library, &server());
    let served = Served::start(&library, "a", &["--assert-all-used"]);
    let answer = served.ask("POST /mcp", "", CLIENT[0]);
    assert!(answer.contains("serverInfo"), "{answer}");
    let (status, said) = served.end();
    assert_eq!(status.code(), Some(6), "{said}");
}

#[test]
fn web_pages_foreign_names_and_unknown_sessions_are_refused() {
    let library = Library::new();
    recorded(&library, &server());
    let served = Served::start(&library, "a", &[]);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (line, head, body, status) in [
        (
            "POST /mcp",
            "Origin: http://example.com\r\n",
            CLIENT[0],
            403,
        ),
        ("POST /mcp", "Host: example.com\r\n", CLIENT[0], 403),
        (
            "POST /mcp",
            "Origin: http://localhost:6274\r\n",
            CLIENT[0],
            200,
        ),
        ("POST /mcp", "Mcp-Session-Id: unknown\r\n", ping, 404),
        ("POST /mcp", "", ping, 400),
        ("POST /mcp", "", "no JSON", 400),
        ("DELETE /mcp", "Mcp-Session-Id: unknown\r\n", "", 404),
        ("GET /mcp", "Accept: text/event-stream\r\n", "", 405),
        ("POST /mcp/?a=b", "", CLIENT[0], 200),
        ("POST /other", "", CLIENT[0], 404),
        ("GET /.well-known/oauth-protected-resource", "", "", 404),
        ("PUT /mcp", "", "", 405),
    ] {
        let answer = served.ask(line, head, body);
        let begins = format!("HTTP/1.1 {status} ");
        assert!(answer.starts_with(&begins), "{line} {head}{body}: {answer}");
    }
    for address in ["0.0.0.0:0", "[::]:0"] {
        let mut mock = library.mcpreel("mock");
        let refused = mock.args(["a", "--listen", address]).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    }
}

#[test]
fn a_recorded_path_is_served_and_no_other() {
    let library = Library::new();
    recorded(&library, &server_at("/tools/mcp?key=1"));
    let served = Served::start(&library, "a-http", &[]);
    let answer = served.ask("POST /tools/mcp", "", CLIENT[0]);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let answer = served.ask("POST /mcp", "", CLIENT[0]);
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    assert!(answer.contains("/tools/mcp"), "{answer}");
    let said = served.end().1;
    assert!(said.contains("/tools/mcp into your host"), "{said}");
}

/// Once nothing came: an error without an id belongs to nobody, and what is lost has no answer.
#[test]
fn a_request_that_was_lost_or_refused_without_its_id_is_answered() {
    let library = Library::new();
    let call =
        |id: u32| format!("> POST /mcp\n>\n> request {id} tools/call {{\"name\":\"work{id}\"}}\n");
    let case = [
        "> POST /mcp\n>\n> request 0 initialize {\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}\n\
         < 200\n< Content-Type: application/json\n<\n\
         < result 0 {\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}\n",
        &call(1),
        "< 400\n< Content-Type: application/json\n<\n\
         < {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000,\"message\":\"no session\"}}\n",
        &call(2),
        "< 200\n< Content-Type: text/event-stream\n<\n< id 7\nclose server\n",
    ];
    drop(crate::wire::told(library.path(), &case.concat()));
    let recording = library.path().join("a.reel");
    let served = Served::start(&library, recording.to_str().unwrap(), &[]);
    let session = served.begin();
    for (id, told) in [(1, "no session"), (2, "HTTP 200 without an answer")] {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"work{id}"}}}}"#,
            id + 10
        );
        let client = served.send("POST /mcp", &session, &call);
        client
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let answer = read(&client);
        assert!(answer.contains(told), "{answer}");
        assert!(answer.contains(&format!("\"id\":{}", id + 10)), "{answer}");
    }
}

/// Once they were lost without a word.
#[test]
fn what_nobody_listens_for_is_lost_with_one_word_and_counted() {
    let library = Library::new();
    let script = format!(
        "read l; echo '{INITIALIZED}'; read l; i=0; while test $i -lt 300; do i=$((i+1)); \
         echo '{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"level\":\"info\",\"data\":'$i'}}}}'; \
         done; cat > /dev/null"
    );
    let host = begin(&library, &["run", "--name", "a", "--", "sh", "-c", &script]);
    host.send(&said(&CLIENT[..2]));
    wait_for("all", || (host.out.lines() == 301).then_some(()));
    host.end();
    let served = Served::start(&library, "a", &[]);
    let head = served.begin() + "Accept: text/event-stream\r\n";
    served.ask("POST /mcp", &head, CLIENT[1]);
    wait_for("a word about it", || {
        let said = served.said.as_ref().unwrap().so_far();
        String::from_utf8(said)
            .unwrap()
            .contains("lost")
            .then_some(())
    });
    let mut stream = served.send("GET /mcp", &head, "");
    let (mut got, mut bytes) = (String::new(), [0; 4096]);
    // What is read may end anywhere in a message.
    while got.matches("}}\n").count() < 256 {
        let read = stream.read(&mut bytes).unwrap();
        assert!(read > 0, "{got}");
        got += &String::from_utf8_lossy(&bytes[..read]);
    }
    for first_and_last in ["\"data\":1}", "\"data\":256}"] {
        assert!(got.contains(first_and_last), "the first are kept: {got}");
    }
    // Once it was said for each session, and not how many there were.
    let head = served.begin();
    served.ask("POST /mcp", &head, CLIENT[1]);
    wait_for("all messages of the second session", || {
        let all = library.json(&["ls"]);
        let is_whole = |it: &serde_json::Value| it["frames"].as_u64() >= Some(303);
        (all.len() == 3 && all.iter().all(is_whole)).then_some(())
    });
    let (status, said) = served.end();
    assert_eq!(status.code(), Some(0), "{said}");
    let said: Vec<_> = said.lines().filter(|line| line.contains("lost")).collect();
    assert_eq!(
        said.len(),
        2,
        "once at the first, once at the end: {said:?}"
    );
    let number = said[1].trim_start_matches("mcpreel: ").split(' ').next();
    let number = number.and_then(|number| number.parse::<u32>().ok());
    // All 44 of the second session, and those that came in the first one before the stream.
    assert!(matches!(number, Some(45..=88)), "{said:?}");
}

/// A shell without job control ignores SIGINT for whatever `&` starts.
#[test]
fn ctrl_c_ends_who_offers_it_even_where_it_was_ignored() {
    let library = Library::new();
    recorded(&library, &server());
    let (_, url) = later_upstream();
    for arguments in [&["proxy", &url][..], &["mock", "a"]] {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "trap '' INT; exec \"$@\"", "sh"]);
        command.args([crate::support::MCPREEL]).args(arguments);
        command.args(["--listen", "127.0.0.1:0"]);
        command.env("MCPREEL_DIR", library.path());
        let mut running = Proxy::run(command);
        send(Signal::SIGINT, running.child.id());
        let ended = wait_for("its end", || running.child.try_wait().unwrap());
        assert!(ended.success(), "{arguments:?}");
    }
}

#[test]
fn a_server_that_crashed_cuts_its_answer_and_loses_the_session() {
    let library = Library::new();
    recorded(&library, &server());
    let served = Served::start(&library, "a", &["--fault", "tool:work -> crash"]);
    let [session, other] = [(); 2].map(|()| served.begin());
    let answer = served.ask("POST /mcp", &session, CLIENT[2]);
    assert!(!answer.contains("\"id\":1"), "{answer}");
    wait_for("the session to be lost", || {
        let answer = served.ask("POST /mcp", &session, CLIENT[2]);
        answer.starts_with("HTTP/1.1 404 ").then_some(())
    });
    let answer = served.ask("POST /mcp", &other, CLIENT[3]);
    assert!(
        answer.contains("HTTP 503"),
        "another session goes on: {answer}"
    );
}

#[test]
fn two_clients_of_the_modern_era_may_use_one_id_at_once() {
    let library = Library::new();
    recorded(&library, &server());
    let served = Served::start(&library, "a", &["--latency", "fixed:300ms"]);
    let modern = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    let calls = ["work", "fail"].map(|tool| {
        let params = format!(r#"{{"name":"{tool}",{modern}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
    });
    let clients = calls.map(|call| served.send("POST /mcp", "", &call));
    let [worked, failed] = clients.map(|client| read(&client));
    assert!(worked.ends_with(WORKED), "{worked}");
    assert!(failed.contains("HTTP 503"), "{failed}");
}

#[test]
fn a_network_recording_is_replayed_to_a_url_or_to_a_command() {
    let library = Library::new();
    let server = server();
    recorded(&library, &server);
    let replay = |more: &[&str]| {
        let mut replay = library.mcpreel("replay");
        replay.arg("a-http").arg("--allow-side-effects").args(more);
        replay.output().unwrap()
    };
    let refused = replay(&[]);
    let told = text(&refused);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains(&format!("--url {}", server.url)), "{told}");
    let mcpreel = crate::support::MCPREEL;
    for target in [
        &["--url", &*server.url][..],
        &["--", mcpreel, "mock", "a-http"],
    ] {
        let replayed = replay(target);
        let told = text(&replayed);
        assert!(told.contains("3 of 3 requests sent"), "{told}");
        // What the recording has no answer to is answered with an error that says so.
        assert!(replayed.status.success(), "{told}");
        assert!(told.contains("2 of them the same"), "{told}");
    }
    let (_, nobody) = later_upstream();
    let wants_token = HttpServer::start("/mcp", |_, client| {
        respond(client, "401 Unauthorized", "", "")
    });
    for (url, why) in [
        (&nobody, "nothing listens there"),
        (&wants_token.url, "HTTP 401"),
    ] {
        let lost = replay(&["--url", url]);
        let told = text(&lost);
        assert!(told.contains(why), "{told}");
        assert_eq!(lost.status.code(), Some(4), "{told}");
    }
    let other = replay(&["--url", &server.url, "--conversation", "9"]);
    assert_eq!(other.status.code(), Some(2), "{}", text(&other));
}
