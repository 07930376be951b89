//! `mcpreel import`: cassettes and the logs of other programs become recordings.
//!
//! Each is made in a folder that nobody lists, inside that of the recordings, and appears there
//! when it is whole. Its id comes from what is in it, so that the same session is taken once, also of a log that
//! has grown.

mod log;

use super::cassette::{self, Made};
use super::exit::{Exit, Failure, Outcome};
use super::folder;
use super::output::{self, Output};
use anyhow::Context as _;
use clap::Args;
use mcpreel_capture::spool::open_regular;
use mcpreel_config::Environment;
use mcpreel_hosts::table::hosts;
use mcpreel_share::import::{Format, LOOKED_AT};
use mcpreel_share::outgoing::file::Folder;
use mcpreel_store::library::{Library, REEL, create_dir, file_stem};
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::clock::wall_clock_ns;
use mcpreel_wire::text::{escape, plural};
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};

/// Import cassettes and logs of other programs as recordings
///
/// What a file is, is seen from what is in it: a cassette (`mcpreel export`), a session log of
/// mcpsnoop, an mcp.log or mcp-server-NAME.log of Claude Desktop, or JSON Lines of messages, bare
/// or in an object with a time and a direction. A log of several sessions becomes several
/// recordings. What a log does not say stays unknown; where a direction is guessed or a line passed
/// over, that is said. The same file makes the same recording, and only once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel import session.jsonl
  mcpreel import ~/Library/Logs/Claude/mcp-server-weather.log
  mcpreel import claude-desktop      all logs of a host that mcpreel hosts knows
  mcpreel import ~/.local/share/mcpsnoop/sessions/*.jsonl
  journalctl -u my-host -o cat | mcpreel import --name my-host -
  mcpreel why 7f3a                   then as with any recording, by the id that it said")]
pub struct Import {
    /// The files, or a host, which stands for its logs; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<OsString>,
    #[command(flatten)]
    folder: folder::Folder,
    /// The name of the recordings [default: that in the log, else the file's]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// One JSON object per recording and line
    #[arg(long)]
    json: bool,
}

/// Takes each of the files; one that cannot be taken does not keep the others from it.
pub fn run(args: &Import) -> Outcome {
    let library = Library::new(folder::of(&args.folder)?);
    create_dir(library.dir()).with_context(|| {
        let dir = output::shown(library.dir());
        format!("the folder {dir} cannot be made")
    })?;
    let mut out = Output::stdout();
    let mut outcome = Exit::Fine;
    for file in args.files.iter().flat_map(logs) {
        if let Err(failure) = take(&file, args, &library, &mut out) {
            outcome = failure.skipped("not taken in")?;
        }
    }
    out.flush()?;
    Ok(outcome)
}

/// The file of this name; of the name of a host its logs, the newest first.
fn logs(name: &OsString) -> Vec<OsString> {
    let mut hosts = hosts().iter();
    let host = hosts.find(|host| **name == *host.id && !Path::new(name).exists());
    let logs = host
        .zip(Environment::of_process().home)
        .map(|(host, home)| host.logs(&home));
    let logs = logs.filter(|logs| !logs.is_empty());
    logs.map_or_else(
        || vec![name.clone()],
        |logs| logs.into_iter().map(Into::into).collect(),
    )
}

fn take(file: &OsStr, args: &Import, library: &Library, out: &mut Output) -> Result<(), Failure> {
    let folder = Folder::within(library.dir())?;
    let (path, shown) = if file == "-" {
        // What a file is, is seen before it is read.
        let path = folder.path().join("stdin");
        io::copy(&mut io::stdin().lock(), &mut File::create(&path)?)?;
        (path, "stdin".to_owned())
    } else {
        (PathBuf::from(file), output::shown(Path::new(file)))
    };
    for made in made(&path, &shown, args, folder.path())? {
        settle(&made, &shown, args, library, out)?;
    }
    Ok(())
}

/// The recordings in a file.
fn made(path: &Path, shown: &str, args: &Import, folder: &Path) -> Result<Vec<Made>, Failure> {
    let name = args.name.as_deref();
    if let Some(made) = cassette::take_into((path, shown), folder, name)? {
        return Ok(vec![made]);
    }
    let cannot = || format!("{shown} cannot be read");
    let mut file = open_regular(path, false).with_context(cannot)?;
    let mut beginning = Vec::new();
    let mut looked_at = (&mut file).take(LOOKED_AT as u64);
    looked_at.read_to_end(&mut beginning).with_context(cannot)?;
    file.rewind().with_context(cannot)?;
    let Some(format) = Format::of(&beginning) else {
        return Err(unknown(shown, path));
    };
    let log = log::Log {
        file,
        path,
        shown,
        format,
        name,
    };
    Ok(log.import(folder).with_context(cannot)?)
}

fn unknown(shown: &str, path: &Path) -> Failure {
    let is_reel = path.extension().is_some_and(|end| end == REEL);
    let why = if is_reel || Recording::open(path).is_ok() {
        "is a recording already: every command takes its path"
    } else {
        "has no known format. Known are a cassette (`mcpreel export`), a session log of \
         mcpsnoop, an mcp*.log of Claude Desktop, or JSON-RPC messages, one per line; unpacked, \
         and in UTF-8"
    };
    Failure::Refused(anyhow::anyhow!("{shown} {why}"))
}

/// Moves a recording to its place in the library, and says where that is.
fn settle(
    made: &Made,
    shown: &str,
    args: &Import,
    library: &Library,
    out: &mut Output,
) -> Result<(), Failure> {
    let Summary {
        id,
        name,
        wall_ns,
        frames,
        exchanges,
        ..
    } = Recording::open(&made.reel)?.summary()?;
    let mut name = args.name.clone().unwrap_or(name);
    let there = library.with_id(&id);
    let is_there = there.is_some();
    let reel = if let Some(reel) = there {
        let known = Recording::open(&reel).and_then(|known| known.summary());
        name = known.map_or(name, |known| known.name);
        reel
    } else {
        // A session without a date stands where it was taken in.
        let dated = Some(wall_ns).filter(|ns| *ns > 0);
        let stem = file_stem(dated.unwrap_or_else(wall_clock_ns), &name, &id);
        let reel = library.dir().join(stem).with_extension(REEL);
        std::fs::rename(&made.reel, &reel)?;
        reel
    };
    for line in &made.remarks {
        output::say(line);
    }
    if args.json {
        return Ok(out.json(&json!({
            "id": id, "name": name, "path": reel.display().to_string(), "file": shown,
            "format": made.format, "frames": frames, "exchanges": exchanges,
            "already_there": is_there, "remarks": made.remarks,
        }))?);
    }
    let what = if is_there {
        "was taken in before as"
    } else {
        "is now"
    };
    let (name, format) = (escape(&name), made.format);
    let (exchanges, lines) = (plural(exchanges, "exchange"), plural(frames, "line"));
    Ok(out.line(&format!(
        "{shown}, {format}, {what} {id} {name}: {exchanges}, {lines}; mcpreel show {id}"
    ))?)
}
