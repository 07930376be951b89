//! How a server behind a URL is reached: the options of all commands that reach one, and the command by
//! which those start a bridge to it that know servers as processes only.

use clap::Args;
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use mcpreel_capture::net::credentials::Credentials;
use mcpreel_capture::net::tls::{CaError, Tls};
use mcpreel_capture::net::upstream::{Link, Upstream};
use mcpreel_trace::clock::Clock;
use mcpreel_wire::http::Head;
use mcpreel_wire::http::head::is_header_name;
use mcpreel_wire::text::{escape, masked_url};
use std::env::VarError;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The variable with headers to add, one per line: everybody on the machine may read a command line.
pub const HEADERS: &str = "MCPREEL_HEADERS";

/// A server that takes longer counts as one that does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is longer is no head of an answer, bytes.
const LONGEST_HEAD: usize = 65_536;

/// Why each of these servers cannot be reached; `None`: it can.
pub fn unreachable(urls: &[&str]) -> io::Result<Vec<Option<String>>> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let tls = Arc::new(Tls::new(None, false).map_err(io::Error::other)?);
    let mut problems = vec![None; urls.len()];
    let mut tries = JoinSet::new();
    runtime.block_on(async {
        for (at, url) in urls.iter().enumerate() {
            match Upstream::parse(url) {
                Ok(upstream) => {
                    let tls = Arc::clone(&tls);
                    tries.spawn(async move { (at, problem(&upstream, &tls).await) });
                }
                Err(why) => problems[at] = Some(why),
            }
        }
        while let Some(tried) = tries.join_next().await {
            let (at, problem) = tried.map_err(io::Error::other)?;
            problems[at] = problem;
        }
        Ok(problems)
    })
}

/// Requests, each a method and a body. A server may know only one of them, or want a login first; where
/// nothing is behind a path, both are answered with 404.
const ASKED: [(&str, &str); 2] = [
    ("GET", ""),
    ("POST", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
];

async fn problem(upstream: &Upstream, tls: &Tls) -> Option<String> {
    let server = upstream.authority();
    for asked in ASKED {
        let reached = timeout(PATIENCE, upstream.connect(Some(tls), Clock::start())).await;
        let mut link = match reached {
            Ok(Ok((link, ..))) => link,
            Ok(Err(error)) => return Some(error.message),
            Err(_) => {
                let waited = PATIENCE.as_secs();
                return Some(format!("{server} has not answered for {waited} s"));
            }
        };
        // An answer that is late may be a stream that has nothing to say.
        let answer = timeout(PATIENCE, answer_to(asked, upstream, &mut link)).await;
        match Head::parse(&answer.ok()?.ok()?)?.status()? {
            404 => {}
            status @ 502..=504 => return Some(format!("{server} answers {status}")),
            _ => return None,
        }
    }
    Some(format!(
        "{server} answers 404: is the path of the URL right?"
    ))
}

/// The first bytes of the answer to a request.
async fn answer_to(
    (method, body): (&str, &str),
    upstream: &Upstream,
    link: &mut Link,
) -> io::Result<Vec<u8>> {
    let (target, server, length) = (upstream.target(), upstream.authority(), body.len());
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    link.write_all(request.as_bytes()).await?;
    link.flush().await?;
    let mut answer = Vec::new();
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") && answer.len() < LONGEST_HEAD {
        if link.read_buf(&mut answer).await? == 0 {
            break;
        }
    }
    Ok(answer)
}

/// How a server behind a URL is reached.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "A server with a URL")]
pub struct Reach {
    /// Add a header to each request; ${NAME} is an environment variable
    #[arg(long = "header", hide_short_help = true, value_name = "NAME: VALUE", value_parser = Header)]
    headers: Vec<(String, String)>,
    /// Trust this authority as well: a certificate in PEM
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Trust any certificate
    #[arg(long, hide_short_help = true)]
    insecure: bool,
    /// Record credentials as well: tokens, cookies, codes
    #[arg(long, hide_short_help = true)]
    pub keep_credentials: bool,
}

impl Reach {
    pub fn tls(&self) -> Result<Tls, CaError> {
        Tls::new(self.ca.as_deref(), self.insecure)
    }

