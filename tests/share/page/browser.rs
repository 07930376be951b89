//! Chromium without a window, driven over a pipe in the protocol of its developer tools.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;
use tempfile::TempDir;

/// Names under which it is found, the likeliest first.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// No answer takes longer on a busy machine.
const DEADLINE: Duration = Duration::from_mins(3);

/// A script that waits until something is so; the page draws meanwhile.
const UNTIL: &str = "new Promise((done) => {
    const look = () => { if (CONDITION) done(true); else setTimeout(look, 10); };
    look();
})";

/// A browser with one page.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    last: u64,
    session: Option<String>,
    events: Vec<Value>,
    _profile: TempDir,
}

/// A key as it is pressed: what it is called, what it types, its number.
fn key(name: &str) -> Value {
    let code = match name {
        "Enter" => 13,
        "Escape" => 27,
        "PageDown" => 34,
        "End" => 35,
        "Home" => 36,
        "ArrowLeft" => 37,
        "ArrowUp" => 38,
        "ArrowRight" => 39,
        "ArrowDown" => 40,
        _ => 0,
    };
    match name {
        "Enter" => json!({ "key": name, "windowsVirtualKeyCode": code, "text": "\r" }),
        _ if code > 0 => json!({ "key": name, "windowsVirtualKeyCode": code }),
        _ => json!({ "key": name, "text": name }),
    }
}

/// Where it is.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let places = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|path| path.is_file()).expect(
        "the long tests need a browser, none of chromium, chromium-browser, google-chrome and \
         chrome is on the PATH: `apt-get install chromium`",
    )
}

impl Browser {
    /// Starts one with an empty page of an ordinary size.
    pub fn start() -> Self {
        let profile = tempfile::tempdir().expect("a temporary folder can be made");
        // It reads from descriptor 3 and writes to 4.
        let mut command = Command::new("sh");
        command
            .args([
                "-c",
                "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1",
                "sh",
            ])
            .arg(program())
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("a shell starts");
        let to = child.stdin.take().expect("it is a pipe");
        let out = child.stdout.take().expect("it is a pipe");
        let (sender, from) = sync_channel(4096);
        std::thread::spawn(move || {
            let messages = BufReader::new(out).split(0);
            for message in messages.map_while(Result::ok) {
                let message = serde_json::from_slice(&message).expect("it speaks JSON");
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut browser = Self {
            child,
            to,
            from,
            last: 0,
            session: None,
            events: Vec::new(),
            _profile: profile,
        };
        browser.begin();
        browser
    }

    fn begin(&mut self) {
        let page = self.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = self.call("Target.attachToTarget", &attach);
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
        self.size(1400, 900);
    }

    /// Asks, and returns the answer; what comes meanwhile is kept.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.to
            .write_all(format!("{message}\0").as_bytes())
            .expect("the browser reads");
        loop {
            let message = self.from.recv_timeout(DEADLINE);
            let mut message = message.unwrap_or_else(|error| panic!("{method}: {error}"));
            if message["id"] == self.last {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    /// Opens a page, at `place` (`#12`), and waits until all of it is there.
    pub fn open(&mut self, page: &Path, place: &str) {
        // From one place to another in the same page would be no opening.
        self.call("Page.navigate", &json!({ "url": "about:blank" }));
        self.events.clear();
        let url = format!("file://{}{place}", page.display());
        self.call("Page.navigate", &json!({ "url": url }));
        self.wait_until("document.body && document.body.classList.contains('complete')");
    }

    /// What a script gives.
    pub fn js(&mut self, script: &str) -> Value {
        let params = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", &params);
        assert!(
            answer.get("exceptionDetails").is_none(),
            "{script}: {answer}"
        );
        answer["result"]["value"].take()
    }

    /// The text that a script gives.
    pub fn text(&mut self, script: &str) -> String {
        let value = self.js(script);
        let text = value.as_str();
        text.unwrap_or_else(|| panic!("{script} gives {value}"))
            .to_owned()
    }

    /// The number that a script gives.
    pub fn number(&mut self, script: &str) -> u64 {
        let value = self.js(script);
        let number = value.as_f64();
        let number = number.unwrap_or_else(|| panic!("{script} gives {value}"));
        format!("{number:.0}").parse().expect("it is not negative")
    }

    /// Waits until a condition, a script, is so.
    pub fn wait_until(&mut self, condition: &str) {
        self.js(&UNTIL.replace("CONDITION", condition));
    }

    /// Presses keys, one after the other.
    pub fn press(&mut self, keys: &[&str]) {
        for name in keys {
            let mut event = key(name);
            event["type"] = "keyDown".into();
            self.call("Input.dispatchKeyEvent", &event);
            let up = json!({ "type": "keyUp", "key": name });
            self.call("Input.dispatchKeyEvent", &up);
        }
    }

    /// Types a text where the cursor is.
    pub fn enter(&mut self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
    }

    /// Makes it so wide and high.
    pub fn size(&mut self, width: u32, height: u32) {
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700,
        });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// `light` or `dark`, as the system of a reader may be.
    pub fn scheme(&mut self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({ "features": [feature] }),
        );
    }

    /// Fails if the page complained, or asked for anything but itself, since it was opened.
    pub fn assert_quiet(&mut self) {
        // What it still has to say comes before this answer.
        self.js("new Promise((done) => setTimeout(done, 50))");
        let mut pages = 0;
        for event in &self.events {
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Network.requestWillBeSent" => {
                    let is_page = params["type"] == "Document";
                    assert!(is_page, "a request: {params}");
                    pages += 1;
                }
                "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded" => {
                    panic!("it complained: {params}");
                }
                "Page.javascriptDialogOpening" => panic!("a dialog: {params}"),
                _ => {}
            }
        }
        assert_eq!(pages, 1, "the page itself, once");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
