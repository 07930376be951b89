//! The process that indexes, and the files that it maps: whatever happens to them, the session's
//! bytes go through, and what is lost of its recording is made up for.

use crate::fail_open::echo::{ECHO, Echo};
use crate::support::{Library, wait_for, wait_for_work};
use mcpreel_capture::spool::{SEGMENT, SpoolReader};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::process::{Resource, Rlimit, prlimit};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The indexer of the recorder `parent`, once it has created the recording.
pub fn indexer(library: &Library, parent: u32) -> Pid {
    wait_for("the recording", || library.files("reel-shm").pop());
    wait_for("an indexer", || indexers(parent).pop())
}

/// Processes of `parent` that index and live.
pub fn indexers(parent: u32) -> Vec<Pid> {
    children(parent, |words| words.contains("index-spool"))
}

/// Living processes of `parent` with such a command line.
pub fn children(parent: u32, is_meant: impl Fn(&str) -> bool) -> Vec<Pid> {
    let processes = std::fs::read_dir("/proc").expect("Linux has it").flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|pid: &i32| {
            let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}"));
            let status = read("status").unwrap_or_default();
            // The command line of a process that has ended is empty.
            status.contains(&format!("PPid:\t{parent}\n"))
                && read("cmdline").is_ok_and(|words| !words.is_empty() && is_meant(&words))
        })
        .map(Pid::from_raw)
        .collect()
}

/// Waits until the indexer has nothing to do.
fn wait_for_rest(library: &Library, echo: &Echo, indexer: Pid) {
    let lines = String::from_utf8_lossy(&echo.sent).lines().count();
    wait_for_work(
        indexer.as_raw().cast_unsigned(),
        "an indexer that rests",
        || {
            let frames = library.json(&["show", "@"])[0]["frames"].as_u64()?;
            (frames == 3 * lines as u64).then_some(())
        },
    );
}

/// A session in the midst of which `happen` is done to the indexer and the recording; it gets the
/// time in which another indexer may be started.
fn disturbed(library: &Library, happen: impl FnOnce(Pid, &Path)) -> Echo {
    let mut echo = Echo::start(&mut library.run(ECHO));
    echo.exchange(300);
    let indexer = indexer(library, echo.pid());
    let reel = library.files("reel").remove(0);
    wait_for_rest(library, &echo, indexer);
    happen(indexer, &reel);
    echo.exchange(1000);
    echo
}

fn assert_whole(library: &Library, echo: Echo) {
    let ended = echo.end();
    assert_eq!(ended.warnings, [""; 0]);
    assert_eq!(ended.missing(library), [0; 3]);
    assert_eq!(library.json(&["show", "@"])[0]["state"], "complete");
    assert_eq!(library.files("spool"), [""; 0].map(PathBuf::from));
}

#[test]
fn an_indexer_that_is_killed_is_started_again_and_nothing_is_lost() {
    let library = Library::new();
    let mut echo = disturbed(&library, |indexer, _| {
        kill(indexer, Signal::SIGKILL).expect("it is ours");
    });
    wait_for("another indexer", || {
        echo.exchange(1);
        indexers(echo.pid()).pop()
    });
    wait_for("what was sent meanwhile", || {
        echo.exchange(1);
        let sizes = library.json(&["show", "@", "--frames"]);
        let bytes: u64 = sizes
            .iter()
            .filter_map(|frame| frame["size"].as_u64())
            .sum();
        (bytes > echo.sent.len() as u64).then_some(())
    });
    assert_whole(&library, echo);
}

#[test]
fn an_indexer_that_is_killed_at_the_end_is_made_up_for() {
    let library = Library::new();
    let echo = disturbed(&library, |indexer, _| {
        kill(indexer, Signal::SIGKILL).expect("it is ours");
    });
    assert_whole(&library, echo);
}

#[test]
fn an_indexer_that_is_stopped_delays_nothing() {
    let library = Library::new();
    let mut stopped = None;
    let echo = disturbed(&library, |indexer, _| {
        kill(indexer, Signal::SIGSTOP).expect("it is ours");
        stopped = Some(indexer);
    });
    let ended = echo.end();
    assert_eq!(ended.warnings, [""; 0]);
    let ls = library.mcpreel("ls").output().expect("mcpreel starts");
    assert!(ls.status.success(), "{}", crate::support::text(&ls));
    kill(stopped.expect("it was found"), Signal::SIGKILL).expect("it is still there");
    assert_eq!(ended.missing(&library), [0; 3]);
}

/// It ended the session once: the file is a mapping of whoever writes the recording.
#[test]
fn a_truncated_index_of_the_log_costs_nothing() {
    let library = Library::new();
    let echo = disturbed(&library, |_, reel| {
        let shm = PathBuf::from(format!("{}-shm", reel.display()));
        let shm = File::options().write(true).open(shm).expect("it is there");
        shm.set_len(0).expect("it is ours");
    });
    assert_whole(&library, echo);
}

