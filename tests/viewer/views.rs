//! Timeline, statistics and findings tell the same as the recording.

use crate::by_hand::{Viewer, has};
use crate::fixture;
use crate::mouse::click_on;
use crate::notation::row_text;
use crate::support::conversation::Conversation;
use mcpreel_store::reader::Recording;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::stats::{Collector, Row, Stats};
use mcpreel_tui::app::View;
use mcpreel_tui::panels::filter::typed::Popup;
use mcpreel_tui::panels::stats::Figures;
use std::path::Path;

const SIZE: (u16, u16) = (120, 40);

fn exchanges(path: &Path) -> Vec<Exchange> {
    let recording = Recording::open(path).expect("it can be read");
    let mut all = Vec::new();
    let each = recording.each_exchange(|exchange| all.push(exchange));
    each.expect("it can be read");
    all
}

#[test]
fn the_timeline_has_a_bar_for_every_exchange_in_its_range_and_counts_them() {
    let fixture = fixture::ended();
    let all = exchanges(&fixture.path);
    let mut viewer = Viewer::open(&fixture.path, SIZE);
    viewer.press("2 g");
    let picture = viewer.session().timeline.picture.as_deref();
    let picture = picture.expect("it was drawn");
    assert_eq!(picture.density.iter().sum::<u64>(), all.len() as u64);
    assert!(!picture.rows.is_empty());
    viewer.press("+ + +");
    for _ in 0..12 {
        let state = &viewer.session().timeline;
        let picture = state.picture.as_deref().expect("it was drawn");
        let window = picture.window;
        let began = |one: &&Exchange| (window.from..=window.to).contains(&one.t_request.0);
        let expected = all.iter().filter(began).count() as u64;
        assert_eq!(picture.density.iter().sum::<u64>(), expected, "{window:?}");
        let seen = |one: &&Exchange| {
            let ends = one.t_response_last.is_none_or(|end| end.0 >= window.from);
            one.t_request.0 <= window.to && ends
        };
        let expected: Vec<_> = all.iter().filter(seen).map(|one| one.request.0).collect();
        let rows: Vec<_> = picture.rows.iter().map(|bar| bar.key.seq).collect();
        if !picture.more.0 && !picture.more.1 {
            assert_eq!(rows, expected, "{window:?}");
        }
        viewer.press("l");
    }
}

#[test]
fn the_range_on_the_screen_becomes_a_filter_and_enter_goes_to_the_row() {
    let fixture = fixture::ended();
    let mut viewer = Viewer::open(&fixture.path, SIZE);
    viewer.press("2 g + =");
    let filter = viewer.session().filter.in_force().to_string();
    assert!(filter.contains("time:"), "{filter}");
    let state = &viewer.session().timeline;
    let picture = state.picture.as_deref().expect("it was drawn");
    let seq = picture.rows[state.cursor_row()].key.seq;
    viewer.press("Enter");
    assert_eq!(viewer.session().view, View::Exchanges);
    let selected = viewer.session().list.selected().map(|key| key.seq);
    assert_eq!(selected, Some(seq));
}

fn figures(viewer: &Viewer) -> &Figures {
    let figures = viewer.session().stats.shown.as_deref();
    figures.expect("they were counted")
}

/// The counts of rows; what is open has a place only where it is counted.
fn told(stats: &Stats) -> Vec<Row> {
    let rows = stats.methods.iter().chain(&stats.tools);
    rows.chain([&stats.total]).cloned().collect()
}

fn collected<'a>(end: u64, exchanges: impl IntoIterator<Item = &'a Exchange>) -> Stats {
    let mut collector = Collector::until(Moment(end));
    let exchanges = exchanges.into_iter();
    exchanges.for_each(|exchange| collector.add(exchange));
    collector.stats()
}

