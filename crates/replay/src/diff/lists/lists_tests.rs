use super::*;
use crate::rules::Rules;
use mcpreel_wire::json::Document;

/// `CLASS NAME PATH: SENTENCE`, one for each difference.
fn found_by(rules: &str, list: List, left: &str, right: &str) -> Vec<String> {
    let mut all = Rules::default();
    all.add(rules, std::path::Path::new("r"))
        .expect("the rules are right");
    let terms = Terms {
        scope: all.scope(list.method(), None),
        differences_only: true,
        ..Terms::default()
    };
    let documents = [left, right].map(|text| {
        Document::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
    });
    let [left, right] = [0, 1].map(|at| documents[at].root().elements().collect::<Vec<_>>());
    let surface = compare(list, [&left, &right], [true; 2], &terms);
    let line = |found: &Finding| {
        let (class, name, path) = (found.class.as_str(), &found.name, &found.path);
        format!("{class} {name} {path}: {}", found.sentence)
    };
    surface.findings.iter().map(line).collect()
}

/// What differs between two schemas of a tool, as `CLASS PATH: SENTENCE`.
pub(in crate::diff) fn schemas(role: Role, left: Value<'_>, right: Value<'_>) -> Vec<String> {
    let terms = Terms::default();
    let mut comparing = Comparing::new(List::Tools, [true; 2], &terms);
    comparing.place.clear();
    schema::compare(&mut comparing, role, [Some(left), Some(right)]);
    let line = |found: &Finding| {
        format!(
            "{} {}: {}",
            found.class.as_str(),
            found.path,
            found.sentence
        )
    };
    comparing.out.findings.iter().map(line).collect()
}

fn tools(left: &str, right: &str) -> Vec<String> {
    found_by("", List::Tools, left, right)
}

