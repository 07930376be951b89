//! Times on the screen are local; where they are compared the zone must always be the same.

use std::process::Command;

/// Runs `test`, which is called `name`, where local time is UTC: here, or in a process of its own.
///
/// The zone is one of a whole process, and other threads are reading it.
pub fn in_utc(name: &str, test: impl FnOnce()) {
    if std::env::var("TZ").is_ok_and(|zone| zone == "UTC") {
        return test();
    }
    let executable = std::env::current_exe().expect("a test has an executable");
    let output = Command::new(executable)
        .args(["--exact", name, "--nocapture"])
        .env("TZ", "UTC")
        .output()
        .expect("it can be started again");
    let said = crate::support::text(&output);
    assert!(said.contains(" 1 passed"), "{said}");
}
