//! `mcpreel import`: cassettes and the logs of other programs become recordings.
//!
//! Each is made in a folder that nobody lists, inside that of the recordings, and appears there
//! when it is whole. Its id comes from what is in it, so that the same session is taken once, also of a log that
//! has grown.

mod log;

use super::cassette;
use super::exit::{Exit, Failure, Outcome};
use super::folder;
use super::output::{self, Output};
use anyhow::Context as _;
use clap::Args;
use mcpreel_capture::spool::open_regular;
use mcpreel_share::import::{Format, LOOKED_AT, not_utf8};
use mcpreel_share::outgoing::file::Folder;
use mcpreel_store::library::{FileName, Library, REEL, create_dir, file_stem};
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::clock;
use mcpreel_wire::text::{escape, plural};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};

/// Make recordings of cassettes and of other programs' logs
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
  mcpreel import ~/.local/share/mcpsnoop/sessions/*.jsonl
  journalctl -u my-host -o cat | mcpreel import --name my-host -
  mcpreel why 7f3a                   then as with any recording, by the id that it said")]
pub struct Import {
    /// The files; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<OsString>,
    #[command(flatten)]
    folder: folder::Folder,
    /// What the recordings are called [default: as the log says, else after the file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// One JSON object per recording and line
    #[arg(long)]
    json: bool,
}

/// A recording that was made of a file, where nobody looks yet.
struct Made {
    reel: PathBuf,
    /// The format of the file, in words.
    format: &'static str,
    /// What is to be known about it, one sentence each, escaped.
    remarks: Vec<String>,
    /// The ids that it had while it was shorter.
    beginnings: Vec<u32>,
}

/// Takes each of the files; one that cannot be taken does not keep the others from it.
pub fn run(args: &Import) -> Outcome {
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

fn take(file: &OsStr, args: &Import, library: &Library, out: &mut Output) -> Result<(), Failure> {
    let folder = Folder::within(library.dir())?;
    let path = match file.to_str() {
        Some("-") => from_stdin(&folder)?,
        _ => PathBuf::from(file),
    };
    let shown = match file.to_str() {
        Some("-") => "stdin".to_owned(),
        _ => escape(&file.to_string_lossy()).into_owned(),
    };
    for made in made(&path, &shown, args, folder.path())? {
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

/// The recordings in a file.
fn made(path: &Path, shown: &str, args: &Import, folder: &Path) -> Result<Vec<Made>, Failure> {
    let name = args.name.as_deref();
    if let Some((reel, remarks)) = cassette::take_into((path, shown), folder, name)? {
        return Ok(vec![Made {
            reel,
            format: "a cassette",
            remarks,
            beginnings: Vec::new(),
        }]);
    }
    let cannot = || format!("{shown} cannot be read");
    let mut file = open_regular(path, false).with_context(cannot)?;
    let mut beginning = Vec::new();
    let mut looked_at = (&mut file).take(LOOKED_AT as u64);
    looked_at.read_to_end(&mut beginning).with_context(cannot)?;
    file.rewind().with_context(cannot)?;
    let Some(format) = Format::of(&beginning) else {
        return Err(unknown(shown, path, &beginning));
    };
    let made = log::Log {
        file,
        path,
        shown,
        format,
        name,
    }
    .import(folder);
    Ok(made.with_context(cannot)?)
}

fn unknown(shown: &str, path: &Path, beginning: &[u8]) -> Failure {
    if let Some((what, how)) = not_utf8(beginning) {
        return Failure::Refused(anyhow::anyhow!("{shown} is {what}: `{how}` takes it in"));
    }
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

/// The id that the name of a recording tells.
fn id_of(reel: &Path) -> Option<String> {
    let stem = reel.file_stem().and_then(OsStr::to_str)?;
    Some(FileName::parse(stem)?.id)
}

/// The recording of the same session that was made while it was shorter.
fn beginning_of(made: &Made, library: &Library, summary: &Summary) -> Option<String> {
    let is_one = |id: &String| {
        let number = u32::from_str_radix(id, 16).ok();
        *id != summary.id && number.is_some_and(|id| made.beginnings.contains(&id))
    };
    let ids = library.reels().ok()?.into_iter();
    ids.filter_map(|reel| Some((id_of(&reel)?, reel)))
        .filter(|(id, _)| is_one(id))
        .find_map(|(id, reel)| {
            let other = Recording::open(&reel).ok()?.summary().ok()?;
            let is_same = other.origin == "import" && other.wall_ns == summary.wall_ns;
            (is_same && other.frames <= summary.frames).then_some(id)
        })
}

/// Gives a recording its place in the library: where that is, and whether it was there already.
fn stored(
    made: &Made,
    library: &Library,
    summary: &Summary,
    name: &str,
) -> Result<(PathBuf, bool), Failure> {
    let reels = library.reels()?;
    let there = reels
        .into_iter()
        .find(|reel| id_of(reel).is_some_and(|id| id == summary.id));
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

/// Moves a recording to its place in the library, and says where that is.
fn settle(
    made: &Made,
    shown: &str,
    args: &Import,
    library: &Library,
    out: &mut Output,
) -> Result<(), Failure> {
    let summary = Recording::open(&made.reel)?.summary()?;
    let (id, name) = (&*summary.id, args.name.as_deref().unwrap_or(&summary.name));
    let (reel, is_there) = stored(made, library, &summary, name)?;
    let known = is_there.then(|| Recording::open(&reel).ok()?.summary().ok());
    let known = known.flatten().map(|known| known.name);
    let name = known.as_deref().unwrap_or(name);
    let begun = beginning_of(made, library, &summary).filter(|_| !is_there);
    let remarks: Vec<_> = begun
        .iter()
        .map(|id| format!("the session has grown: {id} is its beginning"))
        .chain(made.remarks.iter().cloned())
        .collect();
    for line in &remarks {
        output::say(line);
    }
    if args.json {
        let path = reel.display().to_string();
        out.json(&serde_json::json!({
            "id": id, "name": name, "path": path, "file": shown, "format": made.format,
            "frames": summary.frames, "exchanges": summary.exchanges,
            "already_there": is_there, "remarks": remarks,
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
        made.format,
        escape(name),
        plural(summary.exchanges, "exchange"),
        plural(summary.frames, "line"),
    ))?;
    Ok(())
}
