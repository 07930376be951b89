//! The command of the server does not exist, at least not where the host looks.

use super::facts::Facts;
use super::{Cause, Kind, words};
use crate::quote;
use mcpreel_trace::session::End;
use std::collections::BTreeSet;

pub(super) const KIND: Kind = Kind::new("server-not-found", find);

fn find(facts: &Facts) -> Option<Cause> {
    let Some(End::NotStarted {
        exit_code: 127,
        message,
    }) = facts.end()
    else {
        return None;
    };
    if is_imported(facts) && facts.context.argv.is_empty() {
        return Some(logged(facts, message));
    }
    let program = facts.context.argv.first().map_or("", String::as_str);
    let (shown, host) = (quote::text(program), words::host(&facts.context.host));
    let cause = if facts.context.executable.is_some() {
        // The file is there; what its first line names is not.
        Cause::certain(KIND.id, words::noted(message)).advise(
            "Install the program that the first line of the script names, or start the script with \
             it: that program first, then the script.",
        )
    } else if program.is_empty() {
        // Only what a log tells is known.
        let sentence = format!(
            "the server's command was not found: {}",
            words::noted(message)
        );
        Cause::certain(KIND.id, sentence).advise(format!(
            "{host} starts servers with its own PATH, not with that of your shell: write the whole \
             path of the command into its configuration."
        ))
    } else if program.contains('/') {
        let cwd = facts.context.cwd.as_deref().unwrap_or("an unknown folder");
        let sentence = format!(
            "the server's command was not found: there is no {shown}, seen from {}",
            quote::text(cwd)
        );
        Cause::certain(KIND.id, sentence)
            .advise("Write the whole path of the command into the host's configuration.")
    } else {
        let sentence = format!(
            "the server's command was not found: {shown} is {}",
            where_not(facts)
        );
        Cause::certain(KIND.id, sentence).advise(format!(
            "{host} starts servers with its own PATH, not with that of your shell: write the whole \
             path of the command into its configuration (`command -v` in a terminal tells it), or \
             set PATH there."
        ))
    };
    Some(cause.shown(words::end_of(facts)))
}

/// What the log of its host says, where that is all there is.
fn logged(facts: &Facts, message: &str) -> Cause {
    let sentence = format!(
        "the server's command was not found: the host's log says {}",
        words::noted(message)
    );
    let cause = Cause::certain(KIND.id, sentence).advise(
        "Hosts start servers with a PATH of their own, not with that of your shell: write the whole \
         path of the command into the host's configuration (`command -v` in a terminal tells it), or \
         set PATH there.",
    );
    cause.shown(words::end_of(facts))
}

/// Whether it was made from a log, which does not tell all that a recorder would know.
fn is_imported(facts: &Facts) -> bool {
    facts.context.origin == "import"
}

fn where_not(facts: &Facts) -> String {
    let path = facts.context.path.as_deref();
    match path.filter(|path| !path.is_empty()) {
        Some(path) => {
            // A log of a host on Windows has them as they are written there.
            let between = if path.contains(';') { ';' } else { ':' };
            let mut folders: Vec<_> = path.split(between).map(quote::text).collect();
            // A path that was put together by several has some of them twice.
            let mut told = BTreeSet::new();
            folders.retain(|folder| told.insert(folder.clone()));
            format!("in none of the folders of PATH ({})", folders.join(", "))
        }
        None if is_imported(facts) => "in no folder of its PATH".to_owned(),
        None => "nowhere, as PATH is empty".to_owned(),
    }
}
