//! Each command that the README and the pages show, typed by somebody who has watched the demo twice.

use super::documents::{blocks, pages, spans};
use super::{SPEED, demo, demo_host};
use crate::support::proxy::Proxy;
use crate::support::terminal::Terminal;
use crate::support::{Library, MCPREEL, text};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The exit codes of lines with such a part, where they are not 0: the first that fits.
const CODES: [(&str, i32); 6] = [
    ("lint --explain", 0),
    // The demo breaks rules.
    ("mcpreel lint", 1),
    // Something is to be done.
    ("mcpreel doctor", 1),
    // Of other arguments comes another answer.
    (" --edit ", 1),
    // Some calls it may not make unasked.
    ("mcpreel replay", 7),
    ("--assert-all-used", 6),
];

/// Their home, with what the commands speak of in it, and a server with a URL.
struct Desk {
    library: Library,
    /// What the demo has left.
    recordings: Vec<PathBuf>,
    /// Where the pages have an id, a URL or a port of somebody else.
    named: Vec<(&'static str, String)>,
    _server: Proxy,
    _elsewhere: Library,
}

impl Desk {
    fn new() -> Self {
        let library = demo();
        let again = demo_host(&library, SPEED).output().expect("it starts");
        assert!(again.status.success(), "{}", text(&again));
        let listed = library.json(&["ls"]);
        let [second, first] =
            [0, 1].map(|at| listed[at]["id"].as_str().expect("it has one").to_owned());
        // What it records is not the newest of theirs.
        let elsewhere = Library::new();
        let mut mock = elsewhere.mcpreel("mock");
        let path = listed[1]["path"].as_str().expect("it has one");
        mock.args([path, "--listen", "0"]);
        let server = Proxy::run(mock);
        let url = format!("http://{}/mcp", server.authority());
        let named = vec![
            ("https://api.example.com/mcp", url.clone()),
            ("http://127.0.0.1:3000/mcp", url),
            ("7f3a9c21", first.clone()),
            ("7f3a", first),
            ("c04d", second),
            ("8000", "0".to_owned()),
        ];
        let desk = Self {
            _elsewhere: elsewhere,
            recordings: library.recordings(),
            library,
            named,
            _server: server,
        };
        desk.furnish();
        desk
    }

    /// The files that the commands name.
    fn furnish(&self) {
        let demo = format!("#!/bin/sh\nexec {MCPREEL} demo-server --speed {SPEED}\n");
        for program in [
            "bin/npx",
            "work/my-server",
            "work/new-server",
            "work/target/debug/my-server",
        ] {
            self.write(program, &demo);
        }
        self.write("bin/node", "#!/bin/sh\nexec sleep 600\n");
        self.write("absent/jq", "#!/bin/sh\nexec cat\n");
        symlink(MCPREEL, self.home().join("bin/mcpreel")).expect("it can be made");
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings");
        fs::create_dir(self.home().join("work/recordings")).expect("it can be made");
        for name in ["crash.reel", "well-behaved.reel"] {
            let copy = self.home().join("work/recordings").join(name);
            fs::copy(samples.join(name), copy).expect("it can be copied");
        }
        let servers = r#"{"mcpServers": {"files": {"command": "npx", "args": ["files"]}}}"#;
        for file in [".claude.json", ".cursor/mcp.json", ".myhost/settings.json"] {
            self.write(file, servers);
        }
        self.write(
            "work/bug-report/notes.txt",
            "It answers \"quota exceeded\".\n",
        );
        self.write("work/mcp-server-weather.log", super::cli_import::CLAUDE);
        let cassette = "mcpreel export @ -o tests/forecast.jsonl";
        self.write("work/tests/about.txt", "");
        self.ends(cassette);
    }