/// Two versions of one tool, the path and name left out.
fn tool(left: &str, right: &str) -> Vec<String> {
    let [left, right] = [left, right].map(|members| format!(r#"[{{"name":"a",{members}}}]"#));
    let found = tools(&left, &right);
    found
        .iter()
        .map(|found| found.replace("a result.tools[0].", ""))
        .collect()
}

#[test]
fn tools_come_and_go_and_their_order_is_a_word() {
    assert_eq!(
        tools(
            r#"[{"name":"a"},{"name":"b","x":1},{"name":"c"}]"#,
            r#"[{"name":"d"},{"name":"b","x":2},{"name":"a"}]"#
        ),
        [
            "order  result.tools: the tools are listed in another order",
            "changed b result.tools[1].x: another `x`",
            "breaking c result.tools[2]: is gone",
            "added d result.tools[0]: is new",
        ]
    );
    assert_eq!(
        tools(r#"[{"name":"a"},{"name":"a"}]"#, r#"[{"name":"a"}]"#),
        ["breaking a result.tools[1]: is gone"]
    );
    assert_eq!(tools("[7,{}]", "[7,{}]"), [""; 0]);
    assert_eq!(
        tools(r#"[{"name":"a"}]"#, r#"[ { "name" : "a" } ]"#),
        [""; 0]
    );
}

#[test]
fn what_is_taken_and_given_has_opposite_classes() {
    let schema = |which: &str, kinds: &str| {
        format!(r#""{which}":{{"properties":{{"q":{{"type":{kinds}}}}}}}"#)
    };
    let (one, two) = (r#""string""#, r#"["string","null"]"#);
    for (which, left, right, expected) in [
        (
            "inputSchema",
            two,
            one,
            "breaking inputSchema.properties.q.type: input narrowed: `q`: no longer takes null",
        ),
        (
            "inputSchema",
            one,
            two,
            "added inputSchema.properties.q.type: input widened: `q`: also takes null",
        ),
        (
            "outputSchema",
            two,
            one,
            "added outputSchema.properties.q.type: output narrowed: `q`: is no longer null",
        ),
        (
            "outputSchema",
            one,
            two,
            "breaking outputSchema.properties.q.type: output widened: `q`: may now be null",
        ),
    ] {
        assert_eq!(
            tool(&schema(which, left), &schema(which, right)),
            [expected]
        );
    }
    assert_eq!(
        tool(r#""title":"x","outputSchema":{}"#, r#""title":"x""#),
        ["breaking outputSchema: gives no structured content that is described any more"]
    );
    assert_eq!(
        tool(r#""title":"x""#, r#""title":"x","outputSchema":{}"#),
        ["added outputSchema: describes its structured content now"]
    );
}

#[test]
fn descriptions_and_hints_are_changed() {
    assert_eq!(
        tool(r#""description":"x""#, r#""description":"y""#),
        ["changed description: another `description`"]
    );
    assert_eq!(
        tool(r#""description":"x","icons":[1]"#, r#""icons":[2]"#),
        [
            "changed description: no `description` any more",
            "changed icons[0]: another `icons[0]`",
        ]
    );
    let hints = |hints: &str| format!(r#""annotations":{{{hints}}}"#);
    let found = tool(
        &hints(r#""readOnlyHint":true"#),
        &hints(r#""readOnlyHint":false"#),
    );
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with(
        "changed annotations.readOnlyHint: `readOnlyHint`: no longer says that it only reads"
    ));
    let found = tool(&hints(r#""readOnlyHint":true"#), r#""title":"x""#);
    assert!(
        found
            .iter()
            .any(|found| found.contains("no longer says that it only reads"))
    );
    assert_eq!(
        tool(
            &hints(""),
            &hints(r#""destructiveHint":true,"idempotentHint":false"#)
        ),
        [
            "noise annotations.destructiveHint: `destructiveHint`: says what was so before",
            "noise annotations.idempotentHint: `idempotentHint`: says what was so before",
        ]
    );
    assert_eq!(
        tool(
            &hints(r#""title":"x""#),
            &hints(r#""title":"y","openWorldHint":false"#)
        ),
        [
            "changed annotations.openWorldHint: `openWorldHint`: says that it stays within its \
             own data now",
            "changed annotations.title: another `title`",
        ]
    );
}

#[test]
fn whether_a_tool_is_a_task_matters_to_who_calls_it() {
    let execution = |support: &str| format!(r#""execution":{{"taskSupport":"{support}"}}"#);
    for (left, right, class) in [
        ("forbidden", "required", "breaking"),
        ("optional", "required", "breaking"),
        ("optional", "forbidden", "breaking"),
        ("required", "optional", "added"),
        ("forbidden", "optional", "added"),
        ("x", "optional", "changed"),
    ] {
        let found = tool(&execution(left), &execution(right));
        assert!(found[0].starts_with(class), "{left} {right} {found:?}");
        assert_eq!(found.len(), 1);
    }
    // What is not said is forbidden.
    let found = tool(
        r#""title":"x""#,
        &format!(r#""title":"x",{}"#, execution("required")),
    );
    assert!(found[0].starts_with("breaking"), "{found:?}");
}

#[test]
fn prompts_and_resources_are_lists_as_well() {
    let prompts = |left: &str, right: &str| {
        let [left, right] =
            [left, right].map(|arguments| format!(r#"[{{"name":"p","arguments":[{arguments}]}}]"#));
        let found = found_by("", List::Prompts, &left, &right);
        found
            .iter()
            .map(|found| found.replace("p result.prompts[0].arguments: argument ", ""))
            .collect::<Vec<_>>()
    };
    let (optional, required) = (r#"{"name":"x"}"#, r#"{"name":"x","required":true}"#);
    assert_eq!(
        prompts(optional, required),
        ["breaking `x` is required now"]
    );
    assert_eq!(prompts(required, optional), ["added `x` is optional now"]);
    assert_eq!(prompts("", required), ["breaking `x` is new and required"]);
    assert_eq!(prompts("", optional), ["added `x` is new and optional"]);
    assert_eq!(prompts(optional, ""), ["breaking `x` is gone"]);
    assert_eq!(
        prompts(
            r#"{"name":"x","required":false}"#,
            r#"{"required":false,"name":"x"}"#
        ),
        [""; 0]
    );
    assert_eq!(
        found_by(
            "",
            List::Resources,
            r#"[{"uri":"a:1","mimeType":"x","annotations":{"lastModified":"1"}},{"uri":"a:2"}]"#,
            r#"[{"uri":"a:1","mimeType":"y","annotations":{"lastModified":"2"}},{"uri":"a:3"}]"#
        ),
        [
            "changed a:1 result.resources[0].mimeType: another `mimeType`",
            "noise a:1 result.resources[0].annotations.lastModified: another \
             `annotations.lastModified`",
            "breaking a:2 result.resources[1]: is gone",
            "added a:3 result.resources[1]: is new",
        ]
    );
    assert_eq!(
        found_by("", List::Templates, r#"[{"uriTemplate":"a:{x}"}]"#, "[]"),
        ["breaking a:{x} result.resourceTemplates[0]: is gone"]
    );
}

#[test]
fn rules_pass_over_what_they_cover() {
    let left =
        r#"[{"name":"a","description":"x","inputSchema":{"properties":{"q":{"minimum":1}}}}]"#;
    let right = r#"[{"name":"a","description":"y","inputSchema":{"properties":{"q":{"minimum":2}}}},{"name":"b"}]"#;
    assert_eq!(tools(left, right).len(), 3);
    for (path, left_over) in [
        ("result.tools[*].description", 2),
        ("result.tools[*].inputSchema.properties.q", 2),
        ("result.tools[0]", 1),
        ("result.tools", 0),
        ("result.tools[1]", 2),
        ("result.tools[1].description", 3),
    ] {
        let rule = format!("[[ignore]]\nfor = 'tools/list'\npath = '{path}'\n");
        let found = found_by(&rule, List::Tools, left, right);
        assert_eq!(found.len(), left_over, "{path} {found:?}");
    }
    let added = "[[ignore]]\npath = 'result.tools[*]'\nside = 'right'\n";
    assert_eq!(found_by(added, List::Tools, left, right).len(), 2);
}

#[test]
fn hostile_lists_are_counted_and_cut() {
    let many = |prefix: &str| {
        let all: Vec<_> = (0..3000)
            .map(|at| format!(r#"{{"name":"{prefix}{at}"}}"#))
            .collect();
        format!("[{}]", all.join(","))
    };
    assert_eq!(tools(&many("l"), &many("r")).len(), MAX_FINDINGS);
    let name = "é".repeat(1000);
    let found = tools(&format!(r#"[{{"name":"{name}"}}]"#), "[]");
    assert!(found[0].len() < 400, "{found:?}");
}
