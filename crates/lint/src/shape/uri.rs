//! URIs and templates for them.

use fluent_uri::Uri;

/// What is wrong with a URI (RFC 3986); `None` where nothing is.
pub fn fault(text: &str) -> Option<String> {
    Uri::parse(text).err().map(|error| error.to_string())
}

/// The scheme of a URI as it stands, whatever comes after it.
pub fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|char: char| char.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme.then_some(scheme)
}

/// What is wrong with a template (RFC 6570, section 2); `None` where nothing is.
pub fn template_fault(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let offset = text.len() - rest.len() + at;
        if rest[at..].starts_with('}') {
            return Some(format!("a closing brace at byte {offset} that none opens"));
        }
        let inner = &rest[at + 1..];
        let Some(end) = inner
            .find(['{', '}'])
            .filter(|end| inner[*end..].starts_with('}'))
        else {
            return Some(format!("the brace at byte {offset} is not closed"));
        };
        if !is_expression(&inner[..end]) {
            return Some(format!("no variables between the braces at byte {offset}"));
        }
        rest = &inner[end + 1..];
    }
    let outside = text.split('{').filter_map(|part| part.rsplit('}').next());
    let stray = outside.flat_map(str::chars).find(|char| !is_literal(*char));
    stray.map(|char| format!("the character {char:?}, which has to be escaped"))
}

/// Operator and variables, each with how much of it is wanted.
fn is_expression(text: &str) -> bool {
    let operators = ['+', '#', '.', '/', ';', '?', '&', '=', ',', '!', '@', '|'];
    let list = text.strip_prefix(operators).unwrap_or(text);
    list.split(',').all(|variable| {
        let name = match variable.split_once(':') {
            Some((name, length)) if length.parse::<u16>().is_ok() => name,
            Some(_) => return false,
            None => variable.strip_suffix('*').unwrap_or(variable),
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'%');
        !name.is_empty() && name.bytes().all(is_name)
    })
}

/// Whether a character may stand outside of expressions. What is no ASCII may.
fn is_literal(char: char) -> bool {
    !char.is_ascii_control()
        && !matches!(char, ' ' | '"' | '\'' | '<' | '>' | '\\' | '^' | '`' | '|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_have_a_scheme_and_no_stray_characters() {
        for good in [
            "file:///home/a%20b",
            "memo://insights",
            "test://static/resource/1",
            "urn:isbn:0451450523",
            "data:text/plain,hi",
            "https://[::1]:80/?q=a#b",
        ] {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in [
            "/etc/hosts",
            "notes",
            "",
            "file:///a b",
            "http://[::1",
            "a:%zz",
            "x://é",
        ] {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn schemes_are_read_from_anything() {
        assert_eq!(scheme("javascript:alert(1)"), Some("javascript"));
        assert_eq!(scheme("HTTPS://a b"), Some("HTTPS"));
        assert_eq!(scheme("/icon.png"), None);
        assert_eq!(scheme("a b:c"), None);
    }

    #[test]
    fn braces_of_templates_are_closed_and_hold_variables() {
        for good in [
            "file:///{path}",
            "a://{+path*}/{?q,lang:3}",
            "a://{id}",
            "plain://nothing",
            "{scheme}://x",
            "a://{x.y_z}/%20",
        ] {
            assert_eq!(template_fault(good), None, "{good}");
        }
        for bad in [
            "a://{id",
            "a://id}",
            "a://{}",
            "a://{a{b}}",
            "a://{a b}",
            "a://b c",
            "a://{a:x}",
            "a://{a,}",
        ] {
            assert!(template_fault(bad).is_some(), "{bad}");
        }
    }
}
