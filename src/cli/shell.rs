//! `mcpreel completions` and `mcpreel man`: our command line for shells, and as a manual page.

use super::exit::{Exit, Outcome};
use super::output::Output;
use clap::{Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::Man as Page;
use std::io::{self, Write as _};

/// Print the completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel completions bash > ~/.local/share/bash-completion/completions/mcpreel
  mcpreel completions zsh > \"${fpath[1]}/_mcpreel\"")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn run(&self, program: &Command) -> Outcome {
        let mut script = Vec::new();
        generate(self.shell, &mut visible(program), "mcpreel", &mut script);
        print(&script)
    }
}

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel man | man -l -")]
pub struct Man {}

impl Man {
    #[expect(clippy::unused_self, reason = "a command is run like any other")]
    pub fn run(&self, program: Command) -> Outcome {
        print(&page(program)?)
    }
}

fn print(bytes: &[u8]) -> Outcome {
    let mut out = Output::stdout();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(Exit::Fine)
}

/// The program without the commands that only the demo starts.
fn visible(all: &Command) -> Command {
    let shown = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    Command::new("mcpreel")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommands(shown.cloned())
}

/// The manual page as roff, with a section per command.
fn page(mut program: Command) -> io::Result<Vec<u8>> {
    program.build();
    let man = Page::new(program.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    for command in program
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
    {
        if command.get_name() != "help" {
            section(command, &mut page)?;
        }
    }
    page.extend_from_slice(b".SH EXAMPLES\n");
    page.extend_from_slice(as_it_stands(&program).as_bytes());
    Ok(page)
}

/// A command as a section of its own: roff's requests for headings are moved one level down.
fn section(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let name = command.get_name().to_uppercase();
    page.extend_from_slice(format!(".SH \"{name}\"\n").as_bytes());
    let man = Page::new(command.clone());
    let mut body = Vec::new();
    man.render_synopsis_section(&mut body)?;
    man.render_description_section(&mut body)?;
    man.render_options_section(&mut body)?;
    for line in body.split_inclusive(|&byte| byte == b'\n') {
        match line.strip_prefix(b".SH ") {
            Some(heading) => {
                page.extend_from_slice(b".SS ");
                page.extend_from_slice(heading);
            }
            None => page.extend_from_slice(line),
        }
    }
    page.extend_from_slice(b".SS EXAMPLES\n");
    page.extend_from_slice(as_it_stands(command).as_bytes());
    Ok(())
}

/// The text below the options in the help, line by line: the renderer would join the lines.
fn as_it_stands(command: &Command) -> String {
    let text = command.get_after_long_help().or(command.get_after_help());
    let text = text.map(ToString::to_string);
    let text = text
        .unwrap_or_default()
        .replace('\\', "\\e")
        .replace('-', "\\-");
    let lines = text.lines().filter(|line| *line != "Examples:");
    let guarded = lines.map(|line| format!("\\&{line}\n"));
    format!(".nf\n{}.fi\n", guarded.collect::<String>())
}