#[test]
fn a_table_that_goes_on_below_says_so_and_a_click_there_goes_on() {
    let fixture = fixture::ended();
    let mut viewer = Viewer::open(&fixture.path, (80, 24));
    viewer.settle();
    viewer.press("3");
    let below = |viewer: &Viewer| viewer.text().contains(": PgDn");
    let at = |viewer: &Viewer| viewer.session().stats.cursor.top;
    assert!(below(&viewer), "{}", viewer.text());
    click_on(&mut viewer, ": PgDn");
    let clicked = at(&viewer);
    assert!(clicked > 0, "{}", viewer.text());
    viewer.press("g PgDn");
    assert_eq!(at(&viewer), clicked);
    viewer.press("G");
    assert!(!below(&viewer), "{}", viewer.text());
}

#[test]
fn statistics_count_what_fits_the_filter_and_say_of_how_many() {
    type Fits = fn(&Exchange) -> bool;
    let cases: [(&str, Fits); 5] = [
        ("is:failed", Exchange::has_failed),
        ("tool:search_docs", |one| {
            one.name.as_deref() == Some("search_docs")
        }),
        ("is:open", |one| one.status == Status::Open),
        ("latency>1s", |one| one.latency_ns() > Some(1_000_000_000)),
        ("kind:notification", |_| false),
    ];
    for fixture in [fixture::ended(), fixture::live()] {
        let all = exchanges(&fixture.path);
        let mut viewer = Viewer::open(&fixture.path, SIZE);
        viewer.press("3");
        assert_eq!(figures(&viewer).fitting, None);
        for (filter, fits) in cases {
            viewer.act(&format!("f Ctrl-U '{filter}' Enter"));
            let figures = figures(&viewer);
            let fitting = all.iter().filter(|one| fits(one));
            let expected = collected(figures.span_ns, fitting);
            assert_eq!(told(&figures.stats), told(&expected), "{filter}");
            let fitting = figures.fitting;
            let count = all.iter().filter(|one| fits(one)).count();
            assert_eq!(fitting, Some((count as u64, all.len() as u64)), "{filter}");
        }
        viewer.press("F");
        let figures = figures(&viewer);
        let expected = collected(figures.span_ns, &all);
        assert_eq!(told(&figures.stats), told(&expected));
    }
}

#[test]
fn timeline_and_findings_stand_beside_the_detail_of_what_is_highlighted() {
    let fixture = fixture::ended();
    let mut viewer = Viewer::open(&fixture.path, (120, 35));
    for keys in ["2 g j", "4 j Space j"] {
        viewer.press(keys);
        assert!(
            viewer.text().contains(" Body · Story"),
            "{keys}:\n{}",
            viewer.text()
        );
    }
    viewer.resize((119, 35));
    assert!(
        !viewer.text().contains(" Body · Story"),
        "{}",
        viewer.text()
    );
}

#[test]
fn an_empty_filter_offers_failures_with_one_key_and_then_what_is_asked_most() {
    let fixture = fixture::ended();
    let slow = ("/ Down Down Down Tab", "latency>1s");
    for (keys, filter) in [("/ Tab", "is:failed"), slow] {
        let mut viewer = Viewer::open(&fixture.path, SIZE);
        viewer.press("/");
        assert!(
            viewer.text().contains("is:failed     5 failures"),
            "{}",
            viewer.text()
        );
        viewer.press("Esc").press(keys).press("Enter");
        assert_eq!(viewer.session().filter.text, filter);
        assert!(viewer.session().list.len() > 1, "{}", viewer.text());
    }
    // Once there were 0 failures as long as nobody had counted.
    let mut uncounted = Popup::default();
    uncounted.look("", 0);
    assert_eq!(uncounted.candidates[0].1, "failures");
}

