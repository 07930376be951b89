use super::*;
use mcpreel_wire::json::Document;

const NOW: u64 = 1_795_000_000_000_000_000;

/// Whether two values at a place are noise, both messages sent now.
fn noise(names: &[&str], left: &str, right: &str) -> bool {
    noise_at([NOW, NOW], names, left, right)
}

fn noise_at(wall_ns: [u64; 2], names: &[&str], left: &str, right: &str) -> bool {
    let place: Vec<_> = names
        .iter()
        .map(|name| Step::Member((*name).into()))
        .collect();
    let left = Document::parse(left.as_bytes()).expect("JSON");
    let right = Document::parse(right.as_bytes()).expect("JSON");
    let rewrites = Rewrites::new([("/home/ada/w".to_owned(), "/tmp/x".to_owned())]);
    let beside = Beside {
        place: &place,
        wall_ns: wall_ns.map(Some),
        rewrites: &rewrites,
    };
    beside.is_noise(left.root(), right.root())
}

/// Texts at a place that means nothing by itself.
fn texts(left: &str, right: &str) -> bool {
    let quoted = mcpreel_wire::json::quoted;
    noise(&["result", "text"], &quoted(left), &quoted(right))
}

/// Texts of two runs, a pair on each line.
const TEXTS_OF_TWO_RUNS: &str = "\
started 2026-11-20T15:17:03.123Z <> started 2026-11-21T09:00:00+01:00
created: Sun Nov 22 2026 08:17:28 GMT+0000 (Coordinated Universal Time) <> created: Wed Dec 9 2026 23:00:00 GMT+0100 (Central European Standard Time)
Date: Sun, 22 Nov 2026 08:17:28 GMT <> Date: Tue, 1 Dec 2026 18:02:59 +0100
id 6fa459ea-ee8a-3ca4-894e-db77e160355e. <> id 16fd2706-8baf-433b-82eb-8c7fada847da.
created at 4:53:25 AM <> created at 11:02:07 PM
16:53:25.123 INFO ready <> 00:01:02.9 INFO ready
11/23/2026, 4:53:25 AM <> 1/2/27, 11:53:25 PM
Nov 23, 2026, 4:53:25 AM <> January 2, 2027 at 11:53:25 PM
took 842 ms <> took 1.2s
http://localhost:8123/x <> http://localhost:9/x
wrote /tmp/tmpk3jd_x2w/out.txt <> wrote /tmp/tmp_qwertyu/out.txt
/var/folders/zz/abc_d/T/a <> /var/folders/qq/efg_h/T/a
file:///tmp/mcp-XyZ12a/a <> file:///tmp/mcp-7bQ9cR/a
/tmp/pytest-of-ada/pytest-9/a <> /tmp/pytest-of-ada/pytest-10/a
pid 4711 <> pid 12
read /home/ada/w/a.rs <> read /tmp/x/a.rs
file:///home/ada/w <> file:///tmp/x";

#[test]
fn texts_of_two_runs() {
    for case in TEXTS_OF_TWO_RUNS.lines() {
        let (a, b) = case.split_once(" <> ").expect("two texts");
        assert!(texts(a, b), "{a} {b}");
    }
}

/// Texts that only look as if they were of two runs.
const TEXTS_THAT_ONLY_LOOK_SO: &str = "\
12 rows <> 13 rows
2026-11-20 <> 2026-11-21
15:17 <> 15:18
1:2:3 <> 1:2:4
1:02:03 <> 1:02:04
2001:db8::10:20:30 <> 2001:db8::10:20:31
00:11:22:33:44:55 <> 00:11:22:33:44:56
x12:34:56 <> x12:34:57
16:53:25 INFO ready <> 16:53:25 INFO done
11/23/2026 <> 11/24/2026
Sun Nov 22 08:17:28 2026 rain <> Sun Nov 22 08:17:28 2026 snow
took 842 ms <> took long
6fa459ea-ee8a-3ca4-894e <> 16fd2706-8baf-433b-82eb
http://example.com:8123/x <> http://example.com:9/x
/home/a <> /home/b
/tmpfs/a <> /tmpfs/b
/tmp/work/a.txt <> /tmp/work/b.txt
/tmp/report1.txt <> /tmp/report2.txt
/tmp/tmp-admin-panel <> /tmp/tmp-guest-panel
/tmp/run-1|status=ok <> /tmp/run-1|status=failed
rapid 4711 <> rapid 12
pid 4711 <> took 5 s
/home/ada/w2/a.rs <> /tmp/x2/a.rs
/srv/x/a.rs <> /home/ada/w/a.rs";

