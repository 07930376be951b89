//! The weather, made up: the same place has the same weather in every run.

use serde_json::{Value, json};

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const SKIES: [&str; 6] = ["clear", "cloudy", "rain", "sleet", "snow", "fog"];

/// How many lines the radar archive has: about 200 kB.
const ARCHIVE_LINES: u64 = 4_700;

/// The forecast for `days` days (a week at most), one object per day.
pub fn forecast(city: &str, days: usize) -> Vec<Value> {
    let place = mix(city, 0);
    DAYS.iter()
        .zip(0..)
        .take(days)
        .map(|(day, number)| {
            let chance = mix(city, number);
            let sky = SKIES[usize::try_from(chance % 6).unwrap_or_default()];
            let low = i64::try_from(place % 14).unwrap_or_default() - 9;
            let span = i64::try_from(chance % 6).unwrap_or_default() + 2;
            json!({"day": day, "sky": sky, "low": low, "high": low + span, "wind": chance % 17})
        })
        .collect()
}

/// The same in one line for people.
pub fn in_words(city: &str, forecast: &[Value]) -> String {
    let days: Vec<_> = forecast
        .iter()
        .map(|day| {
            let sky = day["sky"].as_str().unwrap_or_default();
            let name = day["day"].as_str().unwrap_or_default();
            format!("{name} {sky} {} to {} °C", day["low"], day["high"])
        })
        .collect();
    format!("{city}: {}", days.join(", "))
}

/// High and low water of a harbour.
pub fn tides(harbour: &str) -> Vec<Value> {
    (0..4)
        .map(|number| {
            let chance = mix(harbour, number);
            let kind = if number % 2 == 0 { "high" } else { "low" };
            let time = format!("{:02}:{:02}", number * 6 + chance % 6, chance % 60);
            json!({"time": time, "water": kind, "centimetres": 20 + chance % 40})
        })
        .collect()
}

pub fn radar_archive(date: &str) -> String {
    let echoes = (0..ARCHIVE_LINES).map(|line| {
        let chance = mix(date, line);
        let minute = line * 1440 / ARCHIVE_LINES;
        let (hour, minute) = (minute / 60, minute % 60);
        let (north, east) = (chance % 13_000, chance / 13_000 % 25_000);
        format!(
            "{date}T{hour:02}:{minute:02}Z,{:.3},{:.3},{:.1},{}\n",
            58.0 + f64::from(u16::try_from(north).unwrap_or_default()) / 1000.0,
            5.0 + f64::from(u16::try_from(east).unwrap_or_default()) / 1000.0,
            f64::from(u8::try_from(chance % 250).unwrap_or_default()) / 5.0,
            SKIES[usize::try_from(chance % 6).unwrap_or_default()],
        )
    });
    std::iter::once("time,latitude,longitude,dbz,type\n".to_owned())
        .chain(echoes)
        .collect()
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