    fn home(&self) -> &Path {
        self.library.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.home().join(name);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("it can be made");
        fs::write(&path, text).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    fn environment(&self) -> [(&'static str, String); 4] {
        let home = self.home().to_string_lossy().into_owned();
        let path = std::env::var("PATH").unwrap_or_default();
        [
            ("PATH", format!("{home}/bin:{path}:{home}/absent")),
            ("MCPREEL_DIR", home.clone()),
            ("TOKEN", "t0ken".to_owned()),
            ("HOME", home),
        ]
    }

    fn shell(&self, line: &str) -> Command {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", line])
            .current_dir(self.home().join("work"));
        shell.env_clear().envs(self.environment());
        shell
    }

    /// A command that ends by itself, with the code that is documented for it.
    fn ends(&self, line: &str) -> String {
        let output = self
            .shell(line)
            .stdin(Stdio::null())
            .output()
            .expect("a shell starts");
        let documented = CODES.iter().find(|(part, _)| line.contains(part));
        let code = documented.map_or(0, |(_, code)| *code);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{line}: {}",
            text(&output)
        );
        text(&output)
    }

    /// One that listens until it is ended.
    fn listens(&self, line: &str) {
        let (status, said) = Proxy::run(self.shell(&format!("exec {line}"))).end();
        // It ends as the server does that it starts.
        let is_fine = status.success() || status.signal() == Some(15);
        assert!(is_fine, "{line}: {said}");
    }

    /// One on a terminal: these keys once that is shown.
    fn pressed(&self, line: &str, shown: &str, keys: &str) -> u32 {
        let environment = self.environment();
        let environment = environment
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        let work = self.home().join("work");
        let shell = format!("cd {} && exec {line}", work.display());
        let mut terminal = Terminal::start("sh", &["-c", &shell], &environment, (120, 35));
        terminal.wait_for(shown);
        terminal.press(keys);
        terminal.end().0
    }

    /// The line with what is theirs in it.
    fn ours(&self, line: &str) -> String {
        let (mut ours, mut rest) = (String::new(), line);
        while let Some(letter) = rest.chars().next() {
            let known = self.named.iter().find(|(it, _)| rest.starts_with(it));
            let (theirs, named) = known.map_or((letter.len_utf8(), None), |(it, own)| {
                (it.len(), Some(&**own))
            });
            ours += named.unwrap_or(&rest[..theirs]);
            rest = &rest[theirs..];
        }
        ours
    }

    fn typed(&self, line: &str) {
        // Whatever the command before it has recorded, all of it, is not the newest now.
        let made = self.library.recordings();
        for file in made.iter().filter(|file| !self.recordings.contains(file)) {
            fs::remove_file(file).expect("it is ours");
        }
        let line = self.ours(line);
        let words: Vec<_> = line.split_whitespace().collect();
        let is_quick = ["--dry-run", "--print"].iter().any(|it| words.contains(it));
        match words.get(1).copied() {
            Some("proxy") => self.listens(&line),
            Some("mock") if words.contains(&"--listen") => self.listens(&line),
            None | Some("#" | "open" | "demo") => {
                assert_eq!(self.pressed(&line, "? help", "qq"), 0, "{line}");
            }
            Some("wrap" | "unwrap") if !is_quick => {
                assert_eq!(self.pressed(&line, "[y/N]", "y\ry\ry\r"), 0, "{line}");
            }
            Some("tail") => {
                self.pressed(&line, "waiting for a recording", "\x03");
            }
            _ => drop(self.ends(&line)),
        }
    }
}

/// The lines of a page that are ours: those of its blocks, and in prose those that need nothing more.
fn commands(page: &str) -> Vec<String> {
    let blocks = blocks(page, "sh");
    let lines = blocks
        .iter()
        .flat_map(|block| block.lines())
        .map(str::to_owned);
    let in_tables = page.lines().filter(|line| line.starts_with("| `mcpreel"));
    let in_tables = in_tables.flat_map(spans);
    let all = lines.chain(in_tables);
    all.filter(|line| line == "mcpreel" || line.starts_with("mcpreel "))
        .collect()
}

#[test]
fn every_command_of_the_readme_and_the_pages_runs() {
    let pages = pages()
        .into_iter()
        .map(|(name, page)| (name, commands(&page)));
    let pages: Vec<_> = pages.filter(|(_, commands)| !commands.is_empty()).collect();
    assert!(pages.len() >= 7, "{pages:?}");
    std::thread::scope(|scope| {
        for (_, commands) in &pages {
            scope.spawn(move || {
                let desk = Desk::new();
                for line in commands {
                    desk.typed(line);
                }
            });
        }
    });
}

#[test]
fn what_the_pages_show_of_a_sample_is_what_is_printed() {
    let desk = Desk::new();
    let mut shown = 0;
    for (name, page) in pages() {
        for block in blocks(&page, "text") {
            let (command, lines) = block.split_once('\n').expect("it has lines");
            let Some(command) = command
                .strip_prefix("$ ")
                .filter(|it| it.contains("recordings/"))
            else {
                continue;
            };
            let printed = desk.ends(command.trim_end_matches("(shortened)"));
            for line in lines.lines() {
                assert!(printed.contains(line), "{name} shows {line:?}:\n{printed}");
                shown += 1;
            }
        }
    }
    assert!(shown > 4, "{shown}");
}
