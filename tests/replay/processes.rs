//! The scenarios of [`director`](crate::director) with a real server in the place of what is heard:
//! the same goes out, and it ends in the same way. Those in which time plays a part are left out.

use crate::director;
use crate::play::{Choices, Scenario};
use crate::process::{Case, Replayed, stream};
use crate::told::{self, When};
use std::fmt::Write as _;

/// An argument of a command is no longer.
const LONGEST: usize = 100_000;

#[test]
fn real_servers_see_what_the_scenarios_tell() {
    let (mut failures, mut played) = (String::new(), 0);
    for (name, scenario) in director::scenarios() {
        let (Some(script), true) = (script(&scenario), can_be_chosen(&scenario)) else {
            continue;
        };
        played += 1;
        if let Err(difference) = play(&scenario, &script) {
            let _ = writeln!(failures, "{name} ({}): {difference}", scenario.about);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
    assert!(played >= 45, "only {played} were played");
}

/// What the server does, `None` where it takes a clock, or more than a script.
fn script(scenario: &Scenario) -> Option<Vec<String>> {
    let mut script = Vec::new();
    for row in &scenario.replay {
        let words: Vec<_> = row.iter().map(String::as_str).collect();
        match *words {
            ["sends", what] => {
                let line = String::from_utf8(told::bytes(what)).ok()?;
                script.push(format!("< {}", line.strip_suffix('\n')?));
            }
            ["hears", what] => script.push(format!("> {what}")),
            ["exits", how] if how.starts_with("SIG") => script.push(format!("raise {how}")),
            ["exits", how] => script.push(format!("exit {how}")),
            ["closes" | "quiet"] | ["waits", _] => {}
            _ => return None,
        }
    }
    script
        .iter()
        .all(|step| step.len() < LONGEST)
        .then_some(script)
}

fn can_be_chosen(scenario: &Scenario) -> bool {
    let at_once = |(when, stream, what): &told::Row| {
        matches!(when, When::At(_)) && stream != "event" && !what.starts_with("repeat")
    };
    let choices = &scenario.choices;
    // Which span ids there are is nobody's choice.
    scenario.record.iter().all(at_once) && choices.timeout_ms.is_none() && !choices.fresh_trace
}

fn play(scenario: &Scenario, script: &[String]) -> Result<(), String> {
    let rows: Vec<_> = scenario.record.iter().map(row).collect();
    let end = scenario.choices.ended.as_deref().unwrap_or("0");
    let case = Case::ended(&rows, &told::event(&format!("exit {end}")));
    let options = options(&scenario.choices, &case);
    let options: Vec<_> = options.iter().map(String::as_str).collect();
    let script: Vec<_> = script.iter().map(String::as_str).collect();
    let mut command = case.command(&options, &script);
    for (at, (_, value)) in scenario.choices.bind.iter().enumerate() {
        command.env(format!("BOUND_{at}"), value);
    }
    let replayed = Replayed::of(&command.output().unwrap());
    if replayed.code != Some(i32::from(scenario.exit)) {
        return Err(format!(
            "it ends with {:?}\n{}{}",
            replayed.code, replayed.out, replayed.err
        ));
    }
    // What the server has said in one breath is answered in any order.
    let mut sent = lines(&stream(&case.library, &case.made(), "c2s"));
    let expected = scenario.replay.iter().filter(|row| row[0] == "sends");
    let mut expected: Vec<_> = expected
        .flat_map(|row| lines(&told::bytes(&row[1])))
        .collect();
    sent.sort();
    expected.sort();
    (sent == expected)
        .then_some(())
        .ok_or_else(|| format!("it sends {sent:#?}"))
}

fn row(row: &told::Row) -> (u64, &str, &str) {
    match row {
        (When::At(t), stream, what) => (*t, stream, what),
        (When::FromTo(..), ..) => panic!("those are left out"),
    }
}

fn lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.split_inclusive('\n').map(ToOwned::to_owned).collect()
}

/// What the scenario chooses, as options of the command.
fn options(choices: &Choices, case: &Case) -> Vec<String> {
    let mut options = vec!["--keep-trace".to_owned()];
    let mut add = |name: &str, value: String| options.extend([format!("--{name}"), value]);
    if let Some(order) = &choices.order {
        add("order", order.clone());
    }
    for tool in &choices.allow_tools {
        add("allow-tool", tool.clone());
    }
    for (at, (name, _)) in choices.bind.iter().enumerate() {
        add("bind", format!("{name}=env:BOUND_{at}"));
    }
    for (old, new) in &choices.rewrite {
        add("rewrite", format!("{old}={new}"));
    }
    for (seq, path, json) in &choices.edit {
        add("edit", format!("{seq}:{path}={json}"));
    }
    if let Some(version) = &choices.protocol {
        add("protocol", version.clone());
    }
    if let Some(until) = choices.until {
        add("until", until.to_string());
    }
    let only: Vec<_> = choices
        .only
        .iter()
        .map(|method| format!("method:{method}"))
        .collect();
    if !only.is_empty() {
        add("only", only.join(" OR "));
    }
    if choices.stub {
        add("on-server-request", "stub".to_owned());
    }
    if !choices.rules.is_empty() {
        let path = case.library.path().join("told.rules.toml");
        std::fs::write(&path, &choices.rules).unwrap();
        add("rules", path.to_str().unwrap().to_owned());
    }
    for (name, is_chosen) in [
        ("--allow-side-effects", !choices.guarded),
        ("--fresh-ids", choices.fresh_ids),
    ] {
        options.extend(is_chosen.then(|| name.to_owned()));
    }
    options
}
