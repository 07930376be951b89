//! What happens in the sessions of the [fixtures](crate::fixture).

use crate::fixture::MS;
use crate::support::written::Session;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;

/// Each part in its order. Long-running calls stay open at the end.
pub fn whole(session: &mut Session) {
    opening(session);
    forecast(session, 1_204, 3);
    quota(session);
    resource(session);
    question(session);
    unknown_tool(session);
    cancellations(session);
    long_report(session);
    hostile(session);
    strange(session);
    still_open(session);
}

/// The server comes up.
pub fn start(session: &mut Session) {
    session.at(MS / 2).event(&EventKind::Spawned { pid: 4711 });
    stderr(session, 21, "weather-server 1.4 listening on stdio");
}

/// The handshake and the lists.
pub fn opening(session: &mut Session) {
    opening_with(session, TOOLS);
}

/// The same session with a server that takes less and says other things.
pub fn again(session: &mut Session) {
    let narrower = TOOLS.replace(
        r#""limit":{"type":"integer"}}}"#,
        r#""limit":{"type":"integer"}},"required":["limit"]}"#,
    );
    opening_with(session, &narrower);
    forecast_of(session, 1_204, 3, "Rain, +1 °C");
    quota(session);
    resource(session);
    unknown_tool(session);
    long_report(session);
}

/// A call that a mock has nothing for.
pub fn missed(session: &mut Session) {
    say(
        session,
        r#"
300 > {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search_docs","arguments":{"q":"rust sync","limit":10}}}
302 < {"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"not on record: tools/call search_docs","data":{"reason":"params","phase":"ready","candidates":3,"nearest":[{"recording":"b02c77e0","seq":11,"distance":2,"paths":["params.arguments.q","params.arguments.filters"]},{"recording":"b02c77e0","seq":17,"distance":12,"paths":["params.arguments.q"]}]}}}
"#,
    );
}

fn opening_with(session: &mut Session, tools: &str) {
    start(session);
    say(
        session,
        r#"
25 > {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"elicitation":{}},"clientInfo":{"name":"claude-code","title":"Claude Code","version":"2.1"}}}
38 < {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{}},"serverInfo":{"name":"weather-server","version":"1.4"},"instructions":"Ask for one city at a time."}}
39 > {"jsonrpc":"2.0","method":"notifications/initialized"}
41 > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}
"#,
    );
    answer(session, 44, tools);
    say(
        session,
        r#"
46 > {"jsonrpc":"2.0","id":2,"method":"resources/list","params":{}}
48 < {"jsonrpc":"2.0","id":2,"result":{"resources":[{"uri":"file:///srv/weather/stations/north/list.md","name":"stations"}]}}
"#,
    );
}

const TOOLS: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"get_forecast","title":"Forecast","description":"The weather of the next days.","inputSchema":{"type":"object","properties":{"city":{"type":"string","description":"Name of the city"},"days":{"type":"integer","minimum":1,"maximum":14}},"required":["city"]}},{"name":"search_docs","inputSchema":{"type":"object","properties":{"q":{"type":"string"},"limit":{"type":"integer"}}}},{"name":"plan_trip","inputSchema":{"type":"object"}},{"name":"watch_storm","inputSchema":{"type":"object"}},{"name":"yearly_report","inputSchema":{"type":"object"}},{"name":"never_called","inputSchema":{"type":"object"}}]}}"#;

