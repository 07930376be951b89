//! The redacted screen: whatever is looked at, no secret is there; and what it was looked at for
//! is.

use crate::by_hand::{Viewer, Writes, has};
use crate::corpus::{self, Session};
use crate::fixture;
use crate::made::record;
use crate::notation::row_text;
use crate::support::{Library, wait_for};
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use mcpreel_store::reader::Recording as Reel;
use mcpreel_trace::frame::Seq;
use mcpreel_tui::app::Overlay;
use mcpreel_tui::app::comparison::{Far, Stage};
use mcpreel_tui::app::diff;
use mcpreel_tui::effect::{Effect, Msg};
use mcpreel_tui::worker::Answer as Any;
use mcpreel_tui::worker::beside::Answer;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// Side by side, one above the other, one at a time.
const SIZES: [(u16, u16); 3] = [(200, 50), (100, 30), (60, 15)];

/// Letters of a secret that give it away.
const PART: usize = 12;

const REDACT: &str = ": 'redact' Enter";

/// The token that [`fixture::guarded`] has everywhere.
const TOKEN: &str = fixture::TOKEN;

/// What is not to be seen: parts of all secrets, of which short ones are one.
struct Secrets {
    parts: HashSet<String>,
    letters: BTreeSet<usize>,
}

impl Secrets {
    fn of<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let mut parts = HashSet::new();
        for line in secrets.into_iter().flat_map(str::lines) {
            let letters: Vec<char> = line.trim().chars().collect();
            let windows = letters.windows(PART.min(letters.len()).max(1));
            parts.extend(windows.map(|part| part.iter().collect::<String>()));
        }
        let letters = parts.iter().map(|part| part.chars().count()).collect();
        Self { parts, letters }
    }

    /// Those that stand in a text.
    fn in_text(&self, text: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let lines: HashSet<&str> = text.lines().collect();
        for line in lines {
            let ends = line.char_indices().map(|(at, _)| at);
            let ends: Vec<usize> = ends.chain([line.len()]).collect();
            for len in &self.letters {
                let parts = ends.windows(len + 1).map(|ends| &line[ends[0]..ends[*len]]);
                let secret = parts.filter(|part| self.parts.contains(*part));
                found.extend(secret.map(str::to_owned));
            }
        }
        found
    }
}

/// All that was seen, and what was copied.
#[derive(Default)]
struct Seen(String);

impl Seen {
    fn look(&mut self, viewer: &Viewer) {
        let screen = viewer.screen();
        for row in screen.area.rows() {
            self.0.push_str(&row_text(&screen, row.y));
            self.0.push('\n');
        }
    }

    /// Does it key by key, and looks at each screen between.
    fn act(&mut self, viewer: &mut Viewer, script: &str) {
        for (nth, part) in script.split('\'').enumerate() {
            if nth % 2 == 0 {
                for key in part.split_whitespace() {
                    viewer.press(key);
                    self.look(viewer);
                }
            } else {
                viewer.type_text(part);
                self.look(viewer);
            }
        }
    }

    fn take_copies(&mut self, viewer: &mut Viewer) {
        for wish in viewer.wishes.drain(..) {
            match wish {
                Effect::Copy(text) | Effect::Print(text) | Effect::Save { text, .. } => {
                    self.0.push_str(&text);
                    self.0.push('\n');
                }
                _ => {}
            }
        }
    }
}

