//! What the name of a key, a variable or an option says about its value.

/// What is held by something with such a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A password or a key: whatever stands there, numbers too.
    Password,
    /// A token, which is a word of its own kind, and no count of them.
    Token,
    /// A header: what comes after its scheme.
    Header,
    /// A password, or the folder in which somebody works: `PWD`.
    Folder,
    Digits,
    /// Two halves with a colon between them, as base64 or behind a scheme.
    Pair,
    /// Several, or how many of them, or a key of whatever kind: only what nobody reads is one.
    Many,
    /// A key whose name stands in words, `API key`: people write of it as well.
    Key,
}

/// Longer names are judged by their ends.
const LONGEST: usize = 96;

/// Names that end so, whatever comes before.
const ENDINGS: [&str; 40] = [
    "password",
    "passwd",
    "passwort",
    "passphrase",
    "passcode",
    "secret",
    "apikey",
    "secretkey",
    "secretkeybase",
    "accesskey",
    "privatekey",
    "authkey",
    "accountkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "sharedkey",
    "licensekey",
    "openaikey",
    "anthropickey",
    "subscriptionkey",
    "servicekey",
    "functionskey",
    "sshkey",
    "connectionstring",
    "connectionuri",
    "credential",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "bearertoken",
    "sessiontoken",
    "apitoken",
    "privatetoken",
    "csrftoken",
    "xsrftoken",
    "middlewaretoken",
    "identitytoken",
    "registrytoken",
    "recoverycode",
];

/// Names that end with one of these words.
const WORDS: [(&str, Class); 14] = [
    ("token", Class::Token),
    ("jwt", Class::Token),
    ("pat", Class::Token),
    ("bearer", Class::Token),
    ("pwd", Class::Password),
    ("pass", Class::Password),
    ("pw", Class::Password),
    ("psk", Class::Password),
    ("cookie", Class::Header),
    ("authorization", Class::Header),
    ("auth", Class::Pair),
    ("otp", Class::Digits),
    ("cvv", Class::Digits),
    ("cvc", Class::Digits),
];

const WHOLE: [(&str, Class); 17] = [
    ("tokens", Class::Many),
    ("jwts", Class::Many),
    ("cookies", Class::Many),
    ("devicecode", Class::Many),
    ("codeverifier", Class::Many),
    ("samlresponse", Class::Many),
    ("samlrequest", Class::Many),
    ("pwd", Class::Folder),
    ("oldpwd", Class::Folder),
    ("pin", Class::Digits),
    ("pincode", Class::Digits),
    ("cardpin", Class::Digits),
    ("userpin", Class::Digits),
    ("totp", Class::Digits),
    ("mfacode", Class::Digits),
    ("onetimecode", Class::Digits),
    ("verificationcode", Class::Digits),
];

/// Cookies of sessions, as frameworks call them to the letter. A session of the protocol is an id
/// that both sides need, and is called otherwise: `sessionId`, `session_id`, `Mcp-Session-Id`.
const COOKIES: [&str; 8] = [
    "sessionid",
    "jsessionid",
    "JSESSIONID",
    "PHPSESSID",
    "ASP.NET_SessionId",
    "connect.sid",
    "laravel_session",
    "ci_session",
];

/// Keys of variables that are no secrets: of rows, of files, of what everybody may know.
const OTHER_KEYS: [&str; 30] = [
    "public",
    "publishable",
    "anon",
    "gpg",
    "pgp",
    "apt",
    "primary",
    "foreign",
    "unique",
    "sort",
    "partition",
    "range",
    "cache",
    "storage",
    "object",
    "row",
    "index",
    "lookup",
    "group",
    "routing",
    "idempotency",
    "dedup",
    "host",
    "project",
    "issue",
    "file",
    "registry",
    "event",
    "message",
    "commit",
];

/// What ends like a secret and is none: words of the protocol, pages, the alphabet of a model.
const OTHERS: [&str; 26] = [
    "progresstoken",
    "nexttoken",
    "pagetoken",
    "continuationtoken",
    "synctoken",
    "cursortoken",
    "cancellationtoken",
    "canceltoken",
    "pertoken",
    "stoptoken",
    "eostoken",
    "bostoken",
    "padtoken",
    "unktoken",
    "masktoken",
    "septoken",
    "clstoken",
    "starttoken",
    "endtoken",
    "lasttoken",
    "firsttoken",
    "maxtoken",
    "toptoken",
    "specialtoken",
    "designtoken",
    "colortoken",
];

/// The words in names by which they are noticed in a text; each name that says something has one.
pub(super) const NOTICED: [&str; 55] = [
    "password",
    "passwd",
    "passwort",
    "passphrase",
    "passcode",
    "secret",
    "key",
    "keybase",
    "key_base",
    "connectionstring",
    "connection-string",
    "connection_string",
    "connection string",
    "connectionuri",
    "connection_uri",
    "credential",
    "token",
    "recoverycode",
    "recovery_code",
    "jwt",
    "pat",
    "bearer",
    "pwd",
    "pass",
    "pw",
    "psk",
    "devicecode",
    "device_code",
    "codeverifier",
    "code_verifier",
    "samlresponse",
    "samlrequest",
    "cookie",
    "authorization",
    "auth",
    "otp",
    "cvv",
    "cvc",
    "pin",
    "pincode",
    "mfa_code",
    "mfacode",
    "onetimecode",
    "one_time_code",
    "time code",
    "mfa code",
    "recovery code",
    "verificationcode",
    "verification_code",
    "verification code",
    "sessionid",
    "sessid",
    "connect.sid",
    "laravel_session",
    "ci_session",
];