/// Calls whose messages break the rules in several places, further in and at their top.
pub fn broken(session: &mut Session) {
    forecast(session, 900, 29);
    say(
        session,
        r#"
1000 > {"jsonrpc":"2.0","id":30,"method":"tools/call","params":{"name":"search_docs","arguments":"rust","_meta":{"progressToken":{"odd key":1}}}}
1040 < {"jsonrpc":"2.0","id":30,"result":{"content":[{"type":"text"},{"type":"image","data":7,"mimeType":"image/png"},{"type":"resource","resource":{"uri":"file:///srv/a.md","text":{"a":{"b":{"c":{"d":["a long text that is not one"]}}}}}}],"isError":"yes"}}
1100 > {"jsonrpc":"2.0","id":31,"method":"tools/call"}
1150 < {"jsonrpc":"2.0","id":31,"result":7,"result":7}
1200 > {"jsonrpc":"2.0","id":32,"method":"ping","method":"ping"}
"#,
    );
    answer(session, 1_201, r#"{"jsonrpc":"2.0","id":32,"result":{}}"#);
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
    say(session, &lines);
}

/// A call that fails in the tool, with progress and a warning on the way.
fn quota(session: &mut Session) {
    for (id, t) in [(4, 2_000), (5, 2_900)] {
        ask(
            session,
            t,
            &format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"search_docs","arguments":{{"q":"rust async","limit":10,"filters":{{"lang":["en","nb"],"since":null}}}},"_meta":{{"progressToken":"p{id}"}}}}}}"#
            ),
        );
        for (after, done, what) in [(120, 20, "fetching"), (400, 40, "indexing")] {
            answer(
                session,
                t + after,
                &format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"p{id}","progress":{done},"total":100,"message":"{what}"}}}}"#
                ),
            );
        }
        log(
            session,
            t + 700,
            "warning",
            "search",
            "94 % of the quota is used",
        );
        stderr(session, t + 830, "quota: 429 from api.example.com");
        answer(
            session,
            t + 842,
            &format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"quota exceeded: 100 of 100 requests used today"}}],"isError":true}}}}"#
            ),
        );
    }
}

fn resource(session: &mut Session) {
    say(
        session,
        r##"
4000 > {"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"file:///srv/weather/stations/north/list.md"}}
4012 < {"jsonrpc":"2.0","id":6,"result":{"contents":[{"uri":"file:///srv/weather/stations/north/list.md","mimeType":"text/markdown","text":"# Stations\n\n* Tromsø\n* Bodø\n"}]}}
"##,
    );
}

/// The server asks the user in the middle of a call; the time is the client's.
fn question(session: &mut Session) {
    say(
        session,
        r#"
5000 > {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"plan_trip","arguments":{"from":"Oslo","to":"Bergen"}}}
5100 < {"jsonrpc":"2.0","id":"ask-1","method":"elicitation/create","params":{"message":"On which day?","requestedSchema":{"type":"object","properties":{"day":{"type":"string"}}}}}
7200 > {"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept","content":{"day":"Friday"}}}
7250 < {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"Friday: take the 08:25."}]}}
"#,
    );
}

fn unknown_tool(session: &mut Session) {
    say(
        session,
        r#"
7500 > {"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"get_tides","arguments":{}}}
7503 < {"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"Unknown tool: get_tides"}}
"#,
    );
}

/// One is answered all the same, one never.
fn cancellations(session: &mut Session) {
    for (id, t, city) in [(9, 8_000, "Bergen"), (10, 9_000, "Ålesund")] {
        let end = t + 600;
        let lines = format!(
            r#"
{t} > {{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"watch_storm","arguments":{{"city":"{city}"}}}}}}
{end} > {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"the user pressed Esc"}}}}
"#
        );
        say(session, &lines);
    }
    answer(
        session,
        9_700,
        r#"{"jsonrpc":"2.0","id":9,"result":{"content":[]}}"#,
    );
}