#[test]
fn the_help_names_every_key_of_the_view_on_one_screen_and_finds_what_is_typed() {
    let fixture = fixture::ended();
    let mut viewer = Viewer::open(&fixture.path, (120, 35));
    let contexts = viewer.state.contexts();
    viewer.press("?");
    let whole = viewer.text();
    let help = whole.lines().skip_while(|row| !row.starts_with("┌ keys"));
    let help: Vec<_> = help.take_while(|row| !row.starts_with("└──── ")).collect();
    let end = help
        .iter()
        .position(|row| row.starts_with('└'))
        .expect("it has an end");
    assert!(end > 5 && !help[..end].concat().contains('…'), "{whole}");
    assert!(
        help[end].contains("─── Tab filter, signs"),
        "all of it is there: {whole}"
    );
    assert!(
        help[..end].iter().all(|row| row.ends_with(['│', '┐'])),
        "{whole}"
    );
    viewer.press("Esc").resize((80, 24)).press("?");
    let said = viewer.text();
    for row in mcpreel_tui::action::TABLE {
        if row
            .keys
            .iter()
            .any(|(context, _)| contexts.contains(context))
        {
            let name: String = row.name.replace('-', " ").chars().take(12).collect();
            let name = if name == "exchanges" {
                "calls".to_owned()
            } else {
                name
            };
            assert!(said.contains(&name), "{name}:\n{said}");
        }
    }
    viewer.act("/ 'next failed'");
    let found = viewer.text();
    let rows: Vec<_> = found
        .lines()
        .filter(|row| row.contains("next failed"))
        .collect();
    assert_eq!(rows.len(), 2, "{found}");
    assert!(
        !found.contains("half page"),
        "a row with other keys: {found}"
    );
    viewer.press("Esc").act("/ 'never answered' Enter");
    assert!(
        viewer.text().contains("never answered"),
        "{}",
        viewer.text()
    );
    viewer.press("Tab");
    assert!(
        viewer.text().contains("half page down"),
        "{}",
        viewer.text()
    );
    viewer.press("Tab");
    assert!(
        viewer.text().contains("never answered"),
        "{}",
        viewer.text()
    );
    viewer.press("Esc ?").act("/ 'counts and latencies' Enter");
    assert_eq!(viewer.session().view, View::Stats, "what is found is done");
    assert!(viewer.state.app.overlays.is_empty());
}

#[test]
fn esc_goes_back_to_stats_and_to_the_filter_that_was_in_force_there() {
    let fixture = fixture::ended();
    let mut viewer = Viewer::open(&fixture.path, SIZE);
    viewer.act("f 'is:failed' Enter 3 j Enter");
    assert_ne!(viewer.session().filter.text, "is:failed");
    viewer.press("Esc");
    assert_eq!(viewer.session().view, View::Stats);
    assert_eq!(viewer.session().filter.text, "is:failed");
}

/// Once the slowest calls could be read and not opened, and below the screen not even read.
#[test]
fn the_lists_beside_the_statistics_take_keys_and_lead_to_what_they_name() {
    let fixture = fixture::ended();
    for size in [(60, 15), (80, 24), (120, 35), (200, 50)] {
        let mut viewer = Viewer::open(&fixture.path, size);
        viewer.press("3");
        let slowest = figures(&viewer).stats.slowest[1].seq;
        viewer.press("Tab j");
        let text = viewer.text();
        assert!(text.contains(&format!("#{}", slowest.0)), "{text}");
        viewer.press("Enter");
        assert_eq!(viewer.session().view, View::Exchanges);
        let selected = viewer.session().list.selected().map(|key| key.seq);
        assert_eq!(selected, Some(slowest));
        viewer.press("Esc G");
        assert_eq!(viewer.session().view, View::Stats);
        let figures = figures(&viewer);
        let (direction, method, _) = &figures.notified[figures.notified.len().min(10) - 1];
        let direction: &str = (*direction).into();
        let arrow = if direction == "c2s" { "→" } else { "←" };
        let named = format!("  {arrow} {method}");
        assert!(viewer.text().contains(&named), "{named}\n{}", viewer.text());
        let expected = format!("kind:notification dir:{direction} method={method}");
        viewer.press("Enter");
        assert_eq!(viewer.session().filter.text, expected);
        assert!(!viewer.session().list.is_empty());
    }
}

