//! What an editor keeps, which no connection shows.

use super::super::upstream::Upstream;
use super::*;
use std::sync::Mutex;

fn settings() -> Arc<Settings> {
    Arc::new(Settings {
        upstream: Upstream::parse("http://127.0.0.1:3000/mcp").unwrap(),
        tls: None,
        ours: vec!["127.0.0.1:7339".to_owned()],
        keep_host: false,
        added: Vec::new(),
        credentials: None,
        recorded_edits: Mutex::default(),
    })
}

/// Once each request without a response was kept.
#[test]
fn requests_without_responses_are_kept_up_to_a_number_and_pass() {
    let [mut up, mut down] = Editor::pair(&settings());
    let request = b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:7339\r\n\r\n";
    for _ in 0..2 * MAX_WAITING {
        let passed = up.pass(request).unwrap().forwarded;
        let passed = String::from_utf8(passed).unwrap();
        assert_eq!(passed, "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:3000\r\n\r\n");
    }
    let kept = up.waiting.borrow().as_ref().map_or(0, VecDeque::len);
    assert!(kept <= MAX_WAITING, "{kept}");
    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    for _ in 0..2 * MAX_WAITING {
        let passed = down.pass(response);
        assert!(passed.is_none_or(|it| it.forwarded == response));
    }
}
