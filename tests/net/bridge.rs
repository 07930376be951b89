//! A host on pipes, in front of a server with a URL: `run --url`.

use crate::copies;
use crate::http_server::{HttpServer, Request, events, json, respond};
use crate::support::host_session::{Received, Session};
use crate::support::pieces::Pieces;
use crate::support::proxy::later_upstream;
use crate::support::terminal::Terminal;
use crate::support::{Library, MCPREEL, send, text, wait_for};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::io::Read as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}"#;
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
pub const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
pub const INITIALIZE_RESULT: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"server","version":"1"}}}"#;

/// Answers the handshake in the session `name`, and what else a session needs; `None` for the rest.
pub fn handshake(request: &Request, client: &mut TcpStream, name: &str) -> Option<bool> {
    let session = format!("Mcp-Session-Id: {name}\r\n");
    match request {
        _ if request.calls("initialize") => Some(json(client, &session, INITIALIZE_RESULT)),
        _ if request.calls("notifications/initialized") => {
            Some(respond(client, "202 Accepted", "", ""))
        }
        _ if request.line.starts_with("GET ") && request.header("last-event-id").is_none() => {
            Some(respond(client, "405 Method Not Allowed", "", ""))
        }
        _ if request.line.starts_with("DELETE ") => Some(respond(client, "200 OK", "", "")),
        _ => None,
    }
}

pub fn start(library: &Library, url: &str, more: &[&str]) -> Session {
    Session::start(&mut library.run([&["--url", url], more].concat()))
}

pub fn say(host: &Session, lines: &[&str]) {
    let lines = lines.iter().map(|line| format!("{line}\n"));
    host.send(&Pieces(vec![lines.collect::<String>().into()]));
}