/// Once through everything that can be seen of a recording of so many frames.
fn walk(viewer: &mut Viewer, frames: u64, every: usize) -> Seen {
    let mut seen = Seen::default();
    let s = &mut seen;
    s.look(viewer);
    for view in ["1", "2", "3", "4", "1 w", "w"] {
        s.act(viewer, view);
        s.act(viewer, "g PgDn PgDn PgDn PgDn PgDn PgDn PgDn PgDn G");
    }
    // Rows in full: as a tree, raw, in hex; the story and the findings.
    for seq in (1..=frames).step_by(every) {
        viewer.act("Esc Esc").act(&format!(": '{seq}' Enter Enter"));
        s.act(viewer, "PgDn PgDn r PgDn r PgDn r Tab Tab Tab Esc");
        viewer.act("Enter");
        for what in ["v", "p", "m", "e", "l", "r"] {
            s.act(viewer, "y");
            viewer.act(what).act("Esc Esc").act("Enter");
        }
        s.take_copies(viewer);
    }
    s.act(viewer, ": 'print' Enter");
    s.take_copies(viewer);
    viewer.act("Esc Esc Esc");
    // What lies on top.
    for what in [
        "W",
        "?",
        "x",
        "d",
        "P",
        "a",
        "=",
        "J",
        "y",
        ": 'messages' Enter",
    ] {
        s.act(viewer, what);
        s.act(viewer, "PgDn PgDn");
        viewer.act("Esc Esc Esc");
    }
    for field in [
        "tool:", "method:", "name:", "prompt:", "uri:", "id:", "token:", "task:", "finding:",
    ] {
        viewer.act("f Ctrl-U").type_text(field);
        s.act(viewer, "Down Down Esc");
    }
    s.act(viewer, "/ 'e' Enter n n Esc");
    s.act(viewer, "4 g Enter Down Down i PgDn Esc Esc 1");
    s.act(viewer, "g T S PgDn PgDn Esc T");
    s.act(viewer, "3 g s s Enter F 1");
    s.act(viewer, "c Esc m");
    s.act(viewer, "q j k n Esc D n ? Esc");
    seen
}

/// All cases of the corpus as one session.
fn planted() -> (Session, Vec<String>) {
    let mut session = Session::default();
    let mut secrets = Vec::new();
    for case in corpus::all("planted") {
        case.tell(&mut session);
        secrets.extend(case.secrets);
    }
    (session, secrets)
}

fn frames(path: &Path) -> u64 {
    let recording = Reel::open(path).expect("it can be read");
    recording.summary().expect("it can be read").frames
}

fn opened(path: &Path, size: (u16, u16)) -> Viewer {
    let mut viewer = Viewer::open(path, size);
    viewer.writes = Writes::Whole;
    viewer.settle();
    viewer
}

fn is_redacted(viewer: &Viewer) -> bool {
    viewer.app.redaction.is_on
}

fn selected(viewer: &Viewer) -> Option<u64> {
    let session = viewer.app.session.as_deref()?;
    session.list.selected().map(|key| key.seq.0)
}

#[test]
fn no_planted_secret_is_on_any_screen_nor_in_what_is_copied() {
    let library = Library::new();
    let (session, secrets) = planted();
    let reel = record(&session, library.path());
    let secrets = Secrets::of(secrets.iter().map(String::as_str));
    let frames = frames(&reel);
    for (size, every) in SIZES.into_iter().zip([9, 23, 31]) {
        let mut viewer = opened(&reel, size);
        viewer.act(REDACT);
        assert!(is_redacted(&viewer), "{}", viewer.text());
        let seen = walk(&mut viewer, frames, every);
        let found = secrets.in_text(&seen.0);
        assert!(found.is_empty(), "{size:?}: {found:#?}");
        assert!(seen.0.contains('‹'), "nothing was replaced");
    }
    // The same walk without it: so they can be seen.
    let mut viewer = opened(&reel, SIZES[0]);
    let seen = walk(&mut viewer, frames, 9);
    let found = secrets.in_text(&seen.0);
    assert!(found.len() > 300, "{}", found.len());
}

