//! The options of commands that drive a server: which part of a recording, how fast, with which
//! values, and what may be called.

use crate::cli::comparison::rewrite;
use crate::cli::folder::Folder;
use crate::cli::quantity::{self, choice};
use crate::cli::reach::{self, Reach};
use clap::Args;
use mcpreel_capture::net::upstream::Upstream;
use mcpreel_redact::token::is_name;
use mcpreel_replay::player::{Order, Policy};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Path};
use std::ffi::OsString;
use std::time::Duration;

/// How a server is driven.
#[derive(Debug, Args)]
pub struct Driving {
    #[command(flatten)]
    pub folder: Folder,
    /// Answer to a request of the server that is not on record
    #[arg(long, hide_short_help = true, value_name = "HOW", default_value = "fail", value_parser = choice(&POLICIES))]
    pub on_server_request: Policy,
    /// The server's command and its arguments [default: the recorded one]
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Play it to the server behind this URL, over HTTP
    #[arg(long, value_name = "URL", value_parser = reach::ServerUrl(reach::http_url), conflicts_with = "command")]
    pub url: Option<Upstream>,
    #[command(flatten)]
    pub pace: Pace,
    #[command(flatten)]
    pub allowed: Allowed,
    #[command(flatten)]
    pub values: Values,
    #[command(flatten)]
    pub reach: Reach,
}

/// In which order, and how fast.
#[derive(Debug, Args)]
#[command(next_help_heading = "Order and time")]
pub struct Pace {
    /// Order of the client's messages
    #[arg(long, hide_short_help = true, value_name = "ORDER", default_value = "causal", value_parser = choice(&ORDERS))]
    pub order: Order,
    /// With --order timed: how many times faster
    ///
    /// [default: 1]
    #[arg(long, hide_short_help = true, value_name = "X", value_parser = speed)]
    pub speed: Option<f64>,
    /// With --order timed: the longest gap, before --speed divides it
    ///
    /// [default: 1s]
    #[arg(long, hide_short_help = true, value_name = "TIME", value_parser = time)]
    pub max_gap: Option<Duration>,
    /// Time limit for all [default: 10 s for each answer, or 10 times what it took]
    #[arg(long, hide_short_help = true, value_name = "TIME", value_parser = time)]
    pub timeout: Option<Duration>,
}

impl Pace {
    /// The order that is asked for, with the speed and the gap.
    pub fn order(&self) -> Order {
        match self.order {
            Order::Timed { speed, max_gap } => Order::Timed {
                speed: self.speed.unwrap_or(speed),
                max_gap: self.max_gap.unwrap_or(max_gap),
            },
            order => order,
        }
    }
}

const CAUSAL: &str =
    "Each after what the client had seen before it; overlapping requests overlap again";

const ORDERS: [(&str, &str, Order); 3] = [
    ("causal", CAUSAL, Order::Causal),
    ("serial", "One request at a time", Order::Serial),
    (
        "timed",
        "Causal, with the recorded gaps",
        Order::Timed {
            speed: 1.0,
            max_gap: Duration::from_secs(1),
        },
    ),
];

const POLICIES: [(&str, &str, Policy); 2] = [
    ("fail", "An error", Policy::Fail),
    ("stub", "No roots, a cancelled form", Policy::Stub),
];

/// Which part of the recording.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Which part")]
pub struct Part {
    /// Only requests that fit this filter, and the handshake
    #[arg(long, value_name = "FILTER")]
    pub only: Option<String>,
    /// Of a network recording, which one is played [default: the busiest]
    #[arg(long, hide_short_help = true, value_name = "N")]
    pub conversation: Option<u32>,
    /// Stop after this frame
    #[arg(long, value_name = "SEQ", value_parser = frame)]
    pub until: Option<Seq>,
    /// Change a value of a request
    #[arg(long, value_name = "SEQ:PATH=JSON", value_parser = edit)]
    pub edit: Vec<(Seq, Path, String)>,
}

/// What may be called.
#[derive(Debug, Args)]
#[command(next_help_heading = "What may be called")]
pub struct Allowed {
    /// Allow calls of this tool, whatever it does
    #[arg(long, value_name = "NAME")]
    pub allow_tool: Vec<String>,
    /// Allow calls of all tools
    #[arg(long)]
    pub allow_side_effects: bool,
    /// Start the recorded command, even of a recording from elsewhere
    #[arg(long, hide_short_help = true)]
    pub run_recorded_command: bool,
}

