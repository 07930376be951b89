//! What happens in the sessions of the [fixtures](crate::fixture): what is said stands in `story.txt`,
//! the rest is told here.

use crate::fixture::MS;
use crate::support::written::Session;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;

/// Each part in its order. Long-running calls stay open at the end.
pub fn whole(session: &mut Session) {
    opening(session);
    forecast(session, 1_204, 3);
    for name in [
        "quota",
        "resource",
        "question",
        "unknown tool",
        "cancellations",
    ] {
        session.say(part(name));
    }
    long_report(session);
    hostile(session);
    session.say(part("noise"));
    for nth in 0..37 {
        let line = r#"< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","logger":"poll","data":"no change at station 7"}}"#;
        session.say(&format!("{} {line}", 15_000 + nth * 10));
    }
    session.say(part("nobody asked"));
    session.say(part("still open"));
}

/// The server comes up.
pub fn start(session: &mut Session) {
    session.at(MS / 2).event(&EventKind::Spawned { pid: 4711 });
    session.say("21 ! weather-server 1.4 listening on stdio");
}

/// The handshake and the lists.
pub fn opening(session: &mut Session) {
    start(session);
    session.say(part("opening"));
}

/// The same session with a server that takes less and says other things.
pub fn again(session: &mut Session) {
    let narrower = part("opening").replace(
        r#""limit":{"type":"integer"}}}"#,
        r#""limit":{"type":"integer"}},"required":["limit"]}"#,
    );
    let more = r#""stations"},{"uri":"file:///srv/weather/radar","name":"radar"}]"#;
    let narrower = narrower.replace(r#""stations"}]"#, more);
    start(session);
    session.say(&narrower);
    forecast_of(session, 1_204, 3, "Rain, +1 °C");
    for name in ["quota", "resource", "unknown tool"] {
        session.say(part(name));
    }
    long_report(session);
}

/// A call that a mock has nothing for.
pub fn missed(session: &mut Session) {
    session.say(part("missed"));
}

/// Calls whose messages break the rules.
pub fn broken(session: &mut Session) {
    forecast(session, 900, 29);
    session.say(part("broken"));
}

/// A call that works.
pub fn forecast(session: &mut Session, ms: u64, id: u64) {
    forecast_of(session, ms, id, "Snow, −4 °C");
}

fn forecast_of(session: &mut Session, ms: u64, id: u64, sky: &str) {
    let end = ms + 42;
    let lines = format!(
        r#"
{ms} > {{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"get_forecast","arguments":{{"city":"Tromsø","days":3}}}}}}
{end} < {{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{sky}\nWind from the north, 12 m/s"}}],"structuredContent":{{"days":[{{"low":-7.5,"high":-4.0,"sky":"snow"}},{{"low":-6,"high":-2,"sky":"clouds"}}]}},"isError":false}}}}
"#
    );
    session.say(&lines);
}

/// Slow, and its result is big.
fn long_report(session: &mut Session) {
    let days: Vec<_> = (1..=1200)
        .map(|day| format!(r#"{{"day":{day},"low":{}.5,"sky":"clouds"}}"#, day % 17))
        .collect();
    let lines = format!(
        r#"
10000 > {{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{{"name":"yearly_report","arguments":{{"year":2025}}}}}}
12400 < {{"jsonrpc":"2.0","id":11,"result":{{"content":[{{"type":"text","text":"see below"}}],"structuredContent":{{"days":[{}]}}}}}}
"#,
        days.join(",")
    );
    session.say(&lines);
}

/// Text that would do something to a terminal, and text that is wider or narrower than it seems.
fn hostile(session: &mut Session) {
    session.say(
        "13000 > {\"jsonrpc\":\"2.0\",\"id\":12,\"method\":\"tools/call\",\"params\":{\"name\":\"get_forecast\",\"arguments\":{\
         \"city\":\"東京都千代田区\",\"note\":\"👩‍👩‍👧‍👦 e\u{301} السلام\",\"file\":\"\u{202e}gnp.exe\",\
         \"clear\":\"\\u001b[2J\\u001b]0;owned\\u0007\",\"zero\":\"a\u{200b}b\"}}}",
    );
    session.say(
        r#"13080 < {"jsonrpc":"2.0","id":12,"result":{"content":[{"type":"text","text":"曇り ☁️ 12 °C"}]}}"#,
    );
    session.at(13_200 * MS).chunk(
        StreamId::STDERR,
        b"\x1b[31mERROR\x1b[0m \x1b]0;owned\x07 caf\xe9 \xff\n",
    );
}

/// The server stops in the middle of a line, and does not read what it is sent.
pub fn hang(session: &mut Session) {
    session.at(20_500 * MS).chunk(
        StreamId::S2C,
        br#"{"jsonrpc":"2.0","id":20,"result":{"content":[{"type":"te"#,
    );
    session.at(21_000 * MS).event(&EventKind::StallBegan {
        stream: StreamId::C2S,
        bytes: 65_536,
    });
}

/// What is said in the part of this name.
fn part(name: &str) -> &'static str {
    let mut parts = include_str!("story.txt").split("\n== ");
    let part = parts.find_map(|part| part.strip_prefix(name)?.strip_prefix('\n'));
    part.unwrap_or_else(|| panic!("no part {name}"))
}