#[test]
fn a_secret_is_nowhere_whichever_view_is_open_when_it_is_switched_on() {
    let recording = fixture::guarded();
    let secrets = Secrets::of([TOKEN]);
    for size in [SIZES[0], SIZES[2]] {
        for open in [
            "",
            "2",
            "3",
            "4",
            "w",
            "Enter",
            "Enter r",
            "W",
            "g T S",
            "f 'name:'",
            "d",
            "x",
            "c",
            "q",
        ] {
            let mut viewer = opened(&recording.path, size);
            let mut before = Seen::default();
            viewer.act("f 'token' Esc").act(open);
            before.look(&viewer);
            // From within: whatever lies on top is left for it.
            if matches!(open, "f 'name:'" | "c") {
                viewer.act("Esc");
            }
            let mut seen = Seen::default();
            viewer.act(REDACT);
            seen.look(&viewer);
            seen.act(&mut viewer, "Esc : 'messages' Enter Esc");
            seen.act(&mut viewer, "Tab Tab Tab PgDn g G");
            assert_eq!(secrets.in_text(&seen.0), BTreeSet::new(), "{size:?} {open}");
            assert!(is_redacted(&viewer));
        }
    }
}

#[test]
fn nothing_that_was_made_before_comes_back() {
    let recording = fixture::guarded();
    let secrets = Secrets::of([TOKEN]);
    let mut viewer = opened(&recording.path, SIZES[0]);
    // Copied, told in a message, made a filter, remembered.
    viewer.act("g").act("f 'tool:deploy' Enter g Enter y e");
    assert!(
        viewer
            .app
            .copied
            .as_deref()
            .is_some_and(|text| text.contains(TOKEN))
    );
    viewer
        .app
        .notices
        .error(format!("it said {TOKEN}"), viewer.app.now);
    let filter = format!("params.arguments.key:{TOKEN}");
    viewer
        .act("Esc Esc f Ctrl-U")
        .type_text(&filter)
        .act("Enter");
    let mut seen = Seen::default();
    seen.look(&viewer);
    assert_ne!(secrets.in_text(&seen.0), BTreeSet::new(), "{}", seen.0);
    viewer.wishes.clear();
    viewer.act(REDACT);
    let mut seen = Seen::default();
    seen.look(&viewer);
    seen.act(
        &mut viewer,
        "f Up Up Up Esc : 'messages' Enter Esc : 'print' Enter",
    );
    seen.take_copies(&mut viewer);
    assert_eq!(secrets.in_text(&seen.0), BTreeSet::new(), "{}", seen.0);
    // What it hides is not gone.
    viewer.act(REDACT);
    assert!(!is_redacted(&viewer));
    let session = viewer.app.session.as_deref().expect("it is open");
    assert_eq!(session.filter.text, filter);
    viewer.act("Esc : 'messages' Enter");
    has(&viewer, &[TOKEN]);
}

// Whatever was on its way when the recording was closed came later than the likeness.
#[test]
fn what_the_reader_said_before_is_not_heard_after() {
    let recording = fixture::guarded();
    let secrets = Secrets::of([TOKEN]);
    for size in SIZES {
        let mut viewer = opened(&recording.path, size);
        viewer.act("f 'tool:deploy' Enter g");
        has(&viewer, &["{key:\"gh"]);
        viewer.delay_answers();
        assert!(viewer.late.len() > 1);
        viewer.watched = Some(String::new());
        viewer.act(REDACT);
        assert!(viewer.late.is_empty());
        let seen = viewer.watched.take().unwrap_or_default();
        assert!(seen.contains("deploy"), "{seen}");
        assert_eq!(secrets.in_text(&seen), BTreeSet::new(), "{seen}");
    }
}

#[test]
fn off_again_everything_is_where_it_was() {
    let recording = fixture::guarded();
    for size in SIZES {
        let mut viewer = opened(&recording.path, size);
        viewer
            .act("f '-kind:stderr' Enter g j j")
            .act("z")
            .act(": 'stats' Enter 1");
        let before = viewer.text();
        let at = selected(&viewer);
        viewer.act(REDACT);
        has(&viewer, &["REDACTED"]);
        assert_eq!(selected(&viewer), at);
        let session = viewer.app.session.as_deref().expect("it is open");
        assert_eq!(session.filter.text, "-kind:stderr");
        viewer.act(REDACT);
        assert_eq!(selected(&viewer), at);
        assert_eq!(viewer.text(), before, "{size:?}");
    }
}