/// What becomes of values.
#[derive(Debug, Args)]
#[command(next_help_heading = "Values")]
pub struct Values {
    /// The value of a placeholder: `secret:1=env:NAME` or `=file:PATH`
    #[arg(long, hide_short_help = true, value_name = "PLACEHOLDER=SOURCE", value_parser = bind)]
    pub bind: Vec<(String, String)>,
    /// Replace a recorded folder by another, in texts and file:// URIs
    #[arg(long, hide_short_help = true, value_name = "OLD=NEW", value_parser = rewrite)]
    pub rewrite: Vec<(String, String)>,
    /// Make new ids and progress tokens
    #[arg(long, hide_short_help = true)]
    pub fresh_ids: bool,
    /// Send traceparent as recorded, not with a new span id
    #[arg(long, hide_short_help = true)]
    pub keep_trace: bool,
    /// Ask for this version of the protocol
    #[arg(long, hide_short_help = true, value_name = "VERSION")]
    pub protocol: Option<String>,
}

pub fn time(text: &str) -> Result<Duration, String> {
    quantity::nanoseconds(text).map(Duration::from_nanos)
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse::<f64>().ok();
    let usable = speed.filter(|speed| speed.is_finite() && *speed > 0.0);
    usable.ok_or_else(|| format!("`{text}` is not a speed; for example 2 or 0.5"))
}

fn frame(text: &str) -> Result<Seq, String> {
    let number = text.strip_prefix('#').unwrap_or(text).parse().ok();
    let seq = number.filter(|number| *number > 0).map(Seq);
    seq.ok_or_else(|| format!("`{text}` is not a frame number; for example 23"))
}

fn edit(text: &str) -> Result<(Seq, Path, String), String> {
    let expected =
        || format!("`{text}` is not an edit; for example 23:params.arguments.city=\"Oslo\"");
    let (seq, rest) = text.split_once(':').ok_or_else(expected)?;
    let seq = frame(seq)?;
    // A path may have an equals sign in it, in quotes: the first that leaves a path behind counts.
    let mut found = rest
        .match_indices('=')
        .filter_map(|(at, _)| Some((rest[..at].parse::<Path>().ok()?, rest[at + 1..].to_owned())));
    let (path, json) = found.next().ok_or_else(expected)?;
    if path.steps().is_empty() || path.is_multiple() {
        return Err(format!("`{text}`: the path has to lead to one value"));
    }
    if Document::parse(json.as_bytes()).is_err() {
        let hint = "; a text stands in double quotes";
        return Err(format!("`{text}`: `{json}` is not JSON{hint}"));
    }
    Ok((seq, path, json))
}

/// Reads `secret:1=env:TOKEN`: the placeholder, and what the variable or file holds.
pub fn bind(text: &str) -> Result<(String, String), String> {
    let expected =
        || format!("`{text}` supplies nothing; for example secret:1=env:TOKEN or =file:PATH");
    let (placeholder, source) = text.split_once('=').ok_or_else(expected)?;
    let placeholder = placeholder.trim_matches(['‹', '›']);
    let value = match source.split_once(':') {
        _ if !is_name(placeholder) => return Err(expected()),
        Some(("env", name)) => std::env::var(name)
            .map_err(|_| format!("the variable {name} is not set, or no text"))?,
        Some(("file", path)) => {
            let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
            text.trim_end_matches(['\n', '\r']).to_owned()
        }
        _ => return Err(expected()),
    };
    Ok((placeholder.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_a_frame_a_path_and_a_value() {
        let (seq, path, json) = edit(r#"#23:params.arguments["a=b"]={"c":1}"#).unwrap();
        assert_eq!(seq, Seq(23));
        assert_eq!(path.to_string(), r#"params.arguments["a=b"]"#);
        assert_eq!(json, r#"{"c":1}"#);
        for wrong in [
            "23",
            "x:params=1",
            "0:params=1",
            "23:params.a[*]=1",
            "23:=1",
            "23:params.a=Oslo",
        ] {
            assert!(edit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_placeholder_gets_its_value_from_where_it_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        std::fs::write(&file, "hunter2\n").unwrap();
        let (placeholder, value) = bind(&format!("‹secret:1›=file:{}", file.display())).unwrap();
        assert_eq!((&*placeholder, &*value), ("secret:1", "hunter2"));
        for wrong in [
            "secret:1",
            "secret:1=hunter2",
            "secret:1=env:NO_SUCH_VARIABLE",
            "secret=env:HOME",
        ] {
            assert!(bind(wrong).is_err(), "{wrong}");
        }
    }
}
