//! `mcpreel import`: cassettes and the logs of other programs become recordings.
//!
//! Each is made in a folder that nobody lists, inside that of the recordings, and appears there
//! when it is whole. Its id comes from the file, so that the same file is taken once.

mod log;

use super::args::Import as Args;
use super::cassette;
use super::exit::{Exit, Failure, Outcome};
use super::folder;
use super::output::{self, Output};
use crate::capture::spool::open_regular;
use crate::formats::import::{Format, LOOKED_AT};
use crate::outgoing::temporary::Folder;
use crate::store::library::{Library, REEL, create_dir, name::FileName, name::file_stem};
use crate::store::reader::{Recording, Summary};
use crate::text::{escape, plural};
use crate::trace::clock;
use anyhow::Context as _;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};

/// A recording that was made of a file, where nobody looks yet.
struct Made {
    reel: PathBuf,
    /// What it was made of, in words.
    of: &'static str,
    /// What is to be known about it, one sentence each, escaped.
    told: Vec<String>,
}

/// Takes each of the files; one that cannot be taken does not keep the others from it.
pub fn run(args: &Args) -> Outcome {
    let library = Library::new(folder::of(&args.folder)?);
    create_dir(library.dir()).with_context(|| {
        let dir = library.dir().display().to_string();
        format!("the folder {} cannot be made", escape(&dir))
    })?;
    let mut out = Output::stdout();
    let mut outcome = Exit::Fine;
    for file in &args.files {
        match take(file, args, &library, &mut out) {
            Ok(()) => {}
            Err(Failure::Refused(error)) => {
                let (_, said) = super::exit::code(Err(Failure::Refused(error)));
                output::say(&said.unwrap_or_default());
                outcome = Exit::Refused;
            }
            Err(other) => return Err(other),
        }
    }
    out.flush()?;
    Ok(outcome)
}

fn take(file: &OsStr, args: &Args, library: &Library, out: &mut Output) -> Result<(), Failure> {
    let folder = Folder::within(library.dir())?;
    let path = match file.to_str() {
        Some("-") => from_stdin(&folder)?,
        _ => PathBuf::from(file),
    };
    let shown = escape(&file.to_string_lossy()).into_owned();
    for made in made((&path, &shown), args, folder.path())? {
        for line in &made.told {
            output::say(line);
        }
        settle(&made, &shown, args, library, out)?;
    }
    Ok(())
}

/// All that comes from stdin, in a file: what it is, is seen before it is read.
fn from_stdin(folder: &Folder) -> io::Result<PathBuf> {
    let path = folder.path().join("stdin");
    io::copy(&mut io::stdin().lock(), &mut File::create(&path)?)?;
    Ok(path)
}

/// The recordings in a file, which is shown so, escaped.
fn made((path, shown): (&Path, &str), args: &Args, folder: &Path) -> Result<Vec<Made>, Failure> {
    let name = args.name.as_deref();
    if let Some((reel, told)) = cassette::take_into((path, shown), folder, name)? {
        let of = "a cassette";
        return Ok(vec![Made { reel, of, told }]);
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
    let made = log::Log {
        file,
        path,
        shown,
        format,
        name,
    }
    .take(folder);
    Ok(made.with_context(cannot)?)
}

fn unknown(shown: &str, path: &Path) -> Failure {
    if Recording::open(path).is_ok() || path.extension().is_some_and(|ending| ending == REEL) {
        return Failure::Refused(anyhow::anyhow!(
            "{shown} is a recording already: every command takes its path"
        ));
    }
    Failure::Refused(anyhow::anyhow!(
        "{shown} is nothing that can be imported: that is a cassette (`mcpreel export`), a session \
         log of mcpsnoop, an mcp*.log of Claude Desktop, or JSON-RPC messages, one per line"
    ))
}

/// Gives a recording its place in the library: where that is, and whether it was there already.
fn stored(
    made: &Made,
    library: &Library,
    summary: &Summary,
    name: &str,
) -> Result<(PathBuf, bool), Failure> {
    let there = library.reels()?.into_iter().find(|reel| {
        let stem = reel.file_stem().and_then(OsStr::to_str);
        stem.and_then(FileName::parse)
            .is_some_and(|it| it.id == summary.id)
    });
    if let Some(reel) = there {
        return Ok((reel, true));
    }
    // A session without a date stands where it was taken in.
    let wall_ns = match summary.wall_ns {
        0 => clock::wall_clock_ns(),
        known => known,
    };
    let stem = file_stem(wall_ns, name, &summary.id);
    let reel = library.dir().join(stem).with_extension(REEL);
    std::fs::rename(&made.reel, &reel)?;
    Ok((reel, false))
}

/// What the recording is called: one that was there keeps its name, whatever is asked for now.
fn name_of(reel: &Path, new: &str, is_there: bool) -> String {
    let there = || Recording::open(reel).ok()?.summary().ok();
    let there = if is_there { there() } else { None };
    there.map_or_else(|| new.to_owned(), |summary| summary.name)
}

/// Settles it, and says so.
fn settle(
    made: &Made,
    shown: &str,
    args: &Args,
    library: &Library,
    out: &mut Output,
) -> Result<(), Failure> {
    let summary = Recording::open(&made.reel)?.summary()?;
    let id = &*summary.id;
    let new = args.name.as_deref().unwrap_or(&summary.name);
    let (reel, is_there) = stored(made, library, &summary, new)?;
    let name = name_of(&reel, new, is_there);
    let name = &*name;
    if args.json {
        let path = reel.display().to_string();
        out.json(&serde_json::json!({
            "id": id, "name": name, "path": path, "file": shown, "format": made.of,
            "frames": summary.frames, "exchanges": summary.exchanges,
            "already_there": is_there, "remarks": made.told,
        }))?;
        return Ok(());
    }
    let what = if is_there {
        "was taken in before as"
    } else {
        "is now"
    };
    out.line(&format!(
        "{shown}, {}, {what} {id} {}: {}, {}; mcpreel show {id}",
        made.of,
        escape(name),
        plural(summary.exchanges, "exchange"),
        plural(summary.frames, "line"),
    ))?;
    Ok(())
}