#[test]
fn a_click_on_the_chip_ends_it() {
    let recording = fixture::guarded();
    let mut viewer = opened(&recording.path, SIZES[1]);
    viewer.act("g j T").act(REDACT);
    has(&viewer, &["AT #1 00:00.021", "REDACTED"]);
    let (_, rows) = viewer.app.size;
    viewer.tell(Msg::Mouse(MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: 3,
        row: rows - 1,
        modifiers: KeyModifiers::NONE,
    }));
    assert!(!is_redacted(&viewer), "{}", viewer.text());
}

#[test]
fn marks_and_notes_go_to_the_recording_and_are_seen() {
    let recording = fixture::guarded();
    let note = |seq| {
        let reel = Reel::open(&recording.path).expect("it can be read");
        let page = reel.annotations(Seq(seq - 1)).expect("it can be read");
        let found = page.into_iter().find(|(at, _)| *at == Seq(seq));
        found.map(|(_, annotation)| (annotation.mark.is_some(), annotation.note))
    };
    let mut viewer = opened(&recording.path, SIZES[0]);
    viewer.act(REDACT).act("g j j");
    let at = selected(&viewer).expect("a row is selected");
    viewer.act("m").act("c 'look here' Enter");
    has(&viewer, &["look here"]);
    assert_eq!(note(at), Some((true, Some("look here".into()))));
    // What is seen of a note is not what it says: it is not written over.
    viewer.act("c");
    assert!(viewer.app.overlays.is_empty());
    has(
        &viewer,
        &["a note is not changed while the screen is redacted"],
    );
    viewer.act("m");
    assert_eq!(note(at), Some((false, Some("look here".into()))));
    viewer.act(REDACT);
    has(&viewer, &["look here"]);
}

#[test]
fn one_that_is_stopped_or_fails_leaves_the_screen_as_it_was() {
    let recording = fixture::guarded();
    let mut viewer = opened(&recording.path, SIZES[1]);
    viewer.act("f 'tool:deploy' Enter g");
    let before = viewer.text();
    let is_same = |viewer: &mut Viewer, words: &str| {
        has(viewer, &[words]);
        viewer.act("Esc").wait_ns(5_000 * fixture::MS);
        assert_eq!(viewer.text(), before);
        assert!(!is_redacted(viewer));
    };
    viewer.redacts = Writes::Stopped;
    viewer.act(REDACT);
    is_same(&mut viewer, "stopped: it is not redacted");
    // While it is made the screen says what it is.
    viewer.redacts = Writes::Nowhere;
    viewer.act(REDACT);
    has(&viewer, &["NOT YET REDACTED", "ghp_"]);
    viewer.act("Ctrl-C");
    has(&viewer, &["STOPPING"]);
    assert_eq!(viewer.stops, 1);
    assert!(!viewer.app.quit_armed);
    // Whatever it comes to after that, it is not wanted any more.
    viewer.redact_late();
    assert_eq!(viewer.forgotten, 1);
    is_same(&mut viewer, "stopped: it is not redacted");
    viewer.redacts = Writes::Whole;
    let mut viewer = opened(&recording.path, SIZES[1]);
    viewer.act("f 'tool:deploy' Enter g");
    let away = recording.path.with_extension("away");
    std::fs::rename(&recording.path, &away).expect("it can be moved");
    viewer.act(REDACT);
    std::fs::rename(&away, &recording.path).expect("it can be moved");
    is_same(&mut viewer, "not redacted:");
    // Nobody knows what is secret.
    viewer.app.redaction.refusal = Some("the rules cannot be read".to_owned());
    viewer.act(REDACT);
    is_same(&mut viewer, "the rules cannot be read");
}

/// Once it was off again without a word, and the list had the secrets of all commands.
#[test]
fn who_leaves_before_it_is_redacted_sees_no_secret_in_the_list() {
    let recording = fixture::guarded();
    let mut viewer = Viewer::folder(recording.folder(), SIZES[0]);
    viewer.act("Enter");
    viewer.redacts = Writes::Nowhere;
    viewer.act(REDACT);
    has(&viewer, &["NOT YET REDACTED"]);
    viewer.act("q").wait_ns(fixture::MS);
    assert!(viewer.app.session.is_none() && is_redacted(&viewer));
    has(&viewer, &["REDACTED", "weather-server"]);
    let mut seen = Seen::default();
    seen.look(&viewer);
    let secrets = Secrets::of([TOKEN]);
    assert_eq!(
        secrets.in_text(&seen.0),
        BTreeSet::new(),
        "{}",
        viewer.text()
    );
}

