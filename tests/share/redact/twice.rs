//! Two rounds: what is redacted is not redacted again. A placeholder is none, nor is a part of one,
//! and what was left stays.

use crate::redact::corpus::{self, Session};
use crate::redact::engine::{policy, redacted, text};
use crate::support::dice::Dice;
use mcpreel_redact::{Policy, Settings};
use mcpreel_trace::frame::StreamId;
use std::sync::Arc;

/// Where secrets stand: `⟦⟧` is one, `⟦1⟧` one that stands elsewhere as well.
const PLACES: [&str; 66] = [
    "password=⟦⟧ and on",
    "export DB_PASSWORD=⟦1⟧ # live",
    "API_KEY: \"⟦⟧\"  # of ada",
    "Authorization: Bearer ⟦1⟧",
    "Authorization: Token ⟦⟧ is invalid",
    "X-Api-Key: ⟦⟧ ⟦1⟧",
    "X-Api-Key: ⟦⟧ was refused: ⟦1⟧",
    "Cookie: a=⟦⟧; b=⟦1⟧",
    "Cookie: a=⟦⟧ (expired)",
    "postgres://ada:⟦1⟧@db/x",
    "https://⟦⟧@host/x",
    "sent ⟦1⟧, then ⟦1⟧⟦1⟧",
    "x⟦1⟧y z⟦1⟧",
    "--token ⟦⟧ --password=⟦1⟧",
    "token: |\n  ⟦⟧\n  ⟦1⟧\nend",
    "password:\n  ⟦1⟧\nuser: ada",
    "api_keys:\n- ⟦⟧\n- ⟦1⟧",
    "secret: '⟦⟧''⟦1⟧'",
    "{\"password\":\"⟦1⟧\",\"n\":1}",
    "{\\\"token\\\":\\\"⟦⟧\\\"}",
    "<password>⟦1⟧</password>",
    "?token=⟦⟧&x=1",
    "?token=%6b⟦1⟧&x=1",
    "to ⟦2⟧@mail.host.org in /home/⟦2⟧/x",
    "‹secret:1› ⟦1⟧ ‹home:3›",
    "home secret ⟦2⟧ email",
    "API_KEY = ⟦⟧ ⟦1⟧",
    "password = two ⟦⟧",
    "--token=⟦⟧ ⟦⟧",
    "PWD={a: ⟦⟧}",
    "password: **** ⟦⟧",
    "DB_PASSWORD=ab ⟦⟧ # was ⟦⟧",
    "x-api-key: ⟦⟧, ⟦1⟧",
    "password: '⟦⟧' ⟦⟧",
    "api_keys = [\"⟦⟧\", \"⟦1⟧\"]",
    "api_keys: [⟦⟧, ⟦⟧]",
    "API_KEYS=⟦⟧,⟦⟧",
    "secret: {a: ⟦⟧, b: ⟦1⟧}",
    "credentials = ('ada', '⟦⟧')",
    "password: !!str ⟦⟧",
    "password: &pw ⟦⟧",
    "password: !vault |\n  ⟦⟧\nend",
    "api_keys:\n  prod: ⟦⟧\n  dev: ⟦1⟧\nend",
    "- name: API_KEY\n  value: ⟦⟧\n",
    "\n  12 | password: |\n  13 |   ⟦⟧\n",
    "\n+password: |\n+  ⟦⟧\n",
    "<password><![CDATA[⟦⟧]]></password>",
    "<add key=\"ApiKey\" value=\"⟦⟧\"/>",
    "machine h login ada password ⟦⟧",
    "IDENTIFIED BY '⟦⟧'",
    "| token | ⟦⟧ |",
    "the password is ⟦⟧",
    "Authorization: Bearer\n  ⟦⟧",
    "Authorization: Digest username=\"a\", response=\"⟦⟧\"",
    "log {\"token\":\"⟦⟧\",\"a\":\"\\u0026\"}",
    "API key: ⟦⟧",
    "**API key:** ⟦1⟧",
    "Password for ada: ⟦⟧",
    "the password of ada is ⟦1⟧",
    "password changed from ⟦⟧ to ⟦1⟧",
    "wrong password “⟦⟧”",
    "password: „⟦⟧“",
    "db_password -> ⟦⟧",
    "STRIPE_KEY=⟦⟧",
    "-u ada:⟦⟧ x",
    "sshpass -p ⟦⟧ ssh h",
];

