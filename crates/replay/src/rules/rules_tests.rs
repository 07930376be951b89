use super::*;

fn rules(text: &str) -> Rules {
    let mut rules = Rules::default();
    let added = rules.add(text, std::path::Path::new("a.rules.toml"));
    added.unwrap_or_else(|problem| panic!("{text}: {problem}"));
    rules
}

fn problem(text: &str) -> String {
    let mut rules = Rules::default();
    let problem = rules
        .add(text, std::path::Path::new("r.toml"))
        .expect_err("something is wrong");
    assert!(rules.is_empty(), "of a bad file nothing is used");
    problem.to_string()
}

fn place(path: &str) -> Vec<Step> {
    let path: Path = path.parse().expect("a path");
    path.steps().to_vec()
}

#[test]
fn the_example_of_the_documentation_is_read() {
    let doc = include_str!("../rules.rs");
    let (_, example) = doc.split_once("```toml\n").expect("there is one");
    let (example, _) = example.split_once("//! ```").expect("it ends");
    let rules = rules(&example.replace("//!", ""));
    let words: Vec<_> = rules.unfired().into_iter().map(|rule| rule.rule).collect();
    let said = "\
        ignore result.structuredContent.score
        keep params._meta[\"com.example/tenant\"]
        match result.structuredContent.files
        normalise result.content[*].text";
    assert!(words.iter().eq(said.lines().map(str::trim)), "{words:?}");
    assert_eq!(rules.unfired()[0].at, "a.rules.toml:1:2");
}

#[test]
fn a_rule_is_about_its_exchanges_its_path_and_its_side() {
    let rules = rules(
        "[[ignore]]\nfor = 'tool:a'\npath = 'result.x[*].y'\n\
         [[ignore]]\nfor = 'tools/list'\npath = 'result.z'\nside = 'right'\n",
    );
    let of_a = rules.scope("tools/call", Some("a"));
    assert!(of_a.ignores(&place("result.x[3].y"), None));
    assert!(of_a.ignores(&place("result.x.k.y"), None));
    for elsewhere in [
        "result.x[3]",
        "result.x[3].y.z",
        "result.y",
        "result.x[3].yy",
    ] {
        assert!(!of_a.ignores(&place(elsewhere), None), "{elsewhere}");
    }
    let of_b = rules.scope("tools/call", Some("b"));
    assert!(of_b.is_empty());
    // A prompt may have the name of a tool.
    assert!(rules.scope("prompts/get", Some("a")).is_empty());
    let lists = rules.scope("tools/list", None);
    assert!(lists.ignores(&place("result.z"), Some(Side::Right)));
    assert!(!lists.ignores(&place("result.z"), Some(Side::Left)));
    assert!(!lists.ignores(&place("result.z"), None));
}

#[test]
fn texts_are_normalised_rule_after_rule() {
    let rules = rules(
        "[[normalise]]\npath = 'result.t'\npattern = 'req-(\\d)\\d*'\nwith = 'r$1'\n\
         [[normalise]]\npath = 'result.t'\npattern = 'r(\\d)$'\nside = 'left'\n",
    );
    let scope = rules.scope("x/y", None);
    let at = place("result.t");
    let normalised = |side, text| scope.normalised(&at, side, text);
    assert_eq!(normalised(Side::Right, "a req-42").as_deref(), Some("a r4"));
    assert_eq!(normalised(Side::Left, "a req-42").as_deref(), Some("a "));
    assert_eq!(normalised(Side::Left, "nothing"), None);
    assert_eq!(
        scope.normalised(&place("result.u"), Side::Left, "req-1"),
        None
    );
}

#[test]
fn a_rule_that_changed_nothing_is_told() {
    let rules = rules("[[ignore]]\npath = 'result.a'\n[[ignore]]\npath = 'result.b'\n");
    assert!(rules.scope("m/n", None).ignores(&place("result.b"), None));
    let unfired = |rules: &Rules| -> Vec<_> {
        let unfired = rules.unfired().into_iter();
        unfired.map(|one| (one.at, one.rule)).collect()
    };
    let ignored = ("a.rules.toml:1:1".to_owned(), "ignore result.a".to_owned());
    assert_eq!(unfired(&rules), [ignored]);
}

/// A file, `|` between its lines, where it is wrong, and what is said.
const WRONG: &str = "\
[[ignroe]]|path = 'result.a' <> 1:3 <> `ignroe`, did you mean `ignore`?
[[ignore]]|paht = 'result.a' <> 2:1 <> `paht`, did you mean `path`?
[ignore]|path = 'result.a' <> 1:1 <> expected a sequence
[[ignore]]|path = 7 <> 2:8 <> expected a string
[[ignore]]|for = 'tool:a' <> 1:1 <> missing field `path`
[[ignore]]|path = 'result..a' <> 2:8 <> is no path: expected a name
[[ignore]]|path = 'results.a' <> 2:8 <> did you mean `result`?
[[bind]]|from = 'params.a'|to = 'params.a' <> 2:8 <> has to begin with one of result, error
[[ignore]]|path = 'result.a'|side = 'live' <> 3:8 <> expected `left` or `right`
[[ignore]]|path = 'result.a'|for = 'tools' <> 3:7 <> a tool is `tool:tools`
[[ignore]]|path = 'result.a'|for = 'initialise' <> 3:7 <> did you mean `initialize`?
[[match]]|path = 'result.a'|as = 'keyed()' <> 3:6 <> neither `set` nor `keyed(NAME)`
[[match]]|path = 'result.a' <> 1:1 <> missing field `as`
[[keep]]|path = 'params._meta.a'|as = 'set' <> 1:1 <> `as` means nothing here
[[normalise]]|path = 'result.a'|pattern = '(' <> 3:11 <> unclosed group
[[keep]]|path = 'params.a' <> 1:1 <> has to begin with `params._meta`
a =  <> 1: <> ";

#[test]
fn whatever_is_wrong_has_its_place_and_the_nearest_spelling() {
    for case in WRONG.lines() {
        let parts: Vec<_> = case.split(" <> ").collect();
        let problem = problem(&parts[0].replace('|', "\n"));
        let is_there = problem.starts_with(&format!("r.toml:{}", parts[1]));
        assert!(is_there && problem.contains(parts[2]), "{case}: {problem}");
    }
}

#[test]
fn a_pattern_that_grows_is_refused() {
    let huge = "[[normalise]]\npath = 'result.a'\npattern = '((a{100}){100}){100}'";
    assert!(problem(huge).contains("no regular expression"));
}