#[test]
fn the_next_recording_is_redacted_too_or_not_shown() {
    let recording = fixture::guarded();
    let secrets = Secrets::of([TOKEN]);
    let mut viewer = Viewer::folder(recording.folder(), SIZES[0]);
    let mut seen = Seen::default();
    seen.look(&viewer);
    assert_ne!(
        secrets.in_text(&seen.0),
        BTreeSet::new(),
        "the command has one"
    );
    viewer.act(REDACT).wait_ns(fixture::MS);
    has(&viewer, &["REDACTED", "weather-server"]);
    let mut seen = Seen::default();
    seen.look(&viewer);
    viewer.redacts = Writes::Nowhere;
    seen.act(&mut viewer, "Enter 2 3 4 1 w w Tab");
    has(&viewer, &["REDACTING", "taking the secrets out"]);
    seen.act(&mut viewer, "q");
    viewer.redacts = Writes::Stopped;
    seen.act(&mut viewer, "Enter");
    assert!(viewer.app.session.is_none(), "it is not shown");
    has(
        &viewer,
        &["stopped: the recording was not opened", "REDACTED"],
    );
    viewer.redacts = Writes::Whole;
    seen.act(&mut viewer, "Enter g j j j Tab");
    has(&viewer, &["deploy", "REDACTED"]);
    seen.act(&mut viewer, "q n");
    has(
        &viewer,
        &["a note is not changed while the screen is redacted"],
    );
    assert_eq!(secrets.in_text(&seen.0), BTreeSet::new(), "{}", seen.0);
    viewer.act("Esc").act(REDACT).wait_ns(fixture::MS);
    let mut seen = Seen::default();
    seen.look(&viewer);
    assert_ne!(secrets.in_text(&seen.0), BTreeSet::new(), "it is off");
}

// A file may be called after its command, and what is said of it says how it is called.
#[test]
fn no_name_of_a_file_is_told() {
    let recording = fixture::guarded();
    let dir = recording.folder();
    let called = |name: &str| dir.join(format!("{name} --api-key={TOKEN}.reel"));
    std::fs::rename(&recording.path, called("deploy")).expect("it can be moved");
    std::fs::write(called("broken"), "no recording".repeat(100)).expect("it can be written");
    let secrets = Secrets::of([TOKEN]);
    let mut viewer = Viewer::folder(dir, SIZES[0]);
    let mut before = Seen::default();
    before.act(&mut viewer, "g D Esc j D Esc");
    let found = secrets.in_text(&before.0).len();
    assert!(found > 20, "it is told otherwise: {found}\n{}", before.0);
    viewer.act(REDACT).wait_ns(fixture::MS);
    let mut seen = Seen::default();
    for at in ["g", "G"] {
        seen.act(&mut viewer, at);
        seen.act(&mut viewer, "D Esc n 'a note' Enter Esc Enter 2 1 q Esc");
        has(&viewer, &["REDACTED", "SERVER"]);
    }
    for at in ["g", "g"] {
        seen.act(&mut viewer, at);
        seen.act(&mut viewer, "D y");
        has(&viewer, &["(a file) was deleted"]);
    }
    seen.act(&mut viewer, "Esc : 'messages' Enter");
    has(&viewer, &["not redacted: (a file)"]);
    assert_eq!(secrets.in_text(&seen.0), BTreeSet::new(), "{}", seen.0);
    assert!(!called("deploy").exists() && !called("broken").exists());
}

