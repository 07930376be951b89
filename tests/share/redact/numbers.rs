//! Tokens tell values apart and say which are the same: in every form, in every format, whatever is
//! selected.

use crate::redact::corpus::Session;
use crate::redact::engine::{policy, redacted};
use crate::redact::redact_made::{record, stdout};
use crate::support::Library;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpreel_trace::frame::StreamId;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const ONE: &str = "KUCE?kj9Zhx9/PkOZAE";
const OTHER: &str = "yXYC8rYWKvsrdNPTZ0";

/// A session whose lines are called `at-1`, `at-2`, …; what stands in codes stands before and after
/// what tells that it is secret, and first in the command.
fn session() -> Session {
    let hex = |text: &str| {
        text.bytes().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    };
    let percent = ONE.replace('?', "%3F").replace('/', "%2F");
    let said = [
        STANDARD.encode(format!("user={OTHER};")),
        STANDARD.encode(format!("user={ONE};")),
        hex(ONE),
        format!("password={ONE}"),
        STANDARD.encode(format!(r#"{{"user":"ada","password":"{ONE}"}}"#)),
        format!("password={OTHER}"),
        hex(OTHER),
        percent.clone(),
        STANDARD.encode(format!("again {ONE} and {OTHER}")),
        format!("token=first-{}", hex("Zt5Hn8YcJ3")),
    ];
    let lines = said.iter().zip(1..).map(|(said, nth)| {
        let text = format!("at-{nth} {said} end");
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":{nth},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
        );
        (StreamId::S2C, format!("{message}\n").into_bytes())
    });
    let calls = (1..=said.len()).map(|nth| {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{nth},"method":"tools/call","params":{{"name":"a"}}}}"#
        );
        (StreamId::C2S, format!("{call}\n").into_bytes())
    });
    let mut session = Session {
        frames: calls
            .zip(lines)
            .flat_map(|(call, line)| [call, line])
            .collect(),
        ..Session::default()
    };
    session.context.argv = vec!["server".to_owned(), format!("https://h/?at-0 {percent}")];
    session
}

/// What stands behind each `at-`, as far as it is a token.
fn tokens(text: &str) -> BTreeMap<String, String> {
    let text = text.replace("\\u2039", "‹").replace("\\u203a", "›");
    let mut tokens = BTreeMap::new();
    for (at, _) in text.match_indices("at-") {
        let Some((name, rest)) = text[at..].split_once([' ', '+']) else {
            continue;
        };
        let rest = rest.strip_prefix("password=").unwrap_or(rest);
        let rest = rest.strip_prefix("token=").unwrap_or(rest);
        let is_token = name.len() < 6 && rest.starts_with('‹');
        if let Some((token, _)) = rest.split_once('›').filter(|_| is_token) {
            let before = tokens.insert(name.to_owned(), format!("{token}›"));
            assert!(before.is_none_or(|before| before == format!("{token}›")));
        }
    }
    tokens
}

/// Once a value had another number in each code, and none that told what was in it.
#[test]
fn what_says_a_value_in_a_code_has_its_number() {
    let (session, _) = redacted(&session(), &policy());
    let lines = session.frames.iter();
    let text: String = lines
        .map(|(_, raw)| String::from_utf8_lossy(raw).into_owned())
        .collect();
    let number = |token: &String| {
        token
            .trim_end_matches('›')
            .rsplit(':')
            .next()
            .map(str::to_owned)
    };
    let tokens = tokens(&text);
    assert_eq!(tokens.len(), 10, "{tokens:?}");
    let of = |name: &str| number(&tokens[name]);
    for name in ["at-2", "at-3", "at-5", "at-8", "at-9"] {
        assert_eq!(of(name), of("at-4"), "{name}: {tokens:?}");
    }
    for name in ["at-1", "at-7"] {
        assert_eq!(of(name), of("at-6"), "{name}: {tokens:?}");
    }
    let mut different: Vec<_> = tokens.values().collect();
    different.sort();
    different.dedup();
    assert_eq!(
        different.len(),
        10,
        "two values have two tokens: {tokens:?}"
    );
}

/// Once what was found in a code had its number when it was written.
#[test]
fn tokens_are_the_same_in_every_format_and_whatever_is_selected() {
    let library = Library::new();
    let reel = record(&session(), library.path());
    let reel = reel.to_str().unwrap();
    let all = tokens(&stdout(&library, &["export", reel]));
    assert_eq!(all.len(), 11, "{all:?}");
    let formats = ["jsonl", "html", "markdown", "otlp", "perfetto"];
    let ranges = [
        &[][..],
        &["--from", "9"],
        &["--from", "15", "--to", "16"],
        &["--from", "3", "--to", "6"],
        &["-q", "at-9"],
    ];
    let mut seen = 0;
    for format in formats {
        for range in ranges {
            let mut words = vec!["export", "--format", format, reel];
            words.extend(range);
            if format == "otlp" {
                words.push("--with-bodies");
            }
            let some = tokens(&stdout(&library, &words));
            seen += some.len();
            for (name, token) in &some {
                assert_eq!(Some(token), all.get(name), "{format} {range:?} {name}");
            }
        }
    }
    assert!(seen > 60, "hardly anything was compared: {seen}");
    for range in ranges {
        let part = library.path().join("part.reel");
        let mut words = vec!["export", "--format", "recording", "--force", reel];
        words.extend(["-o", part.to_str().unwrap()]);
        words.extend(range);
        stdout(&library, &words);
        let said = stdout(&library, &["export", "--raw", part.to_str().unwrap()]);
        let some = tokens(&said);
        assert!(!some.is_empty(), "{range:?}");
        for (name, token) in &some {
            assert_eq!(Some(token), all.get(name), "recording {range:?} {name}");
        }
    }
}

/// Once a password had another number where its signs were written otherwise.
#[test]
fn one_password_has_one_number_wherever_it_stands() {
    let password = "Kelp&Pear#72x";
    let lines = [
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{"password":"{password}"}}}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{"x":"{{\"pw\":\"{password}\"}}"}}}}"#
        ),
        format!("DB_PASSWORD={password}"),
        "postgres://ada:Kelp%26Pear%2372x@db/x".to_owned(),
        "<password>Kelp&amp;Pear#72x</password>".to_owned(),
        format!(
            "Authorization: Basic {}",
            STANDARD.encode(format!("ada:{password}"))
        ),
        format!("the password is {password}."),
        format!("curl -u 'ada:{password}' https://h"),
        format!("user,password\nada,{password}"),
    ];
    // In whatever order they are seen.
    for first in 0..lines.len() {
        let frames = lines[first..].iter().chain(&lines[..first]);
        let frames = frames.map(|line| (StreamId::STDERR, format!("{line}\n").into_bytes()));
        let told = Session {
            frames: frames.collect(),
            ..Session::default()
        };
        let (session, _) = redacted(&told, &policy());
        for (_, raw) in &session.frames {
            let said = String::from_utf8_lossy(raw);
            let token = said
                .split_once('‹')
                .and_then(|(_, rest)| rest.split_once('›'));
            let number = token.and_then(|(name, _)| name.rsplit(':').next());
            assert_eq!(number, Some("1"), "{first}: {said}");
            assert!(!said.contains("Kelp"), "{first}: {said}");
        }
    }
}
