//! The sample recordings can be read, and say what their README says.

use crate::support::Library;
use serde_json::Value;

/// The objects that `mcpreel show recordings/NAME.reel ARGS --json` prints.
fn show(name: &str, args: &[&str]) -> Vec<Value> {
    let path = format!("{}/recordings/{name}.reel", env!("CARGO_MANIFEST_DIR"));
    Library::new().json(&[&["show", &path], args].concat())
}

/// The session as the summary tells it.
fn session(name: &str) -> Value {
    let summary = show(name, &[]).remove(0);
    assert_eq!(summary["state"], "complete");
    summary["session"].clone()
}

/// Method, name and status of every exchange.
fn exchanges(name: &str) -> Vec<[String; 3]> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let exchanges = show(name, &["--exchanges"]);
    exchanges
        .iter()
        .map(|e| [word(&e["method"]), word(&e["name"]), word(&e["status"])])
        .collect()
}

/// The rules that found something wrong; what is only worth knowing is no fault of a session.
fn findings(name: &str) -> Vec<String> {
    let findings = show(name, &["--findings"]);
    findings
        .iter()
        .filter(|f| f["severity"] != "note")
        .map(|f| f["rule"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_well_behaved_session_has_nothing_wrong() {
    let session = session("well-behaved");
    assert_eq!(session["server"]["name"], "mcp-servers/everything");
    assert_eq!(session["version_agreed"], "2025-11-25");
    assert_eq!(findings("well-behaved"), [""; 0]);
    let exchanges = exchanges("well-behaved");
    assert_eq!(exchanges.len(), 6);
    assert!(
        exchanges.iter().all(|[_, _, status]| status == "ok"),
        "{exchanges:?}"
    );
}

#[test]
fn the_crash_loses_the_call_and_keeps_the_last_words() {
    let lost = exchanges("crash").pop().expect("there are exchanges");
    assert_eq!(lost, ["tools/call", "transfer", "lost"]);
    let exit = show("crash", &["--events"])
        .into_iter()
        .find(|e| e["kind"] == "exit");
    assert_eq!(exit.expect("the exit is on record")["signal"], "SIGSEGV");
    let frames = show("crash", &["--frames"]);
    let last_words = "ledger: assertion failed: journal is locked\n";
    assert!(
        frames
            .iter()
            .any(|f| f["stream"] == "stderr" && f["text"] == last_words)
    );
    assert_eq!(findings("crash"), ["process-died-in-flight"]);
}

#[test]
fn the_noise_on_stdout_is_found_and_the_calls_are_paired_all_the_same() {
    assert_eq!(findings("noisy-stdout"), ["frame-not-json"; 3]);
    let statuses: Vec<_> = exchanges("noisy-stdout")
        .into_iter()
        .map(|[_, _, s]| s)
        .collect();
    assert_eq!(statuses, ["ok", "ok", "ok", "ok", "tool-error"]);
}

#[test]
fn the_modern_session_has_no_handshake() {
    let exchanges = show("modern", &["--exchanges"]);
    assert!(exchanges.iter().all(|exchange| exchange["era"] == "modern"));
    assert_eq!(exchanges[0]["method"], "server/discover");
    assert_eq!(session("modern")["version_agreed"], "2026-07-28");
}