// Marks were set, and rows exported, that somebody had not seen.
#[test]
fn what_would_have_other_numbers_is_not_shown() {
    let recordings = [fixture::guarded, fixture::killed, fixture::gap];
    for recording in recordings.map(|make| make()) {
        let mut viewer = opened(&recording.path, SIZES[0]);
        viewer.act(REDACT);
        assert!(is_redacted(&viewer), "{}", viewer.text());
    }
    let recording = fixture::guarded();
    let conn = rusqlite::Connection::open(&recording.path).expect("it can be opened");
    let taken = conn.execute("DELETE FROM frame WHERE seq = 3", []);
    assert_eq!(taken, Ok(1));
    drop(conn);
    let mut viewer = opened(&recording.path, SIZES[0]);
    viewer.act(REDACT);
    has(&viewer, &["not redacted: rows were taken out of it"]);
    assert!(!is_redacted(&viewer));
}

#[test]
fn a_session_that_can_no_longer_be_followed_is_told() {
    let recording = fixture::guarded_live();
    let mut viewer = opened(&recording.path, SIZES[0]);
    viewer.act(REDACT);
    std::fs::write(&recording.path, "no recording".repeat(1000)).expect("it can be written");
    viewer.redact_again();
    has(
        &viewer,
        &["what has come since is not shown:", "1 open", "REDACTED"],
    );
}

#[test]
fn what_would_read_recordings_with_their_secrets_is_refused() {
    let recordings = fixture::replayed();
    let mut viewer = Viewer::folder(recordings[0].folder(), SIZES[0]);
    viewer.act(REDACT).wait_ns(fixture::MS);
    for keys in ["P", "d", "a", "Enter P", "a"] {
        viewer.act(keys);
        has(
            &viewer,
            &["REDACTED", "it reads secrets; end :redact first"],
        );
        assert!(viewer.app.overlays.is_empty(), "{keys}");
        viewer.act("Esc");
        assert!(!viewer.text().contains("a replay"), "no hint says so");
    }
}

/// Once they stood among what can be done; by its name it still says why not.
#[test]
fn what_is_refused_is_no_command_that_is_offered() {
    let recordings = fixture::replayed();
    let mut viewer = Viewer::folder(recordings[0].folder(), SIZES[0]);
    let offered = |viewer: &mut Viewer, typed: &str| {
        viewer.act(":").type_text(typed);
        let text = viewer.text();
        viewer.act("Esc");
        text
    };
    let (parent, replay) = ("compare-parent   ", "replay           ");
    assert!(offered(&mut viewer, "compare").contains(parent));
    viewer.act(REDACT).wait_ns(fixture::MS);
    assert!(!offered(&mut viewer, "compare").contains(parent));
    assert!(!offered(&mut viewer, "repla").contains(replay));
    viewer.act(": 'replay' Enter");
    has(&viewer, &["it reads secrets; end :redact first"]);
    // Two calls of the recording that is open are compared as they are shown.
    viewer.act("Enter");
    assert!(offered(&mut viewer, "dif").contains("diff           "));
}

#[test]
fn calls_are_compared_without_their_secrets() {
    let recording = fixture::guarded();
    let secrets = Secrets::of([TOKEN]);
    let two = "f Ctrl-U 'tool:deploy' Enter g Space f Ctrl-U 'code:-32601' Enter g Space Esc d";
    for size in SIZES {
        let mut viewer = opened(&recording.path, size);
        viewer.act(two);
        let plain = viewer.text();
        assert_eq!(viewer.app.overlays.len(), 1, "{plain}");
        assert_ne!(secrets.in_text(&plain), BTreeSet::new(), "{plain}");
        viewer.act("Esc : 'unselect' Enter").act(REDACT);
        viewer.watched = Some(String::new());
        let mut seen = Seen::default();
        seen.act(&mut viewer, two);
        assert_eq!(viewer.app.overlays.len(), 1, "{}", viewer.text());
        has(&viewer, &["deploy", "‹sec"]);
        seen.act(&mut viewer, "e e e e e e Space g j j j j j j G E E E E l");
        assert!(viewer.app.overlays.is_empty(), "{}", viewer.text());
        seen.0.push_str(&viewer.watched.take().unwrap_or_default());
        assert_eq!(secrets.in_text(&seen.0), BTreeSet::new(), "{}", seen.0);
    }
}