/// What was on record was gone then, and nothing said.
#[test]
fn a_recording_whose_file_is_lost_is_made_anew_and_lacks_nothing() {
    let beside = |reel: &Path, end: &str| PathBuf::from(format!("{}{end}", reel.display()));
    for happen in [
        |reel: &Path, _: &str| drop(File::create(reel).expect("it is ours")),
        |reel: &Path, _: &str| std::fs::remove_file(reel).expect("it is ours"),
        |reel: &Path, _: &str| std::fs::write(reel, "x".repeat(100_000)).expect("it is ours"),
        |reel: &Path, other: &str| std::fs::rename(other, reel).expect("it is ours"),
    ] {
        for end in ["", "-wal"] {
            let library = Library::new();
            let other = library.path().join("other");
            std::fs::write(&other, "x".repeat(1_000_000)).expect("it can be written");
            let other = other.to_str().expect("it is text");
            let echo = disturbed(&library, |_, reel| happen(&beside(reel, end), other));
            assert_whole(&library, echo);
        }
    }
}

/// Other programs may read a recording with `SQLite`, and tidy up.
#[test]
fn a_wal_that_another_program_has_moved_into_the_file_is_no_loss() {
    let library = Library::new();
    let echo = disturbed(&library, |_, reel| {
        let other = rusqlite::Connection::open(reel).expect("it is a database");
        let timeout = std::time::Duration::from_mins(1);
        other.busy_timeout(timeout).expect("it is open");
        wait_for("an empty WAL", || {
            let moved = other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
            (moved == Ok(0)).then_some(())
        });
    });
    assert_whole(&library, echo);
    let files = std::fs::read_dir(library.path())
        .expect("it is there")
        .flatten();
    let damaged = files.filter(|file| file.file_name().to_string_lossy().contains("damaged"));
    assert_eq!(damaged.count(), 0);
}

#[test]
fn a_recording_that_cannot_be_made_anew_in_full_says_what_it_lacks() {
    let library = Library::new();
    let mut indexer = None;
    let mut echo = disturbed(&library, |pid, _| indexer = Some(pid));
    let reel = library.files("reel").remove(0);
    let spool = SpoolReader::open(&reel.with_extension("spool")).expect("it is there");
    // Until something of the journal has been written over. On a busy machine an indexer that is not
    // waited for would have more to do with each round.
    wait_for("a journal that is used again", || {
        echo.exchange(2000);
        wait_for_rest(&library, &echo, indexer.expect("it was found"));
        (spool.progress().released > 3 * SEGMENT).then_some(())
    });
    drop(File::create(&reel).expect("it is ours"));
    wait_for("a warning", || {
        echo.exchange(10);
        echo.is_warned().then_some(())
    });
    let ended = echo.end();
    ended.assert_one_warning(&["cut off, removed or replaced", "lacks what its journal"]);
    for missing in ended.missing(&library) {
        assert!((1..ended.sent.len()).contains(&missing), "{missing}");
    }
}

#[test]
fn whatever_happens_to_the_files_the_session_goes_on_and_every_byte_is_accounted_for() {
    let spool = |reel: &Path| reel.with_extension("spool");
    let set_mode = |file: &Path, mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(file, mode)
    };
    let close = |file: &Path| set_mode(file, 0o000).expect("it is ours");
    let beside = |reel: &Path, end: &str| PathBuf::from(format!("{}{end}", reel.display()));
    let replace = |file: &Path| {
        let other = file.with_extension("other");
        std::fs::write(&other, "x".repeat(1_000_000)).expect("it can be written");
        std::fs::rename(other, file).expect("it is ours");
    };
    let deeds: [&dyn Fn(&Path); 10] = [
        &|reel| drop(File::create(spool(reel)).expect("it is ours")),
        &|reel| std::fs::remove_file(spool(reel)).expect("it is ours"),
        &|reel| std::fs::write(spool(reel), "x".repeat(100_000)).expect("it is ours"),
        &|reel| std::fs::remove_file(beside(reel, "-shm")).expect("it is ours"),
        &|reel| close(reel),
        &|reel| close(&beside(reel, "-wal")),
        &|reel| close(&beside(reel, "-shm")),
        &|reel| close(&spool(reel)),
        &|reel| replace(&spool(reel)),
        &|reel| replace(&beside(reel, "-shm")),
    ];
    for (nth, happen) in deeds.into_iter().enumerate() {
        let library = Library::new();
        let mut echo = disturbed(&library, |_, reel| happen(reel));
        echo.exchange(3000);
        let ended = echo.end();
        for file in ["reel", "reel-wal", "reel-shm", "spool"] {
            for file in library.files(file) {
                // It may have gone meanwhile.
                drop(set_mode(&file, 0o600));
            }
        }
        let missing: usize = ended.missing(&library).iter().sum();
        assert!(nth == 0 || nth == 2 || missing == 0, "{nth}: {missing}");
    }
}

#[test]
fn an_indexer_that_runs_out_of_memory_costs_nothing() {
    let library = Library::new();
    let mut echo = disturbed(&library, |indexer, _| {
        let pid = rustix::process::Pid::from_raw(indexer.as_raw());
        let limit = Rlimit {
            current: Some(1 << 20),
            maximum: Some(1 << 20),
        };
        prlimit(pid, Resource::As, limit).expect("the indexer is ours");
    });
    echo.exchange(20_000);
    assert_whole(&library, echo);
}