    /// The headers, with what the environment says for `${NAME}`.
    pub fn headers(&self) -> Result<Vec<(String, String)>, String> {
        let more = match std::env::var(HEADERS) {
            Ok(more) => more,
            Err(VarError::NotPresent) => String::new(),
            Err(VarError::NotUnicode(_)) => return Err(format!("{HEADERS} is no text")),
        };
        let of_variable = |why| format!("{HEADERS} (not repeated here): {why}");
        let more = more.lines().map(|line| {
            let (name, value) = header(line).map_err(of_variable)?;
            let value = filled(&value, |name| std::env::var(name)).map_err(of_variable)?;
            Ok((name, value))
        });
        let headers = self.headers.iter().map(|(name, value)| {
            let value = filled(value, |name| std::env::var(name));
            let value = value.map_err(|why| format!("--header: {why}"))?;
            Ok((name.clone(), value))
        });
        headers.chain(more).collect()
    }

    /// Whether a bridge with these options starts: one that does not makes no recording.
    pub fn is_usable(&self) -> bool {
        self.headers().is_ok() && self.ca.as_ref().is_none_or(|ca| ca.is_file())
    }

    /// What takes credentials out of the recording; `None`: the recording keeps them. `added`: the headers
    /// that are added to each request.
    pub fn credentials(&self, added: &[(String, String)]) -> io::Result<Option<Credentials>> {
        if self.keep_credentials {
            return Ok(None);
        }
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Some(Credentials::new(key, added)))
    }

    /// The first option that is given, for which a command on pipes has no use.
    pub fn used(&self) -> Option<&'static str> {
        let options = [
            ("--header", !self.headers.is_empty()),
            ("--ca", self.ca.is_some()),
            ("--insecure", self.insecure),
            ("--keep-credentials", self.keep_credentials),
        ];
        let mut used = options.into_iter().filter(|(_, is_used)| *is_used);
        used.next().map(|(option, _)| option)
    }

    /// What is not to be on record where command lines have it, with what stands before it: values of
    /// headers, unless they come from the environment, and the query of the URL.
    pub fn secrets(&self, url: &str) -> Vec<(String, String)> {
        if self.keep_credentials {
            return Vec::new();
        }
        let headers = self
            .headers
            .iter()
            .filter(|(_, value)| !value.contains("${"));
        let headers = headers.flat_map(|(name, value)| {
            [": ", ":"].map(|colon| (format!("{name}{colon}"), value.clone()))
        });
        let query = url.split_once('?');
        let query = query.map(|(before, query)| (format!("{before}?"), query.to_owned()));
        headers.chain(query).collect()
    }

    /// The command of a stdio server that carries all to `url`, with these options more.
    pub fn bridge(
        &self,
        url: &Upstream,
        options: impl IntoIterator<Item = (&'static str, OsString)>,
    ) -> std::io::Result<Vec<OsString>> {
        let mut words: Vec<OsString> = vec![std::env::current_exe()?.into()];
        words.extend(["proxy", "--stdio"].map(OsString::from));
        for (option, value) in options {
            words.extend([option.into(), value]);
        }
        for (name, value) in &self.headers {
            words.extend(["--header".into(), format!("{name}: {value}").into()]);
        }
        if let Some(ca) = &self.ca {
            words.extend(["--ca".into(), ca.into()]);
        }
        let flags = [
            ("--insecure", self.insecure),
            ("--keep-credentials", self.keep_credentials),
        ];
        let flags = flags.into_iter().filter(|(_, is_set)| *is_set);
        words.extend(flags.map(|(flag, _)| flag.into()));
        words.push(url.to_string().into());
        Ok(words)
    }
}

/// Reads the URL of a server. An error masks what may be secret in the URL: hosts keep the stderr of
/// servers.
#[derive(Clone)]
pub struct ServerUrl(pub fn(&str) -> Result<Upstream, String>);

impl TypedValueParser for ServerUrl {
    type Value = Upstream;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Upstream, clap::Error> {
        let url = value.to_str().ok_or("it is not UTF-8".to_owned());
        url.and_then(self.0).map_err(|why| {
            let arg = arg.map_or_else(|| "URL".to_owned(), ToString::to_string);
            // Where a user and a password stand in a wrong URL is anybody's guess.
            let shown = value.to_str().filter(|url| !url.contains('@'));
            let text = match shown {
                Some(url) => format!("invalid value '{}' for '{arg}'", escape(&masked_url(url))),
                None => format!(
                    "invalid URL for '{arg}' (not repeated here, because it may hold a password)"
                ),
            };
            refusal(command, &format!("{text}: {why}"))
        })
    }
}

