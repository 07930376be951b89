//! The tools: what they are, and what they do. Each call has a thread of its own and may take its
//! time.

use super::Answer;
use super::server::{INVALID_PARAMS, Server};
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, RecvTimeoutError};

/// A line per tool: name, title, description, and its argument.
const TOOLS: &str = "\
get_forecast | Forecast | The weather of the next days in a city. | city
climate_report | Climate report | Thirty years of observations of a region in a few sentences. Slow. | region
plan_trip | Plan a trip | Asks what the traveller wants, then suggests what to pack. | city
radar_archive | Radar archive | All radar echoes of one day, as CSV. | date
watch_storm | Watch for a storm | Waits until a storm forms over a sea, for hours if need be. | sea";

pub fn list() -> Vec<Value> {
    let text = json!({"type": "string"});
    let mut tools: Vec<_> = TOOLS
        .lines()
        .map(|line| {
            let mut parts = line.split(" | ");
            let mut next = || parts.next().unwrap_or_default();
            let (name, title, description, argument) = (next(), next(), next(), next());
            json!({
                "name": name,
                "title": title,
                "description": description,
                "inputSchema": object(&json!({argument: text}), &[argument]),
                "annotations": {"readOnlyHint": true},
            })
        })
        .collect();
    let day = object(
        &json!({
            "day": text,
            "sky": text,
            "low": {"type": "integer", "description": "°C"},
            "high": {"type": "integer", "description": "°C"},
            "wind": {"type": "integer", "description": "m/s"},
        }),
        &["day", "sky", "low", "high"],
    );
    let days = json!({"type": "integer", "minimum": 1, "maximum": 7, "default": 3});
    tools[0]["inputSchema"]["properties"]["days"] = days;
    let days = json!({"days": {"type": "array", "items": day}});
    tools[0]["outputSchema"] = object(&days, &["days"]);
    tools
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// The answer to a `tools/call`; `None` if it is cancelled: then `cancelled` is disconnected.
pub fn call(server: &Server<'_>, params: &Value, cancelled: &Receiver<()>) -> Option<Answer> {
    let arguments = &params["arguments"];
    Some(Ok(match params["name"].as_str().unwrap_or_default() {
        "get_forecast" => get_forecast(server, arguments),
        "climate_report" => climate_report(server, params),
        "plan_trip" => {
            plan_trip(server, arguments).unwrap_or_else(|| tool_error("The host did not answer."))
        }
        "radar_archive" => {
            server.pace.pause(260);
            text(&radar_archive(word(arguments, "date")))
        }
        "watch_storm" => {
            let waited = cancelled.recv_timeout(server.pace.of(60_000));
            if waited != Err(RecvTimeoutError::Timeout) {
                server.complain("INFO  watch_storm: cancelled by the host");
                return None;
            }
            text("No storm in the last minute.")
        }
        unknown => return Some(Err((INVALID_PARAMS, format!("Unknown tool: {unknown}")))),
    }))
}

fn word<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments[name].as_str().unwrap_or_default()
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn tool_error(message: &str) -> Value {
    json!({"content": [{"type": "text", "text": message}], "isError": true})
}

/// Near cities answer sooner; Tromsø is slow, and says so in all the wrong and right places.
fn get_forecast(server: &Server<'_>, arguments: &Value) -> Value {
    let city = word(arguments, "city");
    match city {
        "Atlantis" => {
            server.pace.pause(60);
            return tool_error("No station within 200 km of \"Atlantis\".");
        }
        "Longyearbyen" => {
            server.complain("ERROR upstream api.met.example answered 429 Too Many Requests");
            server.pace.pause(140);
            return tool_error("Upstream quota exceeded, try again in 30 s.");
        }
        "Tromsø" => {
            server.pace.pause(200);
            server.complain("WARN  cache miss for SN90490 Tromsø, asking upstream");
            // The classic mistake: a log line on the stream that belongs to the protocol.
            let debug = "DEBUG upstream GET /v3/point?station=SN90490 → 200 in 611 ms";
            server.connection.noise(debug);
            server.pace.pause(611);
            let data = json!({"station": "SN90490", "elapsed_ms": 611});
            let params = json!({"level": "warning", "logger": "upstream", "data": data});
            let log = "notifications/message";
            server.connection.notify(log, Some(&params));
        }
        "Oslo" => server.pace.pause(180),
        _ => server.pace.pause(340),
    }
    let days = arguments["days"].as_u64().unwrap_or(3);
    let forecast = forecast(city, usize::try_from(days).unwrap_or(3));
    let mut result = text(&in_words(city, &forecast));
    result["structuredContent"] = json!({"days": forecast});
    result
}

fn climate_report(server: &Server<'_>, params: &Value) -> Value {
    let years = ["1996–2002", "2003–2009", "2010–2016", "2017–2025"];
    let steps = years.map(|years| format!("reading {years}"));
    let steps = steps.into_iter().chain(["writing the report".to_owned()]);
    let token = &params["_meta"]["progressToken"];
    for (step, message) in (1..).zip(steps) {
        server.pace.pause(500);
        let mut progress = json!({"progress": step * 20, "total": 100, "message": message});
        progress["progressToken"] = token.clone();
        if !token.is_null() {
            let method = "notifications/progress";
            server.connection.notify(method, Some(&progress));
        }
    }
    server.pace.pause(150);
    text(&format!(
        "{}: since 1996 the winters have become 1.9 °C warmer and 12 % wetter; the ground is \
         covered with snow for 31 days less.",
        word(&params["arguments"], "region")
    ))
}

/// Asks the user (elicitation), then the host's model (sampling); `None` if the host has gone.
fn plan_trip(server: &Server<'_>, arguments: &Value) -> Option<Value> {
    let city = word(arguments, "city");
    let question = json!({
        "mode": "form",
        "message": format!("What do you have in mind for {city}?"),
        "requestedSchema": {
            "type": "object",
            "properties": {
                "nights": {"type": "integer", "title": "Nights", "minimum": 1, "maximum": 14},
                "activity": {"type": "string", "enum": ["hiking", "kayaking", "museums"]},
            },
            "required": ["nights"],
        },
    });
    let (_, answer) = server.connection.request("elicitation/create", &question);
    let answer = answer.recv().ok()?;
    if answer["result"]["action"] != "accept" {
        return Some(text("Perhaps another time."));
    }
    let wishes = &answer["result"]["content"];
    server.pace.pause(120);
    let forecast = in_words(city, &forecast(city, 3));
    let prompt = format!("Traveller: {wishes}. {forecast}. What to pack, in one sentence?");
    let sampling = json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
        "systemPrompt": "You are a laconic mountain guide.",
        "maxTokens": 120,
    });
    let method = "sampling/createMessage";
    let answer = server.connection.request(method, &sampling).1.recv().ok()?;
    let advice = word(&answer["result"]["content"], "text");
    Some(text(&format!("{forecast}. {advice}")))
}