/// Who is at home there.
const HOME: &str = "homer";

/// A frame, of places in a row; its own secrets are added to those.
fn frame(dice: &mut Dice, secrets: &mut Vec<String>) -> String {
    let mut said = String::new();
    for _ in 0..=dice.below(3) {
        let mut place = PLACES[dice.length_below(PLACES.len())].to_owned();
        while place.contains("⟦⟧") {
            let own = secret(dice);
            place = place.replacen("⟦⟧", &own, 1);
            secrets.push(own);
        }
        let place = place.replace("⟦1⟧", &secrets[0]);
        // What stands below a name is told by how far that is indented.
        if place.contains('\n') && !said.is_empty() {
            said.push('\n');
        }
        said.push_str(&place.replace("⟦2⟧", HOME));
        said.push_str([" ", "\n", "; ", ", "][dice.length_below(4)]);
    }
    if dice.below(4) == 0 {
        return said.replace('\n', " ");
    }
    let said = serde_json::to_string(&said).unwrap();
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{said}}}]}}}}"#
    )
}

fn secret(dice: &mut Dice) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHKMNPQRSTUVWXYZabcdefghkmnpqrstuvwxyz23456789";
    // A shorter one alone in front of a host may be the name of a user.
    let length = 13 + dice.length_below(21);
    let any = (0..length).map(|_| char::from(LETTERS[dice.length_below(LETTERS.len())]));
    let any: String = any.collect();
    format!("k3{any}Q")
}

/// Addresses, folders, and a word of placeholders are secret as well.
fn strict() -> Arc<Policy> {
    let settings = Settings {
        email: true,
        home: true,
        patterns: vec![("words".to_owned(), "home|secret:1|ret".to_owned())],
        ..Settings::default()
    };
    Arc::new(Policy::new(&settings).unwrap())
}

fn check(session: &Session, policy: &Arc<Policy>, name: &str) {
    let (once, _) = redacted(session, policy);
    let (twice, report) = redacted(&once, policy);
    for ((_, once), (_, twice)) in once.frames.iter().zip(&twice.frames) {
        let [once, twice] = [once, twice].map(|raw| String::from_utf8_lossy(raw));
        assert_eq!(once, twice, "{name}\n{}", text(session));
    }
    assert_eq!(text(&once), text(&twice), "{name}");
    assert_eq!(report.hits(), 0, "{name}: {}", text(&once));
}

#[test]
fn what_is_redacted_is_not_redacted_again() {
    for case in ["planted", "alike"].into_iter().flat_map(corpus::all) {
        check(&case.session(), &policy(), &case.name);
    }
}

/// A session, and all that is secret in it.
fn made(seed: u64) -> (Session, Vec<String>) {
    let mut dice = Dice(seed);
    let mut secrets = vec![secret(&mut dice)];
    let told = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{"password":"{}"}}}}"#,
        secrets[0]
    );
    let mut frames = vec![told];
    frames.extend((0..4).map(|_| frame(&mut dice, &mut secrets)));
    let frames = frames.into_iter();
    let frames = frames.map(|frame| (StreamId::S2C, format!("{frame}\n").into_bytes()));
    let session = Session {
        frames: frames.collect(),
        ..Session::default()
    };
    (session, secrets)
}

#[test]
fn planted_anywhere_a_secret_is_gone_after_one_round_and_nothing_after_two() {
    let strict = strict();
    for seed in 0..200 {
        let (session, secrets) = made(seed);
        let name = format!("seed {seed}");
        for policy in [&policy(), &strict] {
            check(&session, policy, &name);
            let (once, _) = redacted(&session, policy);
            let left = text(&once);
            for secret in &secrets {
                assert!(
                    !left.contains(&**secret),
                    "{name}: {secret}\n{left}\n{}",
                    text(&session)
                );
            }
        }
    }
}