/// What the host got, line by line.
pub fn lines(received: &Received) -> Vec<Value> {
    let lines = received.out.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// A load balancer knows by a cookie where the session is; once the bridge sent none back.
#[test]
fn the_cookies_of_a_server_come_back_to_it() {
    let server = HttpServer::start("/mcp", |request, client| {
        if request.calls("initialize") {
            let head = "Content-Type: application/json\r\nSet-Cookie: lb=a; Path=/; HttpOnly\r\n\
                        Set-Cookie: old=\r\n";
            return respond(client, "200 OK", head, INITIALIZE_RESULT);
        }
        handshake(request, client, "").unwrap_or_else(|| {
            let head = "Content-Type: application/json\r\nSet-Cookie: lb=; Max-Age=0\r\n";
            respond(
                client,
                "200 OK",
                head,
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            )
        })
    });
    let library = Library::new();
    let host = start(&library, &server.url, &[]);
    say(&host, &[INITIALIZE, INITIALIZED]);
    wait_for("the handshake", || {
        (server.requests().len() == 3).then_some(())
    });
    say(&host, &[PING]);
    wait_for("the answer", || (host.out.lines() == 2).then_some(()));
    say(&host, &[r#"{"jsonrpc":"2.0","method":"notifications/x"}"#]);
    host.end();
    let asked = server.requests();
    let cookie = |what: &str| {
        let request = asked.iter().find(|it| it.calls(what)).expect(what);
        request.header("cookie")
    };
    assert_eq!(cookie("initialize"), None);
    assert_eq!(cookie("ping").as_deref(), Some("lb=a"));
    assert_eq!(cookie("notifications/x"), None);
}

/// One report has both sides of the bridge whose host's side is `id`, and can be scanned as it is.
#[track_caller]
fn assert_one_report_has_both(library: &Library, id: &str) {
    let (folder, zip) = (library.path().join("both"), library.path().join("both.zip"));
    for (more, path) in [(&[][..], &folder), (&["--zip"], &zip)] {
        let mut report = library.mcpreel("report");
        let said = report.args([id, "-o"]).arg(path).args(more).output();
        let said = text(&said.unwrap());
        assert!(said.contains("network/ has the same"), "{said}");
    }
    for name in ["session.reel", "network/session.reel"] {
        let file = folder.join(name).display().to_string();
        let rows = library.json(&["show", &file, "-q", "method:ping"]);
        assert!(!rows.is_empty(), "{name}");
    }
    let scanned = library.mcpreel("redact").arg("--scan").arg(&zip).output();
    let scanned = text(&scanned.unwrap());
    assert!(scanned.contains("0 places in 10 files"), "{scanned}");
    // Where it lies without the other, the report says what it lacks.
    let host_side = library.json(&["show", id])[0]["path"].to_string();
    let elsewhere = Library::new();
    let mut report = elsewhere.mcpreel("report");
    report.current_dir(elsewhere.path());
    let said = text(&report.arg(host_side.trim_matches('"')).output().unwrap());
    let lacks = "the report lacks what went over the network";
    assert!(said.contains(lacks) && said.contains("removed"), "{said}");
}

#[test]
fn a_host_on_pipes_speaks_with_a_server_behind_a_url_and_both_sides_are_on_record() {
    let server = HttpServer::start("/mcp", |request, client| {
        if let Some(answered) = handshake(request, client, "s1") {
            return answered;
        }
        events(
            client,
            ": hello\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n\
             data: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"result\":{}}\n\n",
        );
        false
    });
    let library = Library::new();
    let mut run = library.run([
        "--url",
        &*server.url,
        "--header",
        "Authorization: Bearer ${TOKEN}",
    ]);
    let host = Session::start(run.env("TOKEN", "hunter2hunter2"));
    say(&host, &[INITIALIZE, INITIALIZED, PING]);
    let received = host.end();
    assert!(received.status.success(), "{received:?}");
    let told: Vec<_> = lines(&received);
    let ids: Vec<_> = told.iter().map(|it| it["id"].as_u64()).collect();
    assert_eq!(ids, [Some(0), None, Some(1)], "{told:?}");
    let asked = server.requests();
    let methods: Vec<_> = asked.iter().map(|it| it.line.as_str()).collect();
    assert_eq!(methods.iter().filter(|it| **it == "POST /mcp").count(), 3);
    // The stream of the server may have been asked for when all was over, and comes when it comes.
    let mut others = methods.iter().filter(|it| **it != "GET /mcp");
    assert_eq!(others.next_back(), Some(&"DELETE /mcp"));
    for (nth, request) in asked.iter().enumerate() {
        let later = |value: &str| (nth > 0).then(|| value.to_owned());
        assert_eq!(request.header("mcp-session-id"), later("s1"), "{request:?}");
        assert_eq!(request.header("mcp-protocol-version"), later("2025-06-18"));
        let token = request.header("authorization");
        assert_eq!(token.as_deref(), Some("Bearer hunter2hunter2"));
    }
    let all = crate::support::wait_for("both recordings have both calls", || {
        let all = library.json(&["ls"]);
        all.iter().all(|it| it["exchanges"] == 2).then_some(all)
    });
    let (stdio, http) = (&all[0]["name"], &all[1]["name"]);
    let listed = text(&library.mcpreel("ls").output().unwrap());
    assert!(listed.contains("└ "), "{listed}");
    for (one, other) in [(0, 1), (1, 0)] {
        let id = |at: usize| all[at]["id"].as_str().unwrap();
        let shown = library.json(&["show", id(one)]);
        assert_eq!(shown[0]["context"]["other_side"], id(other));
        let why = text(&library.mcpreel("why").arg(id(one)).output().unwrap());
        assert!(why.contains(&format!("mcpreel why {}", id(other))), "{why}");
    }
    let (this, other) = (
        all[0]["id"].as_str().unwrap(),
        all[1]["id"].as_str().unwrap(),
    );
    assert_one_report_has_both(&library, this);
    // A hit in both stands in what the host saw first.
    let hits = library.json(&["search", "initialize"]);
    let ids: Vec<_> = hits.iter().map(|hit| hit["id"].as_str()).collect();
    assert_eq!(
        [ids.first(), ids.last()],
        [Some(&Some(this)), Some(&Some(other))]
    );
    // The command is the user's, not the one by which mcpreel starts itself.
    assert_eq!(all[0]["command"][1], "run");
    let host_side = all[0]["id"].as_str().unwrap();
    let path = |name: &str| library.path().join(name).display().to_string();
    let (copy, cassette) = (path("copy.reel"), path("cassette.jsonl"));
    let reel = all[0]["path"].as_str().unwrap();
    copies::run(&["redact", reel, "-o", &copy]);
    copies::run(&["export", reel, "-o", &cassette]);
    for recording in [host_side, &copy, &cassette] {
        let shown = library.mcpreel("show").arg(recording).output();
        let shown = text(&shown.unwrap());
        let command = format!("command    mcpreel run --url {}\n", server.url);
        assert!(shown.contains(&command), "{recording}: {shown}");
        assert!(shown.contains("end        mcpreel ended with"), "{shown}");
    }
    let name = server.url.trim_start_matches("http://").replace(':', "-");
    let name = name.trim_end_matches("/mcp");
    assert_eq!(*stdio, name);
    assert_eq!(*http, format!("{name}-http"));
    for file in library.files("reel") {
        let bytes = std::fs::read(&file).unwrap();
        assert_eq!(
            memchr::memmem::find(&bytes, b"hunter2hunter2"),
            None,
            "{file:?}"
        );
    }
}

#[test]
fn a_request_without_an_answer_gets_an_error_that_says_why() {
    let server = HttpServer::start("/mcp", |request, client| {
        if let Some(answered) = handshake(request, client, "s1") {
            return answered;
        }
        let html = "Content-Type: text/html\r\n";
        match request {
            _ if request.calls("unauthorized") => respond(client, "401 Unauthorized", "", ""),
            _ if request.calls("broken") => respond(client, "502 Bad Gateway", html, "<p>nginx"),
            _ if request.calls("invalid") => {
                let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no"}}"#;
                respond(client, "400 Bad Request", "", error)
            }
            _ if request.calls("page") => {
                let html = "<h1>log in</h1>";
                respond(client, "200 OK", "Content-Type: text/html\r\n", html)
            }
            _ if request.calls("elsewhere") => {
                let location = "Location: https://example.com/login\r\n";
                respond(client, "307 Temporary Redirect", location, "")
            }
            _ if request.calls("cut") => {
                events(client, ": nothing\n\n");
                false
            }
            _ => false,
        }
    });
    let library = Library::new();
    let host = start(&library, &server.url, &[]);
    say(&host, &[INITIALIZE, INITIALIZED]);
    let cases = [
        ("unauthorized", -32000, "--header"),
        ("broken", -32000, "HTTP 502: nginx"),
        ("invalid", -32602, "no"),
        ("cut", -32000, "without a response"),
        ("page", -32000, "text/html that is no message: log in"),
        ("elsewhere", -32000, "HTTP 307 to https://example.com/login"),
        ("gone", -32000, "cannot be reached"),
    ];
    for (id, (method, ..)) in (1..).zip(cases) {
        say(
            &host,
            &[&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#
            )],
        );
    }
    let told = lines(&host.end());
    for (id, (method, code, text)) in (1..).zip(cases) {
        let answer = told.iter().find(|it| it["id"] == id).unwrap();
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(text), "{method}: {message}");
    }
    assert_eq!(told.len(), 1 + cases.len());
}

#[test]
fn an_option_of_a_url_is_refused_where_there_is_none_and_so_is_a_header_of_ours() {
    let library = Library::new();
    for words in [
        &["--header", "A: b", "--", "true"][..],
        &["--insecure", "--", "true"],
        &[
            "--url",
            "http://127.0.0.1:1/",
            "--header",
            "Content-Length: 3",
        ],
        &["--url", "http://ada:hunter2@127.0.0.1:1/"],
    ] {
        let refused = library.mcpreel("run").args(words).output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
        assert!(
            said.contains(words[0]) || said.contains("Content-Length"),
            "{said}"
        );
    }
    assert_eq!(library.files("reel").len(), 0);
}

/// Hosts keep the stderr of servers.
#[test]
fn no_refused_argument_repeats_a_password_or_a_token() {
    use std::os::unix::ffi::OsStrExt as _;
    let library = Library::new();
    for url in [
        &b"ada:hunter2@127.0.0.1:1/mcp"[..],
        b"https://ada:hunter2#3@127.0.0.1:1/mcp",
        b"https://ada:hunter2:x#3@127.0.0.1:1/mcp",
        b"ada:hunter2://@127.0.0.1:1/mcp",
        b"https://127.0.0.1:1/hunter2\xff",
    ] {
        let url = std::ffi::OsStr::from_bytes(url);
        refused_without_a_word_of_it(library.mcpreel("run").arg("--url").arg(url));
    }
    for header in [
        "Authorization: Bearer hunter2\nX: y",
        "Authorization Bearer hunter2: x",
        "Authorization=Bearer hunter2",
        "Host: hunter2",
    ] {
        let mut run = library.mcpreel("run");
        run.args(["--url", "http://127.0.0.1:1/", "--header", header]);
        refused_without_a_word_of_it(&mut run);
    }
}

fn refused_without_a_word_of_it(run: &mut std::process::Command) {
    let refused = run.output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{run:?}: {said}");
    assert!(said.starts_with("error: invalid"), "{said}");
    assert!(!said.contains("hunter"), "{said}");
}

#[test]
fn a_server_that_is_not_there_is_told_to_the_host() {
    let library = Library::new();
    let (_, url) = later_upstream();
    let host = start(&library, &url, &["--name", "a"]);
    say(&host, &[INITIALIZE]);
    let told = lines(&host.end());
    let message = told[0]["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("refused") && told[0]["id"] == 0,
        "{told:?}"
    );
    // The host's side says who answered, and nothing else that it could not know.
    let causes = library.json(&["why", "@"]);
    let causes: Vec<_> = causes.iter().map(|it| it["cause"].as_str()).collect();
    assert_eq!(causes, [Some("answered-by-bridge")]);
    // Our own 502 is not taken for that of a gateway.
    let call = &library.json(&["show", "@2", "--exchanges"])[0]["summary"];
    let call = call.as_str().unwrap();
    assert!(call.ends_with(" → 502 Bad Gateway from mcpreel"), "{call}");
    let causes = library.json(&["why", "@2"]);
    let causes: Vec<_> = causes.iter().map(|it| it["cause"].as_str()).collect();
    assert_eq!(
        causes.first(),
        Some(&Some("server-unreachable")),
        "{causes:?}"
    );
    assert!(!causes.contains(&Some("http-refused")), "{causes:?}");
}

#[test]
fn whoever_starts_it_by_hand_is_told_that_it_waits_for_a_host() {
    let library = Library::new();
    let dir = library.path().to_str().unwrap();
    let args = ["run", "--dir", dir, "--url", "http://127.0.0.1:9/"];
    let mut terminal = Terminal::start(MCPREEL, &args, &[("HOME", dir)], (120, 30));
    terminal.wait_for("`mcpreel proxy URL` records");
    terminal.press("\u{4}");
    terminal.end();
}

/// Once it was told as the end of the server, with a pointer to a recording that nobody had made.
#[test]
fn a_variable_that_a_header_uses_and_the_host_does_not_give_is_the_cause() {
    let library = Library::new();
    let header = "A: ${NO_SUCH_VARIABLE}";
    let host = start(&library, "http://127.0.0.1:9/", &["--header", header]);
    say(&host, &[INITIALIZE]);
    // A host keeps the pipe open.
    assert_eq!(host.wait().status.code(), Some(2));
    let why = text(&library.mcpreel("why").output().unwrap());
    for part in [
        "mcpreel could not",
        "the variable NO_SUCH_VARIABLE",
        "`env`",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
    assert!(!why.contains("other side"), "{why}");
}

#[test]
fn a_lost_session_is_begun_again_and_the_message_sent_again() {
    let sessions = AtomicUsize::new(0);
    let server = HttpServer::start("/mcp", move |request, client| {
        let begun = sessions.fetch_add(usize::from(request.calls("initialize")), Ordering::SeqCst);
        if let Some(answered) = handshake(request, client, &format!("s{begun}")) {
            return answered;
        }
        let is_second = request.calls("again");
        match request.header("mcp-session-id").as_deref() {
            Some("s0") => return respond(client, "404 Not Found", "", ""),
            // What the revision does not say, and servers do.
            Some("s1") if is_second => {
                return respond(client, "400 Bad Request", "", "No valid session");
            }
            _ => {}
        }
        let id = 1 + usize::from(is_second);
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        json(client, "", &answer)
    });
    let library = Library::new();
    let host = start(&library, &server.url, &[]);
    say(&host, &[INITIALIZE, INITIALIZED, PING]);
    wait_for("the first answer", || (host.out.lines() == 2).then_some(()));
    say(&host, &[r#"{"jsonrpc":"2.0","id":2,"method":"again"}"#]);
    let received = host.end();
    let told = lines(&received);
    assert_eq!(told.len(), 3, "the host sees one handshake: {told:?}");
    for (id, answer) in told.iter().enumerate() {
        assert_eq!(
            (&answer["id"], answer["result"].is_object()),
            (&id.into(), true),
            "{answer}"
        );
    }
    let said = String::from_utf8(received.err).unwrap();
    assert_eq!(said.matches("lost the session").count(), 2, "{said}");
}

#[test]
fn the_modern_era_has_its_headers_and_cancels_by_closing_the_stream() {
    let gone = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&gone);
    let server = HttpServer::start("/mcp", move |_, client| {
        // Nothing comes until the client closes the connection.
        counted.fetch_add(1, Ordering::SeqCst);
        let closed = matches!(client.read(&mut [0]), Ok(0) | Err(_));
        counted.fetch_add(usize::from(closed), Ordering::SeqCst);
        false
    });
    let library = Library::new();
    let host = start(&library, &server.url, &[]);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    say(&host, &[call]);
    wait_for("the request", || {
        (gone.load(Ordering::SeqCst) == 1).then_some(())
    });
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    say(&host, &[cancel]);
    wait_for("the end of the stream", || {
        (gone.load(Ordering::SeqCst) == 2).then_some(())
    });
    let received = host.end();
    assert!(lines(&received).is_empty());
    let [request] = &server.requests()[..] else {
        panic!("the cancel is no request: {:?}", server.requests());
    };
    for (name, value) in [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "wait"),
    ] {
        assert_eq!(request.header(name).as_deref(), Some(value));
    }
}

#[test]
fn a_server_that_has_moved_to_another_path_is_asked_there() {
    for is_absolute in [false, true] {
        let server = HttpServer::start("/mcp", move |request, client| {
            if !request.line.ends_with("/mcp/") {
                let host = request.header("host").filter(|_| is_absolute);
                let origin = host.map_or(String::new(), |host| format!("http://{host}"));
                let location = format!("Location: {origin}/mcp/\r\n");
                return respond(client, "307 Temporary Redirect", &location, "");
            }
            let answered = handshake(request, client, "s1");
            answered.unwrap_or_else(|| json(client, "", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#))
        });
        let library = Library::new();
        let host = start(&library, &server.url, &[]);
        say(&host, &[INITIALIZE, INITIALIZED, PING]);
        let told = lines(&host.end());
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[1]["id"] == 1 && told[1]["result"].is_object(),
            "{told:?}"
        );
        let asked = server.requests();
        let first = asked.iter().filter(|it| it.line == "POST /mcp").count();
        assert_eq!(first, 1, "{asked:?}");
    }
}

#[test]
fn messages_without_an_answer_reach_the_server_in_order() {
    let server = HttpServer::start("/mcp", |request, client| {
        let answered = handshake(request, client, "s1");
        answered.unwrap_or_else(|| respond(client, "202 Accepted", "", ""))
    });
    let library = Library::new();
    let host = start(&library, &server.url, &[]);
    say(&host, &[INITIALIZE, INITIALIZED]);
    let all: Vec<_> = (0..200)
        .map(|n| format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":1,"progress":{n}}}}}"#))
        .collect();
    say(&host, &all.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(host.end().status.success());
    let asked = server.requests().into_iter();
    let got: Vec<_> = asked
        .filter(|it| it.calls("notifications/progress"))
        .map(|it| it.body)
        .collect();
    assert_eq!(got, all);
}

/// A server that answers no call.
fn without_answers() -> HttpServer {
    HttpServer::start("/mcp", |request, client| {
        if let Some(answered) = handshake(request, client, "s1") {
            return answered;
        }
        let _ = client.read(&mut [0]);
        false
    })
}

fn wait_for_ping(server: &HttpServer) {
    wait_for("the call", || {
        let requests = server.requests();
        requests.iter().any(|it| it.calls("ping")).then_some(())
    });
}

/// Once the call was told to be lost because the server had ended, which lived on.
#[test]
fn a_call_under_way_when_the_bridge_is_ended_is_not_lost_by_the_server() {
    let server = without_answers();
    let library = Library::new();
    let host = start(&library, &server.url, &[]);
    say(&host, &[INITIALIZE, INITIALIZED, PING]);
    wait_for_ping(&server);
    send(Signal::SIGTERM, host.child.id());
    host.wait();
    wait_for("the row of the call", || {
        let mut show = library.mcpreel("show");
        let shown = text(&show.args(["@", "-q", "method:ping"]).output().unwrap());
        let (_, why) = shown.split_once("lost")?;
        assert!(why.contains("ping → mcpreel ended"), "{shown}");
        Some(())
    });
}

#[test]
fn a_call_that_hangs_when_the_host_has_left_gets_an_error_and_leaves_nobody_behind() {
    let server = without_answers();
    let library = Library::new();
    let mut host = start(&library, &server.url, &[]);
    say(&host, &[INITIALIZE, INITIALIZED, PING]);
    wait_for_ping(&server);
    drop(host.stdin.take());
    let received = host.wait();
    assert!(received.status.success());
    // Once the call got nothing at all.
    let told = lines(&received);
    let error = &told.iter().find(|it| it["id"] == 1).unwrap()["error"];
    assert!(error["data"]["mcpreel"].is_string(), "{told:?}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(&server.url), "{message}");
}
