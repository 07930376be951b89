//! The language for the help of the viewer. Fields, flags, roots and operators say themselves what
//! they are, in their `HELP`.

/// Something to write, and its meaning without a full stop.
pub type Entry = (&'static str, &'static str);

/// The entries of a table: at least two spaces stand before the meaning.
pub fn entries(table: &'static str) -> Vec<Entry> {
    let columns = table.lines().filter_map(|line| line.split_once("  "));
    columns
        .map(|(text, help)| (text, help.trim_start()))
        .collect()
}

/// The forms of conditions, and how they are joined.
pub const CONDITIONS: &str = r#"
is:failed                a flag
has:latency              whether a field, or a place in a body, is there
latency>500ms            a field, an operator and a value, nothing between
params.arguments.q:rust  a place in a body; [0] one element, [*] any
header.origin:localhost  a header of the HTTP request or response, in any case
rust                     a word: anywhere in summary or bodies; a capital makes case count
"two words"              a string; inside of it \" is a quote and \\ a backslash
a b                      both, also a AND b
a OR b                   one of them; binds weaker than AND
-a                       not this, also NOT a
(a OR b) c               parentheses; AND OR NOT in capitals only"#;

pub const VALUES: &str = r#"
200..299  a range, both ends included
500ms     a duration: ns us ms s m h; latency:842ms is up to 843ms, = is exact
1MB       a size: B, kB MB GB by thousands, KiB MiB GiB by 1024
12:04     a time since the start: minutes and seconds, 1:02:04.5 with hours, 90s
-5m       a time before the end of the recording, in a live one before now: time>-5m
id:"7"    an id or JSON value that is text: id:7 is another one"#;

/// A warning about fields that a row does not have.
pub const TRAP: &str = "Where a field is absent, a positive test is false and its denial true: \
latency<1s leaves out what was never answered, latency!=1s and -latency<1s do not. \
has:latency asks whether it is there.";

/// Filters that one may want, ready to be used.
pub const EXAMPLES: &str = r#"
is:failed                                    answered with an error, cancelled, or never answered
method:tools/call tool:search latency>500ms  slow calls of one tool
dir:s2c kind:request                         what the server asks its client
params.arguments.path~"^/etc/"               by a pattern in the arguments
-method:notifications/progress -kind:stderr  without the noise
res.content[*].type=image size>1MB           large pictures
is:open -is:waiting                          what the server has not answered and nobody holds it up
time>-5m is:failed                           what failed in the last five minutes
code:-32602 OR status:tool-error             calls that were made wrongly"#;