/// Slow, and its result is big.
fn long_report(session: &mut Session) {
    say(
        session,
        r#"
10000 > {"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"yearly_report","arguments":{"year":2025}}}
"#,
    );
    let days: Vec<_> = (1..=1200)
        .map(|day| format!(r#"{{"day":{day},"low":{}.5,"sky":"clouds"}}"#, day % 17))
        .collect();
    answer(
        session,
        12_400,
        &format!(
            r#"{{"jsonrpc":"2.0","id":11,"result":{{"content":[{{"type":"text","text":"see below"}}],"structuredContent":{{"days":[{}]}}}}}}"#,
            days.join(",")
        ),
    );
}

/// Text that would do something to a terminal, and text that is wider or narrower than it seems.
fn hostile(session: &mut Session) {
    ask(
        session,
        13_000,
        "{\"jsonrpc\":\"2.0\",\"id\":12,\"method\":\"tools/call\",\"params\":{\"name\":\"get_forecast\",\"arguments\":{\
         \"city\":\"東京都千代田区\",\"note\":\"👩‍👩‍👧‍👦 e\u{301} السلام\",\"file\":\"\u{202e}gnp.exe\",\
         \"clear\":\"\\u001b[2J\\u001b]0;owned\\u0007\",\"zero\":\"a\u{200b}b\"}}}",
    );
    say(
        session,
        r#"
13080 < {"jsonrpc":"2.0","id":12,"result":{"content":[{"type":"text","text":"曇り ☁️ 12 °C"}]}}
"#,
    );
    session.at(13_200 * MS).chunk(
        StreamId::STDERR,
        b"\x1b[31mERROR\x1b[0m \x1b]0;owned\x07 caf\xe9 \xff\n",
    );
}

/// Noise, a batch, a run of the same notification, an answer to nobody.
fn strange(session: &mut Session) {
    answer(
        session,
        14_000,
        "Debugger listening on ws://127.0.0.1:9229/0f2c936f",
    );
    say(
        session,
        r#"
14500 > [{"jsonrpc":"2.0","id":13,"method":"ping"},{"jsonrpc":"2.0","id":14,"method":"prompts/list"}]
14504 < [{"jsonrpc":"2.0","id":13,"result":{}},{"jsonrpc":"2.0","id":14,"result":{"prompts":[]}}]
"#,
    );
    for nth in 0..37 {
        log(
            session,
            15_000 + nth * 10,
            "debug",
            "poll",
            "no change at station 7",
        );
    }
    say(
        session,
        r#"
15800 < {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
"#,
    );
    answer(session, 16_000, r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
}

/// Two calls that are not answered, one with progress.
fn still_open(session: &mut Session) {
    say(
        session,
        r#"
18000 > {"jsonrpc":"2.0","id":20,"method":"tools/call","params":{"name":"search_docs","arguments":{"q":"everything"},"_meta":{"progressToken":"p20"}}}
19000 < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p20","progress":3,"total":10,"message":"page 3 of 10"}}
20000 > {"jsonrpc":"2.0","id":"abc","method":"resources/read","params":{"uri":"file:///srv/weather/archive/2024/measurements/with/a/long/path/raw.csv"}}
"#,
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

/// Lines of the client (`>`) and the server (`<`), each after its time in milliseconds.
fn say(session: &mut Session, lines: &str) {
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let (ms, said) = line.split_once(' ').expect("a line has a time");
        let ms = ms.parse().expect("the time is a number");
        match said.split_at(2) {
            ("> ", json) => ask(session, ms, json),
            (_, json) => answer(session, ms, json),
        }
    }
}

fn ask(session: &mut Session, ms: u64, line: &str) {
    send(session, ms, StreamId::C2S, line);
}

fn answer(session: &mut Session, ms: u64, line: &str) {
    send(session, ms, StreamId::S2C, line);
}

fn stderr(session: &mut Session, ms: u64, line: &str) {
    send(session, ms, StreamId::STDERR, line);
}

fn log(session: &mut Session, ms: u64, level: &str, logger: &str, data: &str) {
    let line = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{level}","logger":"{logger}","data":"{data}"}}}}"#
    );
    answer(session, ms, &line);
}

fn send(session: &mut Session, ms: u64, stream: StreamId, line: &str) {
    let line = format!("{line}\n");
    session.at(ms * MS).chunk(stream, line.as_bytes());
}
