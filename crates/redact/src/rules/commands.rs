//! What programs are given on their command line, and databases in their statements.

use crate::plausible::{is_reference, looks_random};
use crate::rule::{RULE, Rule, is_of_name};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Whether it can be a password: not a port, a path, or where one comes from.
pub(super) fn is_given(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or_default();
    first.bytes().any(|byte| !byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !text.starts_with(['/', '\\'])
        && !is_reference(text)
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "sql-password",
        about: "passwords that SQL gives to users",
        anchors: &["identified "],
        shape: r"(?i:identified\s+(?:with\s+\S{1,64}\s+)?by\s+(?:password\s+)?)['\x22]([^'\x22\n]{4,256})",
        found: &[
            "CREATE USER ada IDENTIFIED BY '⟦hunter2heron⟧';",
            "identified with caching_sha2 by '⟦hunter2heron⟧'",
        ],
        passed: &["identified by someone", "IDENTIFIED BY 'password'"],
        ..RULE
    },
    Rule {
        id: "curl-user",
        about: "passwords behind the user that curl is given",
        anchors: &["curl "],
        shape: r"curl [^\n]{0,200}?(?:-u|--user)[ =]?['\x22]?[!#-&(-9;-~]{1,64}:([^\s'\x22]{4,256})",
        holds: |text| !is_reference(text),
        found: &[
            "curl -s -u ada:⟦hunter2heron⟧ https://h",
            "curl --user 'ada:⟦hunter2heron⟧'",
        ],
        passed: &[
            "curl -u ada https://h:80/x",
            "curl -u user:password x",
            "curl -u ada:$SECRET x",
        ],
        ..RULE
    },
    Rule {
        id: "user-password",
        about: "passwords behind a user, where an option gives both",
        anchors: &["-u ", "--user ", "--user=", "--proxy-user ", "basic auth"],
        edge: is_of_name,
        shape: r"(?:(?:-u|--(?:proxy-)?user)[ =]|(?i:basic auth(?:entication|orization)?:?) )['\x22]?[A-Za-z0-9._@+-]{1,64}:([^\s'\x22]{4,256})",
        holds: |text| is_given(text) && looks_random(text),
        found: &[
            "-u ada:⟦hunter2heron⟧ https://h",
            "http --user='ada:⟦hunter2heron⟧'",
            "Basic auth ada:⟦hunter2heron⟧",
        ],
        passed: &[
            "docker run -u 1000:1000 x",
            "docker run --user node:node x",
            "push -u registry:5000/image2",
            "fetch -u https://h2:80/x",
            "-u C:\\Work\\ada2",
            "-u ada:$SECRET x",
            "basic authentication: see RFC:7617",
        ],
        ..RULE
    },
    Rule {
        id: "command-password",
        about: "passwords that ssh, databases and registries are given by an option of one letter",
        anchors: &[
            "sshpass",
            "mysql",
            "mariadb",
            "mongo",
            "redis-cli",
            "login ",
            "ldap",
        ],
        edge: |byte| byte.is_ascii_alphanumeric(),
        shape: r"(?:sshpass(?: [^\n;|&]{0,80}?)? -p ?|(?:mysql|mariadb)[a-z-]{0,8}(?: [^\n;|&]{0,120}?)? -p|(?:mongo[a-z]{0,8}|login)(?: [^\n;|&]{0,120}?)? -p |redis-cli(?: [^\n;|&]{0,120}?)? -a |ldap[a-z]{3,8}(?: [^\n;|&]{0,120}?)? -w |(?:sshpass|mongo(?:sh)?|redis-cli|ldapsearch)\\?['\x22],[^\n]{0,120}?['\x22]-[paw]\\?['\x22], ?\\?)(?:'([^'\n\\]{4,256})'|['\x22]?([^\s'\x22\x60({<\[][^\s'\x22]{3,256}))",
        holds: is_given,
        found: &[
            "sshpass -p ⟦hunter2heron⟧ ssh ada@h",
            "mysql -u ada -p⟦hunter2heron⟧ db",
            "docker login -u ada -p '⟦hunter2heron⟧' r.io",
            "mysqldump -uroot -p'⟦hunter2 heron⟧' db",
            "redis-cli -h h -a ⟦hunter2heron⟧ ping",
            "['sshpass', '-p', '⟦hunter2heron⟧', 'ssh']",
        ],
        passed: &[
            "mysql -u ada -p db",
            "docker run --name mysql -p 3306:3306 -p33060:33060 x",
            "docker run --name mongo -p 27017:27017 x",
            "mysql --protocol=tcp --port 3306",
            "aws sso login --profile ada2",
            "sshpass -p $SECRET ssh h",
        ],
        ..RULE
    },
    Rule {
        id: "netrc-password",
        about: "passwords in the lines of a .netrc",
        anchors: &["machine "],
        shape: r"(?i:machine\s+(?:\S{0,64}\.\S{1,64}|localhost)\s+login\s+\S{1,128}\s+(?:account\s+\S{1,128}\s+)?password)\s+(\S{3,256})",
        holds: |text| !is_reference(text),
        found: &[
            "machine github.com login ada password ⟦hunter⟧",
            "machine api.h.io\n  login ada\n  password ⟦hunterheron⟧\n",
        ],
        passed: &[
            "machine learning login page password field",
            "machine github.com login ada password $SECRET",
        ],
        ..RULE
    },
    Rule {
        id: "database-password",
        about: "passwords in addresses of databases that are no URLs",
        anchors: &[":5432:", "jdbc:oracle:"],
        edge: |_| false,
        shape: r"(?::5432:[A-Za-z_*][^:\s]{0,64}:[A-Za-z_*][^:\s]{0,64}:([^\s:]{3,256})|jdbc:oracle:[a-z0-9]{1,8}:[^/\s:@]{1,64}/([^@\s]{1,128})@)",
        holds: |text| is_given(text) && !is_reference(text),
        found: &[
            "db.h.io:5432:x:ada:⟦hunterheron⟧",
            "jdbc:oracle:thin:ada/⟦hunter⟧@//h:1521/x",
        ],
        passed: &[
            "docker run -p localhost:5432:5432 x",
            "x:5432:12:34:error",
            "jdbc:oracle:thin:@//h:1521/x",
        ],
        ..RULE
    },
    Rule {
        id: "mysql-dsn",
        about: "passwords in front of the address in what drivers of Go are given",
        anchors: &["@tcp(", "@unix("],
        lead: |byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'='),
        edge: |_| false,
        shape: r"(?:[a-z0-9+]{1,16}://)?[^:/\s]{1,64}:(\S{1,64}?)@(?:tcp|unix)\(",
        holds: |text| !is_reference(text),
        found: &["dsn=ada:⟦hunterheron⟧@tcp(h:3306)/x"],
        passed: &["ada@tcp(h:3306)/x", "ada:$SECRET@tcp(h:3306)/x"],
        ..RULE
    },
    Rule {
        id: "smtp-auth",
        about: "what a mail server is given to prove who asks",
        anchors: &["AUTH PLAIN "],
        shape: r"(?i:auth plain) ([A-Za-z0-9+/]{8,}={0,2})",
        holds: |text| {
            let said = STANDARD.decode(text).unwrap_or_default();
            memchr::memchr_iter(0, &said).count() == 2
        },
        found: &["C: AUTH PLAIN ⟦AGFkYQBodW50ZXJoZXJvbg==⟧"],
        passed: &["250-AUTH PLAIN LOGIN", "250 AUTH PLAIN XOAUTH2 CRAMMD5AAAA"],
        ..RULE
    },
    Rule {
        id: "login-command",
        about: "passwords that Redis and servers of mail are told to log in",
        anchors: &["AUTH ", "AUTH\" ", "AUTH\\\" ", " LOGIN "],
        lead: |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'>' | b' '),
        edge: is_of_name,
        shape: r#"(?:(?:[nr]|[^\s]{0,24}> ?)?AUTH (?:[A-Za-z0-9_.@-]{1,64} )?([^\s'"\\<>{}$]{6,256}) *(?:['"\\\r\n]|\z)|AUTH\\?"(?: \\?"[^"\\]{1,64}\\?")? \\?"([^"\\]{4,256})\\?"|(?:[A-Za-z0-9> ]{0,64} )?[A-Za-z]{0,3}\d{1,6} LOGIN \\?"?[A-Za-z0-9._@+-]{1,64}\\?"? \\?"?([^\s"'\\]{4,256})\\?"? *(?:[\\\r\n]|\z))"#,
        holds: |text| {
            is_given(text) && looks_random(text) && text.bytes().any(|b| b.is_ascii_lowercase())
        },
        found: &[
            "AUTH ⟦hunter2heron⟧",
            "127.0.0.1:6379> AUTH default ⟦hunter2heron⟧\r\n",
            "1690000000.12 [0 127.0.0.1:3000] \"AUTH\" \"ada\" \"⟦hunter2heron⟧\"",
            r"+OK\nAUTH ⟦hunter2heron⟧\n",
            "a1 LOGIN ada ⟦hunter2heron⟧",
            "C: A001 LOGIN \"ada\" \"⟦hunter2heron⟧\"\r\n",
        ],
        passed: &[
            "AUTH CRAM-MD5",
            "AUTH required",
            "the AUTH token2go",
            "AUTH failed for user2 at h2",
            "\"AUTH\", \"x2y3z4\"",
            "step 1 LOGIN page v2beta3 is open",
        ],
        ..RULE
    },
    Rule {
        id: "basic-auth-call",
        about: "passwords behind the user in a call that sets them",
        anchors: &["BasicAuth(", "basic_auth(", "DigestAuth("],
        edge: |_| false,
        shape: r#"(?i:(?:basic|digest)_?auth)\(\s{0,16}\\?['"][^'"\\\n]{1,64}\\?['"],\s{0,16}(?:Some\()?\\?['"]([^'"\\\n]{3,128})\\?['"]"#,
        holds: |text| !is_reference(text),
        found: &[
            "auth=HTTPBasicAuth('ada', '⟦hunterheron⟧')",
            "req.SetBasicAuth(\"ada\", \"⟦hunterheron⟧\")",
            ".basic_auth(\"ada\", Some(\"⟦hunterheron⟧\"))",
        ],
        passed: &[
            "HTTPBasicAuth('user', 'password')",
            "SetBasicAuth(user, password)",
            "basicAuth(\"users\")",
        ],
        ..RULE
    },
];
