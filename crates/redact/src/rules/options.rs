//! What is no secret and may say too much: only where it is asked for.

use crate::rule::Rule;
use crate::token::Kind;

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-')
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "email",
        about: "addresses of e-mail",
        kind: Kind::Email,
        anchors: &["@"],
        lead: is_local,
        edge: |byte| byte == b'/',
        shape: r"[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}\b",
        holds: |text| !text.starts_with("git@"),
        found: &["write to ⟦ada@mail.lovelace.org⟧."],
        passed: &[
            "git@github.com:ada/engine",
            "@scope/package",
            "left-pad@1.3.0",
            "a @ b",
        ],
    },
    Rule {
        id: "home-folder",
        about: "names of home folders",
        kind: Kind::Home,
        anchors: &["/home/", "/users/", "\\users\\"],
        edge: |_| false,
        // On Windows a name may have spaces in it: it goes on where a folder in it follows, or where
        // words with capitals end as a path does.
        shape: r#"(?:\\+(?i:users)\\+([^/\\\s"'<>:;,|]+(?: [^/\\\s"'<>:;,|]+){1,3})\\|(?:/home/|/Users/|\\+(?i:users)\\+)(?:([^/\\\s"'<>:;,|]+(?: [A-Z\x80-\xff][^/\\\s"'<>:;,|]*){1,3})(?:[/"'<>|]|\z)|([^/\\\s"'<>:;,|]+)))"#,
        found: &[
            "in /home/⟦ada⟧/notes",
            "/Users/⟦ada.l⟧",
            r"C:\Users\⟦ada⟧\x",
            r"C:\Users\⟦ada de Lovelace⟧\x",
            r"C:\\Users\\⟦Ada King Lovelace⟧\\x",
            "'C:/Users/⟦Ada Lovelace⟧'",
            r"C:\Users\⟦ada⟧ and C:\x",
            r"see C:\Users\⟦ada⟧ For Windows it is there",
        ],
        passed: &[
            "/home",
            "/usr/lib",
            "/home/",
            "/home/#8249;home#58;1#8250;/x",
        ],
        lead: |_| false,
        // What a placeholder begins with where a diagram has escaped it.
        holds: |name| name != "#8249",
    },
];