/// Once it was waited for without end: the reader forgets its questions when it reads what is newer.
#[test]
fn a_comparison_that_waits_while_the_session_goes_on_is_asked_for_anew() {
    let mut recording = fixture::guarded_live();
    let mut viewer = opened(&recording.path, SIZES[0]);
    viewer.act(REDACT).act("f 'tool:deploy' Enter g Space");
    viewer.act("f Ctrl-U 'code:-32601' Enter g Space Esc d");
    let is_compared = |viewer: &Viewer| match viewer.app.overlays.last() {
        Some(Overlay::Diff(diff)) => diff.compared().is_some(),
        _ => panic!("{}", viewer.text()),
    };
    assert!(is_compared(&viewer));
    if let Some(Overlay::Diff(diff)) = viewer.app.overlays.last_mut() {
        diff.stage = diff::Stage::Comparing(diff::Far::Asked);
    }
    fixture::goes_on(&mut recording);
    wait_for("it is compared", || {
        viewer.redact_again();
        is_compared(&viewer).then_some(())
    });
}

/// Once why a comparison failed was told to whoever had left it, with the names of files.
#[test]
fn a_comparison_that_was_asked_for_before_is_not_heard_after() {
    let recordings = fixture::replayed();
    let mut viewer = Viewer::folder(recordings[0].folder(), SIZES[0]);
    viewer.act("P");
    let Some(Overlay::Comparison(mut asked)) = viewer.app.overlays.pop() else {
        panic!("{}", viewer.text());
    };
    let before = std::mem::replace(&mut asked.stage, Stage::Comparing(Far::Asked));
    let generation = asked.generation;
    let Stage::Compared(compared) = before else {
        panic!("it was compared");
    };
    viewer.app.overlays.push(Overlay::Comparison(asked));
    viewer.act("Esc").act(REDACT).wait_ns(fixture::MS);
    let path = recordings[0].path.display();
    for answer in [
        Answer::Compared(generation, compared),
        Answer::Comparing(generation, Far::Compared(1, 2)),
        Answer::Failed(generation, format!("{path}: cannot be read")),
    ] {
        viewer.tell(Msg::Answer(Box::new(Any::Beside(answer))));
        let text = viewer.text();
        assert!(viewer.app.overlays.is_empty(), "{text}");
        assert!(!text.contains("cannot be read"), "{text}");
    }
}

/// Once it was cut in the middle, or the chip was gone.
#[test]
fn at_any_size_the_chip_and_what_is_refused_stand_beside_each_other() {
    let recording = fixture::guarded();
    for size in SIZES {
        let mut viewer = opened(&recording.path, size);
        viewer.redacts = Writes::Nowhere;
        viewer.act(REDACT).act("P");
        has(&viewer, &["NOT YET REDACTED", "end :redact first"]);
        viewer.redact_late();
        viewer.act("P");
        has(&viewer, &["REDACTED", "end :redact first"]);
    }
}

#[test]
fn what_was_stopped_is_not_said_of_the_next_one() {
    let recording = fixture::guarded();
    let mut viewer = opened(&recording.path, SIZES[1]);
    viewer.redacts = Writes::Stopped;
    viewer.act(REDACT);
    has(&viewer, &["stopped: it is not redacted"]);
    viewer.redacts = Writes::Nowhere;
    viewer.act(REDACT);
    has(&viewer, &["NOT YET REDACTED"]);
    assert!(!viewer.text().contains("stopped"), "{}", viewer.text());
    viewer.redact_late();
    has(&viewer, &["REDACTED"]);
    assert!(!viewer.text().contains("stopped"), "{}", viewer.text());
}

