//! Whether two messages say the same but for prose: what people and models read, and no rule about
//! later messages.

use mcpreel_wire::json::{Document, Kind, Value};

/// Members whose text is prose, in what a side says of itself, in lists and in schemas.
const PROSE: [&str; 3] = ["description", "instructions", "title"];

/// Members of a schema in which a value stands as it is: nothing in there is prose.
const VALUES: [&str; 5] = ["const", "enum", "default", "examples", "_meta"];

/// What is deeper has to be the same to the byte.
const DEEPEST: u32 = 64;

pub(super) fn is_same_but_prose(before: &[u8], after: &[u8]) -> bool {
    match (Document::parse(before), Document::parse(after)) {
        (Ok(before), Ok(after)) => is_same(&before.root(), &after.root(), DEEPEST),
        _ => false,
    }
}

fn is_same(before: &Value<'_>, after: &Value<'_>, depth: u32) -> bool {
    if depth == 0 || before.kind() != after.kind() {
        return before.raw() == after.raw();
    }
    match before.kind() {
        Kind::Object => {
            let (mut members, mut others) = (before.members(), after.members());
            let same = members.by_ref().all(|(key, value)| {
                let other = others.next().filter(|(other, _)| other.raw() == key.raw());
                other.is_some_and(|(_, other)| is_same_member(&key, [&value, &other], depth - 1))
            });
            same && others.next().is_none()
        }
        Kind::Array => {
            let (mut elements, mut others) = (before.elements(), after.elements());
            let same = elements.by_ref().all(|element| {
                let other = others.next();
                other.is_some_and(|other| is_same(&element, &other, depth - 1))
            });
            same && others.next().is_none()
        }
        _ => before.raw() == after.raw(),
    }
}

fn is_same_member(key: &Value<'_>, [value, other]: [&Value<'_>; 2], depth: u32) -> bool {
    let is_one_of = |names: &[&str]| names.iter().any(|name| key.is_str(name));
    let are_texts = value.kind() == Kind::String && other.kind() == Kind::String;
    if is_one_of(&VALUES) {
        return value.raw() == other.raw();
    }
    is_one_of(&PROSE) && are_texts || is_same(value, other, depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_prose_may_be_another() {
        let tool = |what: &str, more: &str| {
            format!(
                r#"{{"result":{{"tools":[{{"name":"a","description":"{what}","inputSchema":{{
                    "properties":{{"title":{{"title":"{what}","type":"string"{more}}}}}}}}}]}}}}"#
            )
        };
        let same = |one: &str, other: &str| is_same_but_prose(one.as_bytes(), other.as_bytes());
        assert!(same(&tool("x", ""), &tool("another", "")));
        for more in [
            r#","pattern":"y""#,
            r#","const":{"title":"y"}"#,
            r#","enum":["y"]"#,
            r#","default":{"description":"y"}"#,
            r#","description":7"#,
        ] {
            let (one, other) = (tool("x", more), tool("x", &more.replace(['y', '7'], "8")));
            assert!(same(&one, &one) && !same(&one, &other), "{more}");
            assert!(
                !same(&one, &tool("x", "")) && !same(&tool("x", ""), &one),
                "{more}"
            );
        }
        for (one, other) in [
            ("[1]", "[1,2]"),
            ("{}", "[]"),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        ] {
            assert!(!same(one, other) && !same(other, one), "{one} {other}");
        }
        let deep = |text: &str| format!("{}{text}{}", "[".repeat(100), "]".repeat(100));
        assert!(same(&deep("1"), &deep("1")) && !same(&deep("1"), &deep("2")));
    }
}