/// Reads a header. An error does not repeat it, because it may hold a token.
#[derive(Clone)]
struct Header;

impl TypedValueParser for Header {
    type Value = (String, String);

    fn parse_ref(
        &self,
        command: &clap::Command,
        _: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let text = value.to_str().ok_or("it is not UTF-8".to_owned());
        text.and_then(header).map_err(|why| {
            let text = "invalid --header (not repeated here, because it may hold a token)";
            refusal(command, &format!("{text}: {why}"))
        })
    }
}

fn refusal(command: &clap::Command, text: &str) -> clap::Error {
    clap::Error::raw(ErrorKind::ValueValidation, format!("{text}\n")).with_cmd(command)
}

/// Reads the URL of a server that speaks HTTP.
pub fn http_url(text: &str) -> Result<Upstream, String> {
    if !text.starts_with("http://") && !text.starts_with("https://") {
        return Err("the URL begins with http:// or https://".to_owned());
    }
    Upstream::parse(text)
}

/// Headers that frame a message, or name the server: a second one would break the message, or lead to
/// somebody else.
const RESERVED_HEADERS: [&str; 10] = [
    "Connection",
    "Content-Length",
    "Expect",
    "Host",
    "Keep-Alive",
    "Proxy-Connection",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
];

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header is NAME: VALUE")?;
    if !is_header_name(name) {
        return Err("what stands before the colon is no name of a header".to_owned());
    }
    if RESERVED_HEADERS
        .iter()
        .any(|it| name.eq_ignore_ascii_case(it))
    {
        return Err(format!("mcpreel sets {name} itself; leave it out"));
    }
    Ok((name.to_owned(), one_line(value)?.to_owned()))
}

/// The value of a header, without the line end that a file has behind it.
fn one_line(value: &str) -> Result<&str, String> {
    let value = value.trim();
    if value.contains(['\r', '\n', '\0']) {
        return Err("the value of a header is one line".to_owned());
    }
    Ok(value)
}

/// A value with what the environment, `variable`, says for each `${NAME}`.
fn filled(
    value: &str,
    variable: impl Fn(&str) -> Result<String, VarError>,
) -> Result<String, String> {
    let (mut filled, mut rest) = (String::new(), value);
    while let Some((before, (name, after))) = rest
        .split_once("${")
        .and_then(|(before, after)| Some((before, after.split_once('}')?)))
    {
        let found = variable(name).map_err(|error| match error {
            VarError::NotPresent => {
                format!("the variable {name} is not in the environment that mcpreel was given")
            }
            VarError::NotUnicode(_) => format!("{name} in the environment is no text"),
        })?;
        filled += before;
        let found = one_line(&found).map_err(|why| format!("{name} in the environment: {why}"));
        filled += found?;
        rest = after;
    }
    Ok(filled + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_from_the_environment_where_they_say_so() {
        let variable = |name: &str| match name {
            "TOKEN" => Ok("hunter2\r\n".to_owned()),
            "TWO" => Ok("hunter2\r\nHost: a".to_owned()),
            _ => Err(VarError::NotPresent),
        };
        let filled = |value| filled(value, variable);
        assert_eq!(
            filled("a ${TOKEN} b ${TOKEN}").unwrap(),
            "a hunter2 b hunter2"
        );
        assert_eq!(filled("$TOKEN ${ x").unwrap(), "$TOKEN ${ x");
        for value in ["${TWO}", "${NO_SUCH_VARIABLE}"] {
            let error = filled(value).unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_header_that_frames_the_message_or_names_the_server_is_refused() {
        for text in [
            "content-length: 3",
            "Transfer-Encoding: chunked",
            "HOST: a",
            "connection: close",
        ] {
            assert!(header(text).is_err(), "{text}");
        }
        for text in [
            "Authorization: Bearer x",
            "X-Host: a",
            "Content-Language: en",
            "Authorization: Bearer of a file\r\n",
        ] {
            assert!(header(text).is_ok(), "{text}");
        }
    }
}