// The weather, made up: the same place has the same weather in every run.

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const SKIES: [&str; 6] = ["clear", "cloudy", "rain", "sleet", "snow", "fog"];

/// Lines of the radar archive: about 200 kB.
const ARCHIVE_LINES: u64 = 4_700;

fn sky(chance: u64) -> &'static str {
    SKIES[usize::try_from(chance % 6).unwrap_or_default()]
}

/// The forecast for `days` days (a week at most), one object per day.
fn forecast(city: &str, days: usize) -> Vec<Value> {
    let low = (mix(city, 0) % 14).cast_signed() - 9;
    let days = DAYS.iter().zip(0..).take(days);
    let days = days.map(|(day, number)| {
        let chance = mix(city, number);
        let high = low + (chance % 6).cast_signed() + 2;
        let sky = sky(chance);
        json!({"day": day, "sky": sky, "low": low, "high": high, "wind": chance % 17})
    });
    days.collect()
}

/// The same in one line for people.
fn in_words(city: &str, forecast: &[Value]) -> String {
    let days = forecast.iter().map(|day| {
        let (name, sky) = (word(day, "day"), word(day, "sky"));
        format!("{name} {sky} {} to {} °C", day["low"], day["high"])
    });
    format!("{city}: {}", days.collect::<Vec<_>>().join(", "))
}

fn radar_archive(date: &str) -> String {
    let header = "time,latitude,longitude,dbz,type\n".to_owned();
    let echoes = (0..ARCHIVE_LINES).map(|line| {
        let chance = mix(date, line);
        let minute = line * 1440 / ARCHIVE_LINES;
        let (hour, minute) = (minute / 60, minute % 60);
        let (north, east) = (58 + chance % 13, 5 + chance % 25);
        let (part, dbz, sky) = (chance % 1000, chance % 50, sky(chance));
        format!("{date}T{hour:02}:{minute:02}Z,{north}.{part:03},{east}.{part:03},{dbz}.0,{sky}\n")
    });
    std::iter::once(header).chain(echoes).collect()
}

/// A number that looks random and is not (FNV-1a, then mixed).
fn mix(text: &str, number: u64) -> u64 {
    let seed = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = seed
        .wrapping_add(number)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16
}