#[test]
fn until_there_is_something_no_hint_leads_to_it() {
    let recordings = fixture::replayed();
    let mut viewer = Viewer::folder(recordings[0].folder(), SIZES[1]);
    viewer.act(REDACT).wait_ns(fixture::MS);
    viewer.redacts = Writes::Nowhere;
    viewer.act("Enter");
    has(&viewer, &["REDACTING", "Ctrl-C stop"]);
    for hint in ["export", "copy", "search", "filter", "next failure"] {
        assert!(
            !viewer.text().contains(&format!(" {hint}  ")),
            "{}",
            viewer.text()
        );
    }
}

#[test]
fn exports_go_on_from_the_recording() {
    let recording = fixture::guarded();
    let dir = tempfile::tempdir().expect("a folder can be made");
    let mut viewer = opened(&recording.path, SIZES[0]);
    viewer.act(REDACT);
    for (keys, is_raw) in [("x", false), ("x r", true)] {
        let path = dir.path().join(format!("{is_raw}"));
        viewer.act(keys).act("n Ctrl-U");
        viewer
            .type_text(path.to_str().expect("it is text"))
            .act("Enter y");
        let text = std::fs::read_to_string(&path).expect("it was written");
        assert_eq!(text.contains(TOKEN), is_raw);
        assert!(text.contains("deploy"));
    }
}

#[test]
fn a_session_that_goes_on_is_shown_as_far_as_it_is_redacted() {
    let mut recording = fixture::guarded_live();
    let secrets = Secrets::of([TOKEN, fixture::LATER]);
    let mut seen = Seen::default();
    let mut viewer = opened(&recording.path, SIZES[0]);
    viewer.watched = Some(String::new());
    viewer.act(REDACT);
    seen.look(&viewer);
    has(&viewer, &["REC", "REDACTED", "1 open"]);
    has(&viewer, &["lines whose end has not come are not shown"]);
    let last = frames(&recording.path);
    fixture::goes_on(&mut recording);
    viewer.redact_again();
    seen.look(&viewer);
    let now = frames(&recording.path);
    let chip = format!("REDACTED as of #{last}, {} new", now - last);
    has(&viewer, &[&chip]);
    viewer.act("g j");
    let at = selected(&viewer);
    // It is made anew when some time has passed.
    wait_for("the newer ones are shown", || {
        viewer.redact_again();
        seen.look(&viewer);
        (!viewer.text().contains("as of")).then_some(())
    });
    assert_eq!(selected(&viewer), at, "the cursor stays");
    viewer.act("G");
    seen.look(&viewer);
    has(&viewer, &["rotate", "REC"]);
    recording.finish();
    wait_for("it is over", || {
        viewer.redact_again();
        seen.look(&viewer);
        viewer
            .text()
            .contains("the session has ended")
            .then_some(())
    });
    viewer.act("g G");
    seen.0.push_str(&viewer.watched.take().unwrap_or_default());
    assert_eq!(secrets.in_text(&seen.0), BTreeSet::new(), "{}", seen.0);
    assert!(is_redacted(&viewer));
}

#[test]
fn the_likeness_is_for_its_owner_alone_and_goes_with_the_screen() {
    use std::os::unix::fs::PermissionsExt as _;
    // Nobody else makes one of this name now.
    let id = std::process::id();
    let recording = fixture::guarded_as(id);
    let name = format!("{id:08x}.reel");
    let there = || {
        let files = std::fs::read_dir(std::env::temp_dir()).expect("it is a folder");
        let reels = files.flatten().map(|file| file.path().join(&name));
        reels.filter(|reel| reel.exists()).collect::<Vec<_>>()
    };
    let mut viewer = opened(&recording.path, SIZES[1]);
    for leave in [REDACT, "q", ""] {
        assert_eq!(there(), Vec::<std::path::PathBuf>::new(), "{leave}");
        viewer.app.redaction.is_on = false;
        if viewer.app.session.is_none() {
            viewer = opened(&recording.path, SIZES[1]);
        }
        viewer.act(REDACT);
        let [reel] = &there()[..] else {
            panic!("one is there: {:?}", there())
        };
        let folder = reel.parent().expect("it is in a folder");
        let mode = folder.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        viewer.act(leave);
    }
    drop(viewer);
    assert_eq!(there(), Vec::<std::path::PathBuf>::new());
}
