use crate::raw;
use mcpreel_trace::exchange::ExchangeId;
use std::path::Path;

#[test]
fn look() {
    let Ok(folder) = std::env::var("RAW") else {
        return;
    };
    let mut folders: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_dir())
        .collect();
    folders.sort();
    for folder in folders {
        let dir = tempfile::tempdir().unwrap();
        let recording = raw::recording(dir.path(), Path::new(&folder));
        println!("=== {}", folder.file_name().unwrap().to_string_lossy());
        for http in recording.https(0, 1000).unwrap() {
            println!(
                "  {:>3} conn {} conv {} #{} {} rpc={} {:?} ev={} session={:?}",
                http.id,
                http.connection,
                http.conversation,
                http.request.0,
                mcpreel_share::phrases::phrases_network::http(&http),
                http.has_messages,
                http.ended,
                http.events,
                http.session.as_ref().map(|s| s.len())
            );
        }
        for exchange in recording.exchanges(ExchangeId(0), 1000).unwrap() {
            println!(
                "    #{} conv {} http {} {} {} {:?} {}",
                exchange.request.0.0,
                exchange.conversation,
                exchange.http,
                exchange.direction.as_str(),
                exchange.status.as_str(),
                exchange.code,
                exchange.summary.chars().take(80).collect::<String>()
            );
        }
        for finding in recording.findings(0).unwrap() {
            println!(
                "    {} #{:?} {}: {}",
                finding.severity,
                finding.frame.map(|s| s.0),
                finding.rule,
                finding.detail
            );
        }
        for c in recording.conversations().unwrap() {
            println!(
                "    conversation {} first #{} {:?} {:?}",
                c.id,
                c.first.0,
                c.session.client.name,
                c.session.version()
            );
        }
    }
}
