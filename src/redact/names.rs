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
    /// A few digits.
    Digits,
    /// Two halves with a colon between them, as base64 or behind a scheme.
    Pair,
    /// Several, or how many of them: only what nobody reads is one.
    Many,
}

/// Longer names are judged by their ends.
const LONGEST: usize = 96;

/// Names that end so, whatever comes before.
const ENDINGS: [&str; 34] = [
    "password",
    "passwd",
    "passwort",
    "passphrase",
    "passcode",
    "secret",
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "authkey",
    "accountkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "sharedkey",
    "licensekey",
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
    "recoverycode",
];

/// Names that end with one of these words.
const WORDS: [(&str, Class); 13] = [
    ("token", Class::Token),
    ("jwt", Class::Token),
    ("pat", Class::Token),
    ("bearer", Class::Token),
    ("pwd", Class::Password),
    ("pass", Class::Password),
    ("pw", Class::Password),
    ("cookie", Class::Header),
    ("authorization", Class::Header),
    ("auth", Class::Pair),
    ("otp", Class::Digits),
    ("cvv", Class::Digits),
    ("cvc", Class::Digits),
];

/// Whole names.
const WHOLE: [(&str, Class); 12] = [
    ("tokens", Class::Many),
    ("jwts", Class::Many),
    ("cookies", Class::Many),
    ("pwd", Class::Folder),
    ("oldpwd", Class::Folder),
    ("pin", Class::Digits),
    ("pincode", Class::Digits),
    ("cardpin", Class::Digits),
    ("userpin", Class::Digits),
    ("totp", Class::Digits),
    ("mfacode", Class::Digits),
    ("onetimecode", Class::Digits),
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
pub(super) const NOTICED: [&str; 35] = [
    "password",
    "passwd",
    "passwort",
    "passphrase",
    "passcode",
    "secret",
    "key",
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
    let is_word = |word: &str| {
        let at = one.len().checked_sub(word.len());
        one.ends_with(word) && at.and_then(|at| begins.get(at)).copied().unwrap_or(false)
    };
    if let Some((_, class)) = WORDS.iter().find(|(word, _)| is_word(word)) {
        return Some(*class);
    }
    let singular = one.strip_suffix('s').unwrap_or(one);
    let ends = |ending: &&str| one.ends_with(*ending) || singular.ends_with(*ending);
    let is_token = ENDINGS
        .iter()
        .find(|ending| ends(ending))?
        .ends_with("token");
    Some(if is_token {
        Class::Token
    } else {
        Class::Password
    })
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
        ] {
            assert_eq!(class(name.as_bytes()), Some(expected), "{name}");
        }
    }

    #[test]
    fn other_names_say_nothing() {
        for name in [
            "progressToken",
            "progress_token",
            "max_tokens",
            "total_tokens",
            "tokenType",
            "token_count",
            "nextPageToken",
            "nextCursor",
            "requestState",
            "keyboard",
            "key",
            "primaryKey",
            "publicKey",
            "secretName",
            "passwordPolicy",
            "bypass",
            "compass",
            "spin",
            "mapping",
            "path",
            "tokenizer",
            "author",
            "oauth",
            "cost_per_token",
            "pinned",
            "code",
            "",
        ] {
            assert_eq!(class(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn whatever_says_something_is_noticed() {
        let all = ENDINGS.iter().chain(WORDS.iter().map(|(word, _)| word));
        for name in all.chain(WHOLE.iter().map(|(word, _)| word)) {
            let one = name.strip_suffix('s').unwrap_or(name);
            let is_noticed = |word: &&str| name.ends_with(*word) || one.ends_with(*word);
            let noticed = NOTICED.iter().any(is_noticed);
            assert!(noticed, "{name}");
        }
    }
}