/// What the value of something with this name is; `None` if the name says nothing of the kind.
pub(super) fn class(name: &[u8]) -> Option<Class> {
    let name = &name[name.len().saturating_sub(LONGEST)..];
    let (joined, begins) = joined(name);
    let one = joined.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if OTHERS.iter().any(|other| one.ends_with(other)) {
        return None;
    }
    if let Some((_, class)) = WHOLE.iter().find(|(whole, _)| *whole == one) {
        return Some(*class);
    }
    if is_cookie(name) {
        return Some(Class::Many);
    }
    let is_word = |word: &str| {
        let at = one.len().checked_sub(word.len());
        one.ends_with(word) && at.and_then(|at| begins.get(at)).copied().unwrap_or(false)
    };
    if let Some((_, class)) = WORDS.iter().find(|(word, _)| is_word(word)) {
        return Some(*class);
    }
    let singular = one.strip_suffix('s').unwrap_or(one);
    let ends = |ending: &&&str| one.ends_with(**ending) || singular.ends_with(**ending);
    match ENDINGS.iter().find(ends) {
        Some(ending) if ending.ends_with("token") => Some(Class::Token),
        Some(_) => Some(Class::Password),
        None => is_key(name, one).then_some(Class::Many),
    }
}

/// Whether it is a cookie's, whatever stands in front of it and a dot.
fn is_cookie(name: &[u8]) -> bool {
    COOKIES.iter().any(|cookie| {
        let before = name.strip_suffix(cookie.as_bytes());
        before.is_some_and(|before| before.is_empty() || before.ends_with(b"."))
    })
}

/// Whether it is the name of a variable for a key, `STRIPE_KEY`, and of none that is known for
/// something else.
fn is_key(name: &[u8], one: &str) -> bool {
    let is_variable = !name.iter().any(u8::is_ascii_lowercase);
    let of_what = one.strip_suffix("key").unwrap_or_default();
    is_variable
        && (name.ends_with(b"_KEY") || name.ends_with(b"-KEY"))
        && !of_what.is_empty()
        && !OTHER_KEYS.iter().any(|other| of_what.contains(other))
}

/// The letters and digits of a name, small, and for each whether a word begins there.
pub(super) fn joined(name: &[u8]) -> (String, Vec<bool>) {
    let (mut joined, mut begins) = (String::new(), Vec::new());
    let mut before = b' ';
    for &byte in name {
        if byte.is_ascii_alphanumeric() {
            let turns = byte.is_ascii_uppercase() && !before.is_ascii_uppercase();
            begins.push(!before.is_ascii_alphanumeric() || turns);
            joined.push(char::from(byte.to_ascii_lowercase()));
        }
        before = byte;
    }
    (joined, begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_hold() {
        for (name, expected) in [
            ("password", Class::Password),
            ("DB_PASSWORD", Class::Password),
            ("PGPASSWORD", Class::Password),
            ("MYSQL_PWD", Class::Password),
            ("user-pass", Class::Password),
            ("PWD", Class::Folder),
            ("OLDPWD", Class::Folder),
            ("clientSecret", Class::Password),
            ("client_secret_2", Class::Password),
            ("AWS_SECRET_ACCESS_KEY", Class::Password),
            ("x-api-key", Class::Password),
            ("apiKeys", Class::Password),
            ("credentials", Class::Password),
            ("AccountKey", Class::Password),
            ("API Key", Class::Password),
            ("GITHUB_TOKEN", Class::Token),
            ("accessToken", Class::Token),
            ("_authToken", Class::Token),
            ("GITHUB_PAT", Class::Token),
            ("idToken", Class::Token),
            ("Authorization", Class::Header),
            ("Set-Cookie", Class::Header),
            ("pin", Class::Digits),
            ("otp", Class::Digits),
            ("_auth", Class::Pair),
            ("tokens", Class::Many),
            ("cookies", Class::Many),
            ("sessionid", Class::Many),
            ("request.PHPSESSID", Class::Many),
            ("STRIPE_KEY", Class::Many),
            ("OPENAI_KEY", Class::Password),
            ("verificationCode", Class::Digits),
        ] {
            assert_eq!(class(name.as_bytes()), Some(expected), "{name}");
        }
    }

    #[test]
    fn whatever_says_something_is_noticed() {
        let all = ENDINGS.iter().chain(WORDS.iter().map(|(word, _)| word));
        let all = all.chain(WHOLE.iter().map(|(word, _)| word));
        for name in all.chain(COOKIES.iter()) {
            let name = name.to_ascii_lowercase();
            let one = name.strip_suffix('s').unwrap_or(&name);
            let is_noticed = |word: &&str| name.ends_with(*word) || one.ends_with(*word);
            let noticed = NOTICED.iter().any(is_noticed);
            assert!(noticed, "{name}");
        }
    }
}