#[test]
fn the_legend_of_the_timeline_is_whole_and_the_selected_row_lights_up_to_its_bar() {
    let fixture = fixture::ended();
    for size in [(80, 24), (120, 35), (200, 50)] {
        let mut viewer = Viewer::open(&fixture.path, size);
        viewer.press("2 g j");
        let text = viewer.text();
        let legend = text.lines().find(|row| row.contains("┌ Timeline  "));
        let legend = legend
            .and_then(|row| row.split('┐').next())
            .unwrap_or_default();
        assert!(
            legend.contains("asks the client") && !legend.contains('…'),
            "{text}"
        );
        let screen = viewer.screen();
        let lit = screen.area.rows().map(|row| {
            let cells = row.columns().map(|cell| &screen[(cell.x, cell.y)]);
            let is_lit = |cell: &&ratatui::buffer::Cell| {
                cell.modifier.contains(ratatui::style::Modifier::REVERSED)
            };
            cells
                .filter(is_lit)
                .map(|cell| cell.symbol().to_owned())
                .collect::<String>()
        });
        let lit: Vec<_> = lit.filter(|text| !text.is_empty()).collect();
        assert_eq!(lit.len(), 1, "{lit:?}");
        assert!(lit[0].contains('#') && lit[0].contains(" ms"), "{lit:?}");
    }
}

#[test]
fn a_text_that_is_no_command_becomes_a_filter() {
    let fixture = fixture::ended();
    let mut viewer = Viewer::open(&fixture.path, SIZE);
    viewer.act("! : 'zzqq'");
    assert!(
        viewer.text().contains("filter by `zzqq`"),
        "{}",
        viewer.text()
    );
    viewer.press("Enter");
    assert_eq!(viewer.session().filter.text, "is:failed zzqq");
    let mut viewer = Viewer::folder(fixture.folder(), SIZE);
    viewer.act(": 'zzqq' Enter");
    assert_eq!(viewer.state.app.library.narrow, "zzqq");
}

/// Once a value of forty bytes had the whole screen.
#[test]
fn a_text_is_as_large_as_what_it_says_and_else_has_the_whole_screen() {
    let fixture = fixture::ended();
    let mut viewer = Viewer::open(&fixture.path, (120, 35));
    viewer.press("5 G Enter");
    let text = viewer.text();
    assert!(
        text.contains("6 tools") && text.contains("Esc closes"),
        "{text}"
    );
    viewer.press("Esc ? Tab");
    assert!(
        viewer
            .text()
            .lines()
            .all(|row| row.starts_with(['┌', '│', '└']))
    );
}

