use super::*;
use crate::rules::Rules;

/// `CLASS NAME PATH: SENTENCE`, one for each difference of two lists.
fn found_by(rules: &str, list: List, left: &str, right: &str) -> Vec<String> {
    let mut all = Rules::default();
    let path = std::path::Path::new("r");
    all.add(rules, path).expect("the rules are right");
    let terms = Terms {
        scope: all.scope(list.method(), None),
        differences_only: true,
        ..Terms::default()
    };
    let listing = Listing([left, right].map(|elements| {
        let answer = format!(r#"{{"result":{{"{}":{elements}}}}}"#, list.member());
        vec![Page {
            seq: None,
            answer: answer.into_bytes(),
            is_first: true,
            is_last: true,
        }]
    }));
    let mut ledger = Ledger::default();
    compare(list, &listing, &terms, &mut ledger);
    let line = |found: &Offer| {
        let Difference {
            class, path, note, ..
        } = &found.difference;
        let note = note.as_deref().unwrap_or_default();
        format!("{} {} {path}: {note}", class.as_str(), found.name)
    };
    ledger.report.offers.iter().map(line).collect()
}

/// Two lists and what is said of them.
const TOOLS: &str = r#"
[{"name":"a"},{"name":"a"}] <> [{"name":"a"}] <> breaking a result.tools[1]: is gone
[7,{}] <> [7,{}] <>
[{"name":"a"}] <> [ { "name" : "a" } ] <>
[{"name":"a"},{"name":"b"}] <> [{"name":"b"},{"name":"a"}] <> order  result.tools: the tools are listed in another order
[{"name":"a"}] <> [{"name":"a"},{"name":"b"}] <> added b result.tools[1]: is new
[{"name":"a","x":1}] <> [{"name":"a","x":2}] <> changed a result.tools[0].x: another `x`
[{"name":"a","icons":[1]}] <> [{"name":"a","icons":[2]}] <> changed a result.tools[0].icons[0]: another `icons[0]`
[{"name":"a","title":"x"}] <> [{"name":"a"}] <> changed a result.tools[0].title: no `title` any more
[{"name":"a","x":{"y":1}}] <> [{"name":"a","x":{"y":2}}] <> changed a result.tools[0].x.y: another `x.y`
[{"name":"a","outputSchema":{}}] <> [{"name":"a"}] <> breaking a result.tools[0].outputSchema: output widened: is not described any more
[{"name":"a"}] <> [{"name":"a","outputSchema":{}}] <> added a result.tools[0].outputSchema: output narrowed: is described now"#;

const PROMPTS: &str = r#"
{"name":"x"} <> {"name":"x","required":true} <> breaking `x` is required now
{"name":"x","required":true} <> {"name":"x"} <> added `x` is optional now
 <> {"name":"x","required":true} <> breaking `x` is new and required
 <> {"name":"x"} <> added `x` is new and optional
{"name":"x"} <>  <> breaking `x` is gone"#;

#[test]
fn tools_prompts_and_resources_are_compared_by_name() {
    for case in TOOLS.lines().skip(1) {
        let parts: Vec<_> = case.split("<>").map(str::trim).collect();
        let found = found_by("", List::Tools, parts[0], parts[1]);
        assert_eq!(found.join("|"), parts[2], "{case}");
    }
    for case in PROMPTS.lines().skip(1) {
        let parts: Vec<_> = case.split("<>").map(str::trim).collect();
        let prompt = |arguments| format!(r#"[{{"name":"p","arguments":[{arguments}]}}]"#);
        let found = found_by("", List::Prompts, &prompt(parts[0]), &prompt(parts[1])).join("|");
        let found = found.replace("p result.prompts[0].arguments: argument ", "");
        assert_eq!(found, parts[2], "{case}");
    }
    let left = r#"[{"uri":"a:1","annotations":{"lastModified":"1"}}]"#;
    let right = r#"[{"uri":"a:1","annotations":{"lastModified":"2"}}]"#;
    let found = found_by("", List::Resources, left, right);
    assert!(
        found[0].starts_with("noise a:1 result.resources[0]"),
        "{found:?}"
    );
}

#[test]
fn rules_pass_over_what_they_cover() {
    let left =
        r#"[{"name":"a","description":"x","inputSchema":{"properties":{"q":{"minimum":1}}}}]"#;
    let right = r#"[{"name":"a","description":"y","inputSchema":{"properties":{"q":{"minimum":2}}}},{"name":"b"}]"#;
    for (rule, left_over) in [
        ("path = 'result.tools[*].description'", 2),
        ("path = 'result.tools[*].inputSchema.properties.q'", 2),
        ("path = 'result.tools[0]'", 1),
        ("path = 'result.tools'", 0),
        ("path = 'result.tools[1].description'", 3),
        ("path = 'result.tools[*]'\nside = 'right'", 2),
    ] {
        let found = found_by(&format!("[[ignore]]\n{rule}"), List::Tools, left, right);
        assert_eq!(found.len(), left_over, "{rule} {found:?}");
    }
}
