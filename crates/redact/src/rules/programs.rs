//! Secrets in command lines, options, headers, and in what tools print and write.

use crate::entropy;
use crate::lists::is_value;
use crate::plausible::{is_reference, looks_random};
use crate::rules::{RULE, Rule, is_of_name};
use crate::token::Kind;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// What programs are given on their command line, and databases in their statements.
pub(super) const COMMANDS: &[Rule] = &[
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

/// Whether it can be a password: not a port, a path, or where one comes from.
pub(super) fn is_given(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or_default();
    first.bytes().any(|byte| !byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !text.starts_with(['/', '\\'])
        && !is_reference(text)
}

/// What tools are given on their command line, in front of a pipe, or in a call.
pub(super) const TOOLS: &[Rule] = &[
    Rule {
        id: "tool-password",
        about: "passwords that archives, keys of ssh, transfers and databases are given by an option",
        anchors: &[
            "ssh-keygen ",
            "zip ",
            "unzip ",
            "7z ",
            "sqlcmd ",
            "twine ",
            "htpasswd ",
            "lftp ",
            "smbclient ",
            "configure set ",
            "openssl ",
            "sqlplus ",
            "ncftp",
        ],
        edge: |byte| byte.is_ascii_alphanumeric(),
        shape: r"(?:ssh-keygen [^\n;|&]{0,120}?-[NP] |(?:un)?zip [^\n;|&]{0,80}?-P ?|7z [axe] (?:[^\n;|&]{0,80}? )?-p|sqlcmd [^\n;|&]{0,120}?-P ?|twine upload [^\n;|&]{0,120}?-p |htpasswd -[a-zA-Z]{0,4}b[a-zA-Z]{0,4} \S{1,64} \S{1,64} |lftp (?:[^\n;|&]{0,80}? )?-u [^\s,]{1,64},|smbclient [^\n;|&]{0,120}?-U ['\x22]?[^\s%]{1,64}%|openssl [a-z0-9]{2,8} [^\n;|&]{0,120}?(?:-k |pass:)|sqlplus (?:-[A-Za-z]{1,2} ){0,3}[A-Za-z][A-Za-z0-9_$#]{0,30}/|ncftp[a-z]{0,4} [^\n;|&]{0,80}?-p |configure set (?:[a-z0-9_.]{1,64}\.)?aws_(?:secret_access_key|session_token) )(?:'([^'\n\\]{3,256})'|\\?\x22([^\x22\n\\]{3,256})|([^\s'\x22\\(){}<>$%][^\s'\x22\\]{2,255}))",
        holds: is_given,
        found: &[
            "ssh-keygen -t ed25519 -N '⟦hunter2 heron⟧' -f k",
            "zip -r -P ⟦hunterheron⟧ a.zip a",
            "7z x -p⟦hunterheron⟧ a.7z",
            "sqlcmd -S h -U sa -P ⟦hunterheron⟧",
            "htpasswd -cb f ada ⟦hunterheron⟧",
            "lftp -u ada,⟦hunterheron⟧ h",
            "smbclient //h/s -U ada%⟦hunterheron⟧",
            "openssl enc -aes-256-cbc -k ⟦hunterheron⟧ -in a",
            "sqlplus ada/⟦hunterheron⟧ @x",
            "ncftpput -u ada -p ⟦hunterheron⟧ h",
            "aws configure set profile.x.aws_secret_access_key ⟦k3Jd8fLq2Wz7Xn5Rb1Tc9V⟧",
        ],
        passed: &[
            "ssh-keygen -N \"\" -f k",
            "zip -r a.zip src -P $SECRET",
            "a zip file of 12 MB",
            "7z x a.7z",
            "sqlcmd -S h -P",
            "htpasswd -c f ada",
            "openssl req -newkey rsa:2048 -keyout k.pem",
            "sqlplus /nolog",
            "aws configure set region eu-west-1",
        ],
        ..RULE
    },
    Rule {
        id: "piped-password",
        about: "passwords that are written into a pipe, or masked in the log of a build",
        anchors: &["echo ", "add-mask::"],
        edge: |byte| byte.is_ascii_alphanumeric(),
        shape: r"(?:echo (?:-n )?\\?['\x22]?([^\s'\x22\\|$]{3,128})\\?['\x22]? ?\| ?(?:sudo -S|[a-z]{2,10} [^\n|;&]{0,80}?--(?:password-stdin|with-token))|add-mask::([^\s'\x22\\$]{3,256}))",
        holds: is_given,
        found: &[
            "echo '⟦hunterheron⟧' | docker login -u ada --password-stdin",
            "echo ⟦hunterheron⟧ | sudo -S ls",
            "::add-mask::⟦hunterheron⟧",
        ],
        passed: &[
            "echo done | tee x",
            "echo $SECRET | docker login --password-stdin",
            "::add-mask::$SECRET",
        ],
        ..RULE
    },
    Rule {
        id: "connection-call",
        about: "passwords behind the address and the user in a call, and in the code of a network",
        anchors: &["getConnection(", "WIFI:"],
        shape: r"(?:getConnection\(\s{0,16}\\?\x22jdbc:[^\x22\n]{1,300}\x22,\s{0,16}\\?\x22[^\x22\n]{1,64}\x22,\s{0,16}\\?\x22([^\x22\n\\]{3,128})|WIFI:[^\n]{0,120}?P:([^;\n]{3,128});)",
        edge: |byte| byte.is_ascii_alphanumeric(),
        found: &[
            "DriverManager.getConnection(\"jdbc:mysql://h/x\", \"ada\", \"⟦hunterheron⟧\")",
            "WIFI:T:WPA;S:net;P:⟦hunterheron⟧;;",
        ],
        passed: &[
            "getConnection(\"jdbc:mysql://h/x\", user, password)",
            "WIFI: on; P: 2",
            "getConnection(\"jdbc:mysql://h/x\", \"user\", \"password\")",
        ],
        ..RULE
    },
];

/// What is no secret and may say too much: only where it is asked for.
pub(super) const OPTIONS: &[Rule] = &[
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

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-')
}

/// What is sent to prove who asks.
pub(super) const HEADERS: &[Rule] = &[
    Rule {
        id: "jwt",
        about: "JSON Web Tokens",
        anchors: &["eyJ"],
        shape: r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}",
        found: &[
            "⟦eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U⟧",
            "unsigned ⟦eyJhbGciOiJub25lIn0.eyJzdWIiOiI3In0.⟧ end",
        ],
        passed: &[
            "eyJvZmZzZXQiOjEwMCwibGltaXQiOjUwfQ==",
            "eyJ.a.b",
            "keyJhbGciOiJub25lIn0.eyJzdWIiOiI3In0.",
        ],
        ..RULE
    },
    Rule {
        id: "bearer-token",
        about: "what stands behind Bearer",
        anchors: &["bearer ", "bearer+", "bearer%20", "bearer:"],
        shape: r"(?i:bearer)(?:[ +]+|%20|: ?)([A-Za-z0-9._~+/=-]{8,})",
        holds: looks_random,
        found: &[
            "Authorization: Bearer ⟦k3Jd8fLq2Wz7Xn5⟧",
            "bearer ⟦0123456789abcdef⟧,",
        ],
        passed: &[
            "a bearer token is needed",
            "Bearer authentication",
            "Bearer <token>",
            "bearer of good news",
        ],
        ..RULE
    },
    Rule {
        id: "basic-auth",
        about: "what stands behind Basic",
        anchors: &["basic ", "basic+", "basic%20"],
        shape: r"(?i:basic)(?:[ +]+|%20)([A-Za-z0-9+/_-]{6,}(?:={0,2}|(?:%3[Dd]){0,2}))",
        holds: |text| crate::encodings::is_pair(text.as_bytes()),
        found: &["Authorization: Basic ⟦YWRhOmh1bnRlcjI=⟧"],
        passed: &["Basic authentication", "basic functionality", "Basic YWRh"],
        ..RULE
    },
    Rule {
        id: "url-code",
        about: "codes in the query of a URL that are given back for a token",
        anchors: &["?code=", "&code="],
        edge: |_| false,
        shape: r"[?&](?i:code)=([A-Za-z0-9._~/%+-]{16,})",
        holds: |text| is_value(text.as_bytes()) || !entropy::is_read(text.as_bytes()),
        found: &[
            "/callback?code=⟦SplxlOBeZQQYbYS6WxSbIA⟧&state=x",
            "grant_type=authorization_code&code=⟦4/0AX4XfWhk3Jd8fLq2Wz7⟧&x=1",
        ],
        passed: &[
            "?code=NO&lang=nb",
            "?code=ERR_MODULE_NOT_FOUND",
            "?code=0a1b2c3d-1111-2222-3333-444455556666",
            "country_code=k3Jd8fLq2Wz7Xn5Rb1Tc9",
        ],
        ..RULE
    },
    Rule {
        id: "url-key",
        about: "keys in the query of a URL that nobody reads",
        anchors: &["?key=", "&key="],
        edge: |_| false,
        shape: r"[?&](?i:key)=([A-Za-z0-9_-]{16,128})(?:[^A-Za-z0-9_./%-]|\z)",
        holds: |text| !entropy::is_read(text.as_bytes()),
        found: &["https://maps.x.io/?key=⟦k3Jd8fLq2Wz7Xn5Rb1Tc⟧&q=1"],
        passed: &[
            "?key=user-profile-settings",
            "?key=photos/2026/k3Jd8fLq2Wz7Xn5Rb1Tc.jpg",
            "?key=3f1c0a9be2d47586c1f0e9d8b7a69584",
        ],
        ..RULE
    },
];