const OFFERS: &str = r#"
    10 > "id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
    20 < "id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}
    30 > "method":"notifications/initialized"
    40 > "id":1,"method":"tools/list"
    50 < "id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"old_one","inputSchema":{"type":"object"}}]}
    60 > "id":2,"method":"tools/list"
    70 < "id":2,"result":{"tools":[{"name":"b","description":"Reads a file\u001b[2J.\nOnly below the root.","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"the way to the file"}},"required":["path"]}},{"name":"a","inputSchema":{"type":"object"}}]}
    80 > "id":3,"method":"tools/call","params":{"name":"b","arguments":{"path":"/x"}}
    90 < "id":3,"result":{"content":[],"isError":true}
    100 > "id":4,"method":"tools/call","params":{"name":"b","arguments":{"path":"/y"}}
    110 < "id":4,"result":{"content":[]}
    120 > "id":5,"method":"tools/call","params":{"name":"unknown","arguments":{}}
    130 < "id":5,"error":{"code":-32602,"message":"no such tool"}
"#;

#[test]
fn the_view_of_the_server_has_what_it_offers_with_schemas_and_calls() {
    let fixture = fixture::said_and_ended(OFFERS);
    for size in [(60, 15), (80, 24), (120, 35), (200, 50)] {
        let mut viewer = Viewer::open(fixture.path(), size);
        viewer.press("5");
        let text = viewer.text();
        for row in [
            "tool      b",
            "tool      a",
            "2     1 (50 %)",
            "⚠  tool      unknown",
        ] {
            assert!(text.contains(row), "{row}: {text}");
        }
        assert!(
            !text.contains("old_one"),
            "it is not listed any more: {text}"
        );
        viewer.press("Enter");
        let text = viewer.text();
        let told = [
            "called 2 times by c 1, 1 failed",
            "Reads a file",
            "Only below the root.",
        ];
        for line in told
            .iter()
            .chain(&["\"description\": \"the way to the file\""])
        {
            assert!(text.contains(line), "{line}: {text}");
            viewer.press("j j j j");
        }
        viewer.press("Esc =");
        assert_eq!(viewer.session().filter.text, "method=tools/call name=b");
        assert_eq!(viewer.session().list.len(), 2, "{}", viewer.text());
        viewer.press("Backspace Backspace 3 Tab");
        while !viewer
            .session()
            .stats
            .entry(figures(&viewer))
            .is_some_and(|entry| {
                matches!(entry, mcpreel_tui::panels::stats::figures::Entry::Unused(_))
            })
        {
            viewer.press("j");
        }
        viewer.press("Enter");
        assert_eq!(viewer.session().view, View::Server);
        assert_eq!(viewer.session().server.cursor.id.1, "a");
    }
}

#[test]
fn statistics_of_a_filter_follow_calls_that_begin_and_cease_to_fit() {
    for filter in ["is:failed", "is:open"] {
        let script = format!("3 f '{filter}' Enter");
        let mut recording = fixture::wild(Conversation::wild(5), 60);
        let mut viewer = Viewer::open(recording.path(), SIZE);
        viewer.act(&script);
        for _ in 0..5 {
            recording.add(30);
            viewer.wait_ns(2_000_000_000).wait_ns(2_000_000_000);
            let mut fresh = Viewer::open(recording.path(), SIZE);
            fresh.act(&script);
            let (old, new) = (figures(&viewer), figures(&fresh));
            assert_eq!(told(&old.stats), told(&new.stats), "{filter}");
            assert_eq!(old.fitting, new.fitting, "{filter}");
        }
        assert!(figures(&viewer).fitting.is_some_and(|(_, of)| of > 20));
    }
}

/// How many findings are shown.
fn counted(viewer: &Viewer) -> u64 {
    let groups = viewer.session().findings.groups.as_ref();
    let groups = groups.expect("they were counted").iter();
    groups.map(|group| group.count).sum()
}

#[test]
fn findings_are_those_whose_frame_or_exchange_fits_the_filter() {
    let fixture = fixture::ended();
    let recording = Recording::open(&fixture.path).expect("it can be read");
    let findings = recording.findings(0).expect("it can be read");
    let mut viewer = Viewer::open(&fixture.path, SIZE);
    viewer.press("4");
    assert_eq!(counted(&viewer), findings.len() as u64);
    let mut some = 0;
    for finding in &findings {
        let Some(frame) = finding.frame else { continue };
        viewer.act(&format!("f Ctrl-U 'seq:{}' Enter", frame.0));
        let at = |other: &&_| {
            let other: &mcpreel_store::reader::FindingRow = other;
            let of_frame = |seq| recording.exchanges_of_frame(seq).expect("it can be read");
            let exchanges = match (other.exchange, other.frame) {
                (Some(id), _) => Vec::from_iter(recording.exchange(id).expect("it can be read")),
                (None, Some(seq)) => of_frame(seq),
                (None, None) => vec![],
            };
            other.frame == Some(frame) || exchanges.iter().any(|one| one.request.0 == frame)
        };
        let expected = findings.iter().filter(at).count();
        assert_eq!(counted(&viewer), expected as u64, "#{}", frame.0);
        some += expected;
        let rest = format!("{expected} of {}: what fits", findings.len());
        assert!(viewer.text().contains(&rest), "{}", viewer.text());
    }
    assert!(some > 1);
    viewer.act("f Ctrl-U 'nothing_like_it' Enter");
    assert!(
        viewer
            .text()
            .contains("no row that fits the filter has a finding"),
        "{}",
        viewer.text()
    );
    viewer.act("F");
    assert_eq!(counted(&viewer), findings.len() as u64);
}

/// Once a recording opened on its last row, in the view of the recording before it.
#[test]
fn a_recording_opens_in_its_list_on_the_first_failure_and_at_the_end_while_it_is_live() {
    let recordings = fixture::folder();
    let mut viewer = Viewer::folder(recordings[0].folder(), SIZE);
    viewer.press("Enter");
    assert!(viewer.session().list.follows(), "the live one");
    viewer.press("4 z w q j Enter");
    let session = viewer.session();
    assert_eq!((session.view, session.zoom), (View::Exchanges, false));
    let failed = viewer
        .session()
        .list
        .selected_item()
        .and_then(|item| item.exchange());
    assert!(failed.is_some_and(Exchange::has_failed));
}

#[test]
fn a_list_sorted_by_a_column_without_room_says_so() {
    let fixture = fixture::ended();
    let mut viewer = Viewer::open(&fixture.path, (80, 24));
    viewer.settle();
    viewer.press("s s");
    has(&viewer, &["Calls by size ▾"]);
    viewer.resize((200, 50));
    has(&viewer, &["┌ Calls ─", "size▾"]);
}

#[test]
fn a_row_that_a_filter_hides_is_told_on_the_border_of_the_list() {
    let fixture = fixture::ended();
    for (size, panes_beside) in [((120, 30), 2), ((80, 24), 1)] {
        let mut viewer = Viewer::open(&fixture.path, size);
        viewer.act(": '11' Enter f 'tool:get_tides' Enter");
        let screen = viewer.text();
        let mut borders = screen.lines().filter(|line| line.starts_with('└'));
        let border = borders.next().expect("the list has one");
        assert!(border.contains("the filter hides #11"), "{screen}");
        assert_eq!(border.matches('└').count(), panes_beside, "{screen}");
    }
}

#[test]
fn without_a_failure_there_is_nothing_to_filter_by() {
    let fixture = fixture::remarked();
    let mut viewer = Viewer::open(&fixture.path, SIZE);
    viewer.press("!");
    has(&viewer, &["there is no failure"]);
    assert!(!viewer.session().filter.is_on());
}

/// Once that hung on the failures of the rows beside it.
#[test]
fn a_failure_that_begins_as_others_do_says_what_it_is_about_in_the_list() {
    for path in ["/etc/passwd", "/etc/shadow", "/root"] {
        let error = format!("Access denied - path outside allowed directories: {path} not in /srv");
        let lines = format!(
            r#"1 > "id":1,"method":"tools/call","params":{{"name":"read_text_file"}}
            2 < "id":1,"result":{{"content":[{{"type":"text","text":"{error}"}}],"isError":true}}"#
        );
        let recording = fixture::said(&lines);
        for size in [(80, 24), (120, 35)] {
            let mut viewer = Viewer::open(recording.path(), size);
            viewer.settle();
            let screen = viewer.screen();
            let rows = screen.area.rows().map(|row| row_text(&screen, row.y));
            // The detail beside the list has the path too.
            let mut rows = rows.map(|row| row.split("││").next().map(str::to_owned).unwrap());
            let is_its = |row: String| row.contains("read_text_file Acc") && row.contains(path);
            assert!(rows.any(is_its), "{path}\n{}", viewer.text());
        }
    }
}