#[test]
fn texts_that_only_look_so() {
    for case in TEXTS_THAT_ONLY_LOOK_SO.lines() {
        let (a, b) = case.split_once(" <> ").expect("two texts");
        assert!(!texts(a, b), "{a} {b}");
    }
    let long = format!("{}pid 1", "x".repeat(MAX_TEXT));
    assert!(!texts(&long, &long.replace("pid 1", "pid 2")));
}

#[test]
fn members_that_one_side_makes_up() {
    let noise_at = |path: &str| {
        let names: Vec<_> = path.split('/').collect();
        noise(&names, "\"a\"", "\"b\"")
    };
    for path in "id params/_meta/progressToken params/requestId params/cursor result/nextCursor \
        params/requestState result/task/taskId params/elicitationId result/ttlMs \
        result/resources/annotations/lastModified result/serverInfo/version \
        params/clientInfo/version"
        .split_whitespace()
    {
        assert!(noise_at(path), "{path}");
    }
    for path in "result/id params/arguments/cursor result/structuredContent/nextCursor \
        error/data/requestId result/serverInfo/name result/version result/protocolVersion"
        .split_whitespace()
    {
        assert!(!noise_at(path), "{path}");
    }
    // An id may be of any type; a cursor that is none any more is something else.
    assert!(noise(&["id"], "1", "\"1\""));
    assert!(!noise(&["result", "nextCursor"], "\"a\"", "null"));
}

#[test]
fn numbers_of_two_runs() {
    let named = |name, a, b| noise(&["result", "structuredContent", name], a, b);
    for case in "x 1795000001 1795000900, x 1795000001 1795000900123, x 1.795e9 1795080000, \
        pid 4711 12, port 40123 51234, duration 5 5000.25, duration_ms 5 6, elapsedTime 5 6, \
        Uptime 5 6, uptime_s 5 6"
        .split(", ")
    {
        let words: Vec<_> = case.split_whitespace().collect();
        assert!(named(words[0], words[1], words[2]), "{case}");
    }
    for case in "x 1795000001 1795090000, x 1795000001.5 1795000002.5, x 1 2, pids 4711 12, \
        pid 1.5 2.5, port 8080 51234, ports 40123 51234, took_ms 5 \"5ms\", max_duration 5 6, \
        durations 5 6, tookOff 5 6, time 5 6"
        .split(", ")
    {
        let words: Vec<_> = case.split_whitespace().collect();
        assert!(!named(words[0], words[1], words[2]), "{case}");
    }
    // What a client asks for is a choice.
    assert!(!noise(&["params", "arguments", "duration"], "5", "6"));
}

#[test]
fn a_moment_of_a_session_without_a_date_is_one_of_the_same_unit_before_now() {
    let of_a_cassette = |then, now| {
        let at = ["result", "structuredContent", "x"];
        noise_at([2_000_000_000, NOW], &at, then, now)
    };
    assert!(of_a_cassette("1760000000", "1795000900"));
    assert!(of_a_cassette("1760000000123", "1795000900123"));
    // An amount in cents, before there was a protocol, in another unit.
    assert!(!of_a_cassette("1750000000", "1760000000"));
    assert!(!of_a_cassette("1730000000", "1795000900"));
    assert!(!of_a_cassette("1760000000", "1795000900123"));
}
