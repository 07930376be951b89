//! What was wrapped is what it was after it is unwrapped, to the byte, however it is written.

use super::{EditError, Recorded, named_url, recorded, unwrap, words, wrap};
use crate::document::{Document, Format};
use crate::table::{Host, hosts};
use proptest::prelude::*;
use std::path::Path;

const RECORDER: &str = "/opt/mcp reel/mcpreel";

fn host(format: Format) -> Host {
    let (end, key) = match format {
        Format::Json | Format::Jsonc => ("json", "mcpServers"),
        Format::Toml => ("toml", "mcp_servers"),
        Format::Yaml => ("yaml", "extensions"),
    };
    let path = format!("config.{end}");
    Host::of_file(Path::new(&path), key).expect("it is a known format")
}

fn read(text: &str, format: Format) -> Document {
    Document::parse(text.to_owned(), format).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Wraps each server of a configuration that can be wrapped, one after the other, looks at its words,
/// and unwraps them in the same order. Returns the text in between.
fn there_and_back(text: &str, host: &Host) -> String {
    let format = host.format;
    let mut document = read(text, format);
    for nth in 0..host.servers(&document).len() {
        let node = host.servers(&document)[nth].node;
        let before = words(host, node);
        let url = named_url(host, node).map(str::to_owned);
        let wrapped = match wrap(&document, host, nth, RECORDER) {
            Ok(wrapped) => wrapped.unwrap_or_else(|| panic!("{nth} was wrapped\n{text}")),
            Err(EditError::Url(_) | EditError::NotHttp | EditError::NoCommand) => continue,
            Err(error) => panic!("{nth}: {error}\n{text}"),
        };
        document = read(&wrapped, format);
        let servers = host.servers(&document);
        let after = words(host, servers[nth].node).expect("it is started by words");
        let expected = [RECORDER, "run", "--name", &servers[nth].name];
        assert_eq!(after[..4], expected, "{wrapped}");
        let is_same = match recorded(&after) {
            Some(Recorded::Command(own)) => before.as_deref() == Some(own),
            Some(Recorded::Url(own)) => url.as_deref() == Some(own),
            None => false,
        };
        assert!(is_same, "{wrapped}");
        assert_eq!(wrap(&document, host, nth, RECORDER), Ok(None), "{wrapped}");
    }
    let between = document.text.clone();
    for nth in 0..host.servers(&document).len() {
        if let Ok(Some(own)) = unwrap(&document, host, nth) {
            document = read(&own, format);
        }
    }
    assert_eq!(document.text, text, "{between}");
    between
}

#[test]
fn only_the_command_and_its_arguments_change() {
    let text = "\u{feff}{ // mine\r\n\t\"mcpServers\": {\"a\": {\"env\": {\"K\": \"v\"}, \"command\": \
                \"npx\" /* sic */, \"args\": [\r\n\t\"-y\", // quiet\r\n\t\"w\",],}, },\r\n}\r\n";
    let between = there_and_back(text, &host(Format::Jsonc));
    let expected = text.replace("\"npx\"", "\"/opt/mcp reel/mcpreel\"");
    let expected = expected.replace("\"-y\"", r#""run", "--name", "a", "npx", "-y""#);
    assert_eq!(between, expected);
}

#[test]
fn arguments_that_are_not_there_are_made_and_taken_away_again() {
    let json = r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y","args":[]},"c":{"command":"z", "args": [ ]}}}"#;
    there_and_back(json, &host(Format::Jsonc));
    let toml = "[mcp_servers.a]\r\ncommand = 'x' # mine\r\n\r\n[mcp_servers]\nb = { command = \"y\" }\n\
                c.command = 'z'\n[mcp_servers.d]\n  command = \"w\"";
    there_and_back(toml, &host(Format::Toml));
    let yaml = "extensions:\n  a:\n    command: x   # mine\n  b: {command: y}\n  c:\n    args: []\n    command: 'z'";
    there_and_back(yaml, &host(Format::Yaml));
}

#[test]
fn lists_of_lines_and_of_maps_are_those_of_yaml() {
    let yaml = "extensions:\n- name: a\n  args:\n  - -y   # quiet\n  -   pkg\n  command: npx\n- command: b\n  name: b\n";
    let between = there_and_back(yaml, &host(Format::Yaml));
    let lines = "  args:\n  - \"run\"\n  - \"--name\"\n  - \"a\"\n  - npx\n  - -y   # quiet\n";
    assert!(between.contains(lines), "{between}");
    assert!(
        between.contains("- command: \"/opt/mcp reel/mcpreel\"\n  args: [ \"run\""),
        "{between}"
    );
}

#[test]
fn a_command_may_be_all_words() {
    let mut host = host(Format::Jsonc);
    host.args = String::new();
    let text = r#"{"mcpServers": {"a": {"type": "local", "command": ["npx", "-y", "x"]}}}"#;
    let between = there_and_back(text, &host);
    assert!(
        between.contains(r#"["/opt/mcp reel/mcpreel", "run", "--name", "a", "npx", "-y", "x"]"#)
    );
}

#[test]
fn every_host_has_a_sample_that_comes_back_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/edit/samples");
    for host in hosts() {
        let ends = ["json", "jsonc", "toml", "yaml"];
        let mut paths = ends
            .iter()
            .map(|end| folder.join(format!("{}.{end}", host.id)));
        let sample = paths.find_map(|path| std::fs::read_to_string(path).ok());
        let sample = sample.unwrap_or_else(|| panic!("{} has no sample", host.id));
        let between = there_and_back(&sample, host);
        assert_ne!(between, sample, "{} has a server that is started", host.id);
        assert!(host.source.starts_with("https://"), "{}", host.id);
    }
}

#[test]
fn what_could_not_be_given_back_is_left() {
    for yaml in [
        "extensions: {a: {command: &c npx, args: [*c]}}",
        "extensions:\n  a:\n    command: >-\n      npx\n",
        "extensions:\n  a:\n    command: npx\n    args: -y\n",
        "extensions:\n  a:\n    command: run{x}\n",
    ] {
        let document = read(yaml, Format::Yaml);
        let left = wrap(&document, &host(Format::Yaml), 0, RECORDER);
        assert!(left.is_err(), "{left:?}");
    }
    for (entry, command) in [
        (r#"{"url": "wss://x"}"#, Err(EditError::NotHttp)),
        (
            r#"{"url": "https://x", "env": {}}"#,
            Err(EditError::Url(
                "mcpreel run --name \"a\" --url URL".to_owned(),
            )),
        ),
    ] {
        let document = read(
            &format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#),
            Format::Jsonc,
        );
        assert_eq!(wrap(&document, &host(Format::Jsonc), 0, RECORDER), command);
    }
}

#[test]
fn a_bridge_stands_in_place_of_a_url_and_what_named_the_server_stays() {
    let text = "{\"mcpServers\": {\"far\": {\n  // mine\n  \"type\" : \"http\",\n  \"url\": \
                \"https://x/mcp?a=b\", // there\n  \"headers\": {\"X-A\": \"1\", \"X-B\": \"${T}\"}, \
                \"timeout\": 5}}}";
    let between = there_and_back(text, &host(Format::Jsonc));
    let ours = r#""command": "/opt/mcp reel/mcpreel", "args": ["run", "--name", "far", "--url", "https://x/mcp?a=b"], "type": "stdio", "env": {"MCPREEL_HEADERS": "X-A: 1\nX-B: ${T}"}, "#;
    let expected = text.replace("\"type\"", &format!("{ours}\"mcpreel:type\""));
    let expected = expected.replace("\"url\"", "\"mcpreel:url\"");
    assert_eq!(
        between,
        expected.replace("\"headers\"", "\"mcpreel:headers\"")
    );

    // What was added to the variables since would go with them.
    let added = between.replace("{\"MCPREEL", "{\"DEBUG\": \"1\", \"MCPREEL");
    assert_ne!(added, between);
    let added = unwrap(&read(&added, Format::Jsonc), &host(Format::Jsonc), 0);
    assert_eq!(added, Err(EditError::Unusual));

    // Whoever has written it by hand has not said what was there.
    let by_hand =
        r#"{"mcpServers": {"a": {"command": "mcpreel", "args": ["run", "--url", "https://x"]}}}"#;
    let document = read(by_hand, Format::Jsonc);
    assert_eq!(wrap(&document, &host(Format::Jsonc), 0, RECORDER), Ok(None));
    let left = unwrap(&document, &host(Format::Jsonc), 0);
    assert_eq!(left, Err(EditError::ByHand));
}

#[test]
fn what_a_person_has_wrapped_is_unwrapped_and_not_wrapped_again() {
    for words in [
        r#"["run", "--dir", "/d", "--", "npx", "x"]"#,
        r#"["run", "npx", "x"]"#,
        r#"["run", "--name", "a", "npx", "x"]"#,
        r#"["run", "--name=a", "--max-size", "1GB", "npx", "x"]"#,
        r#"["--", "npx", "x"]"#,
    ] {
        let entry = format!(r#"{{"a": {{"command": "mcpreel", "args": {words}}}}}"#);
        let document = read(&format!(r#"{{"mcpServers": {entry}}}"#), Format::Jsonc);
        let host = host(Format::Jsonc);
        assert_eq!(wrap(&document, &host, 0, RECORDER), Ok(None), "{words}");
        let own = unwrap(&document, &host, 0).unwrap().unwrap();
        assert_eq!(
            own,
            r#"{"mcpServers": {"a": {"command": "npx", "args": ["x"]}}}"#
        );
    }
}

#[test]
fn a_name_may_look_like_an_option_and_stands_once() {
    let text = r#"{"mcpServers": {"-v": {"command": "cat"}}}"#;
    let document = read(text, Format::Jsonc);
    let wrapped = wrap(&document, &host(Format::Jsonc), 0, RECORDER)
        .unwrap()
        .unwrap();
    assert!(
        wrapped.contains(r#"["run", "--name=-v", "cat"]"#.trim_start_matches('[')),
        "{wrapped}"
    );
    let twice = r#"{"mcpServers": {"a": {"command": "cat"}, "a": {"command": "tac"}}}"#;
    let document = read(twice, Format::Jsonc);
    let left = wrap(&document, &host(Format::Jsonc), 1, RECORDER);
    assert_eq!(left, Err(EditError::Twice));
}

/// Name, command, arguments, whether these come first, whether it is reached by a URL.
type OneTold = (String, String, Option<Vec<String>>, bool, bool);

/// A configuration in any layout: `noise` is what may stand between two tokens.
#[derive(Clone, Debug)]
struct Told {
    servers: Vec<OneTold>,
    noise: Vec<u8>,
}

fn told() -> impl Strategy<Value = Told> {
    let word = "[a-zA-Z0-9@/._ \u{e9}\u{4e2d}\"'#,{}-]{1,8}";
    let args = proptest::option::of(proptest::collection::vec(word, 0..4));
    let server = (word, args, any::<bool>(), any::<bool>());
    let servers = proptest::collection::btree_map("[a-z]{1,6}", server, 1..4);
    let noise = proptest::collection::vec(any::<u8>(), 1..40);
    (servers, noise).prop_map(|(servers, noise)| {
        let named = servers.into_iter();
        let named = named.map(|(name, (command, args, is_first, is_far))| {
            (name, command, args, is_first, is_far)
        });
        Told {
            servers: named.collect(),
            noise,
        }
    })
}

fn quote(text: &str) -> String {
    serde_json::to_string(text).expect("it is text")
}

fn list(words: &[String], mut gap: impl FnMut() -> String) -> String {
    let words: Vec<_> = words
        .iter()
        .map(|word| format!("{}{}{}", gap(), quote(word), gap()))
        .collect();
    format!("[{}]", words.join(","))
}

fn json(told: &Told) -> String {
    let gaps = [
        "",
        " ",
        "\n\t",
        "\r\n",
        " // , ] }\n",
        "/* \"run\" */",
        "  ",
    ];
    let mut noise = told.noise.iter().cycle();
    let mut gap = move || gaps[*noise.next().unwrap_or(&0) as usize % gaps.len()].to_owned();
    let mut servers = Vec::new();
    for (name, command, args, is_first, is_far) in &told.servers {
        let url = format!("https://{command}");
        let (key, value) = if *is_far {
            ("url", &url)
        } else {
            ("command", command)
        };
        let mut members = vec![format!(
            "{}\"{key}\"{}:{}{}{}",
            gap(),
            gap(),
            gap(),
            quote(value),
            gap()
        )];
        if *is_far {
            for member in ["\"headers\":{\"A\":\"b\"}", "\"type\":\"http\""] {
                let at = usize::from(*is_first).min(members.len());
                members.insert(at, format!("{}{member}{}", gap(), gap()));
            }
        } else if let Some(args) = args {
            let list = list(args, &mut gap);
            let member = format!("{}\"args\":{}{list}{}", gap(), gap(), gap());
            members.insert(usize::from(*is_first), member);
        }
        let more = if *is_far { "disabled" } else { "env" };
        members.push(format!("{}\"{more}\":{{\"A\": [1, null]}}{}", gap(), gap()));
        servers.push(format!(
            "{}{}:{}{{{}}}",
            gap(),
            quote(name),
            gap(),
            members.join(",")
        ));
    }
    let (start, end) = (gap(), gap());
    format!("{start}{{\"mcpServers\":{{{}}}{end}}}", servers.join(","))
}

fn toml(told: &Told) -> String {
    let ends = ["\n", " # x = [\n", "\r\n", "\n\n", "\n  "];
    let mut noise = told.noise.iter().cycle();
    let mut end = move || ends[*noise.next().unwrap_or(&0) as usize % ends.len()].to_owned();
    let mut text = String::new();
    for (name, command, args, is_first, _) in &told.servers {
        let args = args.as_ref().map(|args| list(args, String::new));
        let mut lines = vec![format!("command = {}{}", quote(command), end())];
        let args = args.map(|args| format!("args = {args}{}", end()));
        lines.splice(usize::from(*is_first)..usize::from(*is_first), args);
        text.extend([format!("[mcp_servers.{name}]{}{}", end(), lines.concat())]);
    }
    text
}

fn yaml(told: &Told) -> String {
    let ends = ["\n", "   # - x: [\n", "\n\n", "\n# y\n"];
    let mut noise = told.noise.iter().cycle();
    let mut next = move || *noise.next().unwrap_or(&0) as usize;
    let mut text = format!("x: 1{}extensions:\n", ends[next() % ends.len()]);
    for (name, command, args, is_first, _) in &told.servers {
        let mut end = || ends[next() % ends.len()];
        let mut lines = vec![format!("    command: {}{}", quote(command), end())];
        let args = args.as_ref().map(|args| {
            if args.is_empty() || *is_first {
                return format!("    args: {}{}", list(args, String::new), end());
            }
            let start = format!("    args:{}", end());
            let words = args.iter();
            let words = words.map(|word| format!("      -  {}{}", quote(word), end()));
            start + &words.collect::<String>()
        });
        lines.splice(usize::from(*is_first)..usize::from(*is_first), args);
        text.extend([format!("  {name}:{}{}", end(), lines.concat())]);
    }
    text
}

proptest! {
    #[test]
    fn any_configuration_comes_back_as_it_was(told in told()) {
        there_and_back(&json(&told), &host(Format::Jsonc));
        there_and_back(&toml(&told), &host(Format::Toml));
        there_and_back(&yaml(&told), &host(Format::Yaml));
    }
}
