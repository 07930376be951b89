//! Credentials pass, and their text is nowhere in the recording.

use crate::edits::answer_in;
use crate::support::Library;
use crate::support::pieces::Pieces;
use crate::support::proxy::{Proxy, upstream};
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::path::PathBuf;

/// A value that can be found again; `n` tells them apart.
fn secret(n: u32) -> String {
    format!("s3cr3t-{n}-of-a-length-that-tokens-have")
}

/// All bytes of the folder, so that nothing can hide in a file beside the recording.
fn on_disk(library: &Library) -> Vec<u8> {
    let files: Vec<PathBuf> = ["reel", "spool"]
        .iter()
        .flat_map(|it| library.files(it))
        .collect();
    let wal = library.files("reel-wal");
    let files = files.iter().chain(&wal);
    // The indexer may be done with one meanwhile, and delete it.
    files
        .filter_map(|file| std::fs::read(file).ok())
        .flatten()
        .collect()
}

/// A client that goes through OAuth, with a server, each writing pieces of this length. Returns how many
/// of its secrets are in the recording, and whether the id of its session is.
fn session(library: &Library, more: &[&str], length: usize) -> [u32; 2] {
    let (listener, url) = upstream();
    let added = format!("X-Api-Key: {}", secret(1));
    let mut more = more.to_vec();
    more.extend(["--header", &added]);
    let proxy = Proxy::start(library, &format!("{url}/mcp?token={}", secret(2)), &more);
    let host = proxy.authority();
    let form = format!(
        "grant_type=authorization_code&code={}&code_verifier={}&client_secret={}",
        secret(3),
        secret(4),
        secret(5)
    );
    let token = format!(
        r#"{{"access_token":"{}","refresh_token":"{}","token_type":"Bearer","expires_in":3600}}"#,
        secret(6),
        secret(7)
    );
    let client = format!(
        r#"{{"client_id":"c","client_secret":"{}","registration_access_token":"{}"}}"#,
        secret(8),
        secret(9)
    );
    let json = |status: u16, body: &str| {
        let length = body.len();
        format!(
            "HTTP/1.1 {status} It\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    };
    let asked = [
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nDPoP: {}\r\n\
             Proxy-Authorization: Basic {}\r\nCookie: a={}; b={}\r\nMcp-Session-Id: session-1\r\n\
             Content-Length: 2\r\n\r\n{{}}",
            secret(6),
            secret(10),
            secret(11),
            secret(12),
            secret(13)
        ),
        format!(
            "POST /token HTTP/1.1\r\nHost: {host}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
            form.len()
        ),
        format!(
            "POST /register HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
        ),
        format!(
            "GET /callback?code={}&state={}&x=y HTTP/1.1\r\nHost: {host}\r\n\
             Referer: http://{host}/?access_token={}\r\n\r\n",
            secret(14),
            secret(15),
            secret(16)
        ),
    ];
    let answers = [
        format!(
            "HTTP/1.1 200 OK\r\nSet-Cookie: sid={}; Path=/; HttpOnly\r\nContent-Length: 0\r\n\r\n",
            secret(17)
        ),
        json(200, &token),
        json(201, &client),
        format!(
            "HTTP/1.1 302 Found\r\nLocation: {url}/cb?code={}#access_token={}\r\n\
             Content-Length: 0\r\n\r\n",
            secret(18),
            secret(19)
        ),
    ];
    let server = answer_in(
        listener,
        Pieces::of_length(length, answers.concat().as_bytes()),
    );
    let received = proxy.ask_in(&Pieces::of_length(length, asked.concat().as_bytes()));
    let theirs = server.join().unwrap();
    let passed = [theirs, received].concat();
    for n in (1..=19).filter(|n| *n != 2) {
        assert!(passed.contains(&secret(n)), "{n} passes");
    }
    proxy.end();
    // Whoever reads the recording first completes it.
    library.json(&["show", "@"]);
    let disk = on_disk(library);
    let count = |text: &str| u32::try_from(memchr::memmem::find_iter(&disk, text).count()).unwrap();
    [
        (1..=19).map(|n| count(&secret(n)).min(1)).sum(),
        count("session-1").min(1),
    ]
}

#[test]
fn no_credential_is_on_record_and_all_of_them_pass() {
    for length in [10_000, 7] {
        let library = Library::new();
        assert_eq!(
            session(&library, &[], length),
            [0, 1],
            "none, and the session's id"
        );
        let frames = library.json(&["show", "@", "--frames"]);
        let text: String = frames
            .iter()
            .filter_map(|frame| frame["text"].as_str())
            .collect();
        // The token that was given out is the one that was used.
        let used = text.split("Authorization: Bearer ").nth(1).unwrap();
        let token = used.split("\r\n").next().unwrap();
        assert!(
            token.starts_with("‹cred:") && token.ends_with('›'),
            "{token}"
        );
        assert!(
            text.contains(&format!(
                r#"{{"access_token":"{token}","refresh_token":"‹cred:"#
            )),
            "{text}"
        );
        assert!(text.contains(r#""token_type":"Bearer","expires_in":3600}"#));
        assert!(text.contains("grant_type=authorization_code&code=‹cred:"));
    }
}

/// Once a redacted copy had `‹secret:1›` in their place, and did not tell any more which is which.
#[test]
fn marks_stay_in_a_redacted_copy() {
    let library = Library::new();
    session(&library, &[], 10_000);
    let original = library.recordings().remove(0);
    let copy = library.path().join("copy");
    let mut redact = library.mcpreel("redact");
    redact.arg(&original).arg("-o").arg(&copy);
    assert!(redact.output().unwrap().status.success());
    let [marks, of_copy] = [&original, &copy].map(|file| {
        let frames = library.json(&["show", file.to_str().unwrap(), "--frames"]);
        let heads = frames.iter().filter_map(|frame| frame["text"].as_str());
        heads.collect::<String>()
    });
    assert!(marks.matches("‹cred:").count() > 15, "{marks}");
    // The id of a session is no credential on record, but one in what leaves.
    assert_eq!(of_copy, marks.replace("session-1", "‹secret:1›"));
}

#[test]
fn with_keep_credentials_they_are() {
    let library = Library::new();
    assert_eq!(session(&library, &["--keep-credentials"], 10_000), [19, 1]);
}

/// Once whatever ended the server's way ended the search on the client's way too.
#[test]
fn requests_are_looked_at_also_when_responses_are_not() {
    let ends = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    let contradicts = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}";
    let is_longer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}";
    for (answer, shuts) in [(ends, true), (contradicts, false), (is_longer, false)] {
        let library = Library::new();
        let (listener, url) = upstream();
        let proxy = Proxy::start(&library, &url, &[]);
        let request = |n| {
            format!(
                "GET /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
                proxy.authority(),
                secret(n)
            )
        };
        let mut client = proxy.connect();
        client.write_all(request(1).as_bytes()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        server.write_all(answer.as_bytes()).unwrap();
        if shuts {
            server.shutdown(Shutdown::Write).unwrap();
        }
        client.read_exact(&mut vec![0; answer.len()]).unwrap();
        if shuts {
            assert_eq!(client.read(&mut [0]).unwrap(), 0);
        }
        client.write_all(request(2).as_bytes()).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut passed = String::new();
        server.read_to_string(&mut passed).unwrap();
        let theirs = &url["http://".len()..];
        assert_eq!(
            passed.matches(&format!("Host: {theirs}\r\n")).count(),
            2,
            "{passed}"
        );
        drop((client, server));
        proxy.end();
        let on_disk = on_disk(&library);
        for n in 1..=2 {
            let secret = secret(n);
            let mut places = on_disk.windows(secret.len());
            assert!(!places.any(|it| it == secret.as_bytes()), "{n}: {answer}");
        }
    }
}
