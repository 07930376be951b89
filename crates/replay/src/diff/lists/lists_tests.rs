use super::*;
use crate::rules::Rules;

/// `CLASS NAME PATH: SENTENCE`, one for each difference of two lists.
fn found_by(rules: &str, list: List, left: &str, right: &str) -> Vec<String> {
    let mut all = Rules::default();
    all.add(rules, std::path::Path::new("r"))
        .expect("the rules are right");
    let terms = Terms {
        scope: all.scope(list.method(), None),
        differences_only: true,
        ..Terms::default()
    };
    let listing = [left, right].map(|elements| {
        let answer = format!(r#"{{"result":{{"{}":{elements}}}}}"#, list.member());
        let page = Page::of(list, None, None, Some(answer.as_bytes()));
        vec![page.expect("it is a page")]
    });
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

fn tools(left: &str, right: &str) -> Vec<String> {
    found_by("", List::Tools, left, right)
}

#[test]
fn tools_come_and_go_and_their_order_is_a_word() {
    for (left, right, expected) in [
        (
            r#"[{"name":"a"},{"name":"b","x":1},{"name":"c"}]"#,
            r#"[{"name":"d"},{"name":"b","x":2},{"name":"a"}]"#,
            &[
                "order  result.tools: the tools are listed in another order",
                "changed b result.tools[1].x: another `x`",
                "breaking c result.tools[2]: is gone",
                "added d result.tools[0]: is new",
            ][..],
        ),
        (
            r#"[{"name":"a"},{"name":"a"}]"#,
            r#"[{"name":"a"}]"#,
            &["breaking a result.tools[1]: is gone"],
        ),
        ("[7,{}]", "[7,{}]", &[]),
        (r#"[{"name":"a"}]"#, r#"[ { "name" : "a" } ]"#, &[]),
    ] {
        assert_eq!(tools(left, right), expected, "{left} {right}");
    }
}

#[test]
fn what_has_no_rule_is_changed_or_added() {
    for (left, right, expected) in [
        (
            r#""description":"x""#,
            r#""description":"y""#,
            "changed description: another",
        ),
        (
            r#""icons":[1]"#,
            r#""icons":[2]"#,
            "changed icons[0]: another `icons[0]`",
        ),
        (
            r#""title":"x""#,
            r#""a":1"#,
            "changed title: no `title` any more",
        ),
        (
            r#""annotations":{"readOnlyHint":true}"#,
            r#""annotations":{"readOnlyHint":false}"#,
            "changed annotations.readOnlyHint: another `annotations.readOnlyHint`",
        ),
        (
            r#""outputSchema":{"type":"object"}"#,
            r#""a":1"#,
            "breaking outputSchema: output widened: is not described any more",
        ),
        (
            r#""a":1"#,
            r#""a":1,"outputSchema":{"type":"object"}"#,
            "added outputSchema: output narrowed: is described now",
        ),
    ] {
        let [before, after] = [left, right].map(|of| format!(r#"[{{"name":"a",{of}}}]"#));
        let found = tools(&before, &after);
        let found = found[0].replace("a result.tools[0].", "");
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn prompts_and_resources_are_lists_as_well() {
    let (optional, required) = (r#"{"name":"x"}"#, r#"{"name":"x","required":true}"#);
    for (left, right, expected) in [
        (optional, required, "breaking `x` is required now"),
        (required, optional, "added `x` is optional now"),
        ("", required, "breaking `x` is new and required"),
        ("", optional, "added `x` is new and optional"),
        (optional, "", "breaking `x` is gone"),
    ] {
        let [left, right] =
            [left, right].map(|arguments| format!(r#"[{{"name":"p","arguments":[{arguments}]}}]"#));
        let found = found_by("", List::Prompts, &left, &right).join("");
        let found = found.replace("p result.prompts[0].arguments: argument ", "");
        assert_eq!(found, expected);
    }
    assert_eq!(
        found_by(
            "",
            List::Resources,
            r#"[{"uri":"a:1","annotations":{"lastModified":"1"}},{"uri":"a:2"}]"#,
            r#"[{"uri":"a:1","annotations":{"lastModified":"2"}},{"uri":"a:3"}]"#
        ),
        [
            "noise a:1 result.resources[0].annotations.lastModified: another \
             `annotations.lastModified`",
            "breaking a:2 result.resources[1]: is gone",
            "added a:3 result.resources[1]: is new",
        ]
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
