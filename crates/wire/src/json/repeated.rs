//! Names that an object has more than once.

use super::value::Value;
use std::borrow::Cow;

/// Up to how many members are compared with each other before sorting pays.
const FEW: usize = 16;

/// How many repeated names of one object are told: a hostile line must not become a longer list.
const MAX_TOLD: usize = 8;

impl<'d> Value<'d> {
    /// The names that an object has more than once, each once, sorted, eight at most. None for
    /// other values.
    pub fn repeated_names(&self) -> Vec<Cow<'d, str>> {
        if surely_distinct(*self) {
            return Vec::new();
        }
        let names = self.members().filter_map(|(key, _)| key.as_str());
        let mut names: Vec<Cow<'_, str>> = names.collect();
        names.sort_unstable();
        let equal = names.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
        equal.take(MAX_TOLD).map(|same| same[0].clone()).collect()
    }
}

/// Whether a look at the bytes is enough to say that no name repeats.
fn surely_distinct(object: Value<'_>) -> bool {
    let mut seen: [&[u8]; FEW] = [b""; FEW];
    for (index, (key, _)) in object.members().enumerate() {
        let name = key.string_bytes().unwrap_or_default();
        if index == FEW || key.has_escapes() || seen[..index].contains(&name) {
            return false;
        }
        seen[index] = name;
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::json::Document;

    fn repeated(text: &str) -> Vec<String> {
        let document = Document::parse(text.as_bytes()).unwrap();
        let names = document.root().repeated_names();
        names.into_iter().map(Into::into).collect()
    }

    #[test]
    fn names_are_compared_by_what_they_mean() {
        assert_eq!(repeated(r#"{"id":1,"\u0069d":2,"x":0}"#), ["id"]);
        assert_eq!(repeated(r#"{"b":1,"a":1,"a":1,"b":1,"a":1}"#), ["a", "b"]);
        assert!(repeated(r#"{"a":{"a":1},"b":{"a":1}}"#).is_empty());
        assert!(repeated(r#"["a","a"]"#).is_empty());
    }

    #[test]
    fn many_members_are_compared_and_a_few_names_told() {
        let object = |names: &mut dyn Iterator<Item = usize>| {
            let members: Vec<_> = names.map(|n| format!("\"k{n}\":1")).collect();
            format!("{{{}}}", members.join(","))
        };
        assert!(repeated(&object(&mut (0..5000))).is_empty());
        assert_eq!(repeated(&object(&mut (0..5000).chain([0]))), ["k0"]);
        assert_eq!(repeated(&object(&mut (0..5000).map(|n| n / 2))).len(), 8);
    }
}
