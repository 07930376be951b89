//! A server behind TLS, with an authority of the test.

use crate::support::Library;
use crate::support::proxy::{Proxy, recording, why_unreachable};
use mcpreel_wire::message::Direction;
use rcgen::{BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// The head of an answer; behind it comes back what was asked.
const ANSWER: &str = "HTTP/1.1 200 OK\r\n\r\n";

/// A server with a certificate for `localhost` that an authority has signed, of which the file is
/// `ca`.
struct Server {
    config: ServerConfig,
    dir: tempfile::TempDir,
}

impl Server {
    fn new(protocols: &[&str]) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        Self::with(&certificate, &key, &authority.pem(), protocols)
    }

    /// A server whose certificate is for `name`, signs itself, and is marked as an authority.
    fn signed_by_itself(name: &str, until_year: i32) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_after = rcgen::date_time_ymd(until_year, 1, 1);
        let certificate = params.self_signed(&key).unwrap();
        Self::with(&certificate, &key, &certificate.pem(), &[])
    }

    fn with(certificate: &Certificate, key: &KeyPair, ca: &str, protocols: &[&str]) -> Self {
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions().unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let certificates = vec![certificate.der().clone()];
        let mut config = config
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("ca.pem"), ca).unwrap();
        Self { config, dir }
    }

    fn ca(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }

    /// What comes back for `request` through a proxy with these arguments, and what the server got
    /// of it, if it got any.
    fn asked(&self, library: &Library, request: &str, more: &[&str]) -> (String, Option<String>) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let acceptor = TlsAcceptor::from(Arc::new(self.config.clone()));
        let server = runtime.spawn(async move {
            let (client, _) = listener.accept().await.unwrap();
            let mut client = acceptor.accept(client).await.ok()?;
            let mut read = Vec::new();
            client.read_to_end(&mut read).await.unwrap();
            client.write_all(ANSWER.as_bytes()).await.unwrap();
            client.write_all(&read).await.unwrap();
            client.flush().await.unwrap();
            // The connection is closed without a word of TLS about it, as many servers do.
            Some(String::from_utf8(read).unwrap())
        });
        let scheme = if request.contains("Upgrade: websocket") {
            "wss"
        } else {
            "https"
        };
        let mut command = Proxy::command(library, &format!("{scheme}://localhost:{port}/"), more);
        command.env("SSLKEYLOGFILE", self.dir.path().join("keys"));
        let proxy = Proxy::run(command);
        let answered = proxy.ask(request.replace("HOST", &proxy.authority()));
        let got = runtime.block_on(server).unwrap();
        proxy.end();
        (answered, got)
    }
}

const REQUEST: &str = "GET /mcp HTTP/1.1\r\nHost: HOST\r\n\r\n";

/// Three megabytes there and back: more than buffers hold, and the server answers when the client has
/// ended its way.
#[test]
fn bytes_pass_as_they_do_without_tls() {
    let server = Server::new(&["h2", "http/1.1"]);
    let ca = server.ca();
    let numbers = (0..400_000).map(|number| format!("{number:08}"));
    let body = numbers.collect::<Vec<_>>().concat();
    let head = format!("Content-Length: {}\r\n\r\n", body.len());
    let request = REQUEST.replace("GET", "POST").replace("\r\n\r\n", "\r\n") + &head + &body;
    for more in [&["--ca", ca.to_str().unwrap()][..], &["--insecure"]] {
        let library = Library::new();
        let (answered, got) = server.asked(&library, &request, more);
        let got = got.unwrap();
        assert!(got.starts_with("POST /mcp HTTP/1.1\r\nHost: localhost:"));
        assert!(got.ends_with(&(head.clone() + &body)));
        assert!(answered == ANSWER.to_owned() + &got, "{more:?}");
        let recorded = recording(&library)
            .wire(1, Direction::ServerToClient)
            .unwrap();
        assert!(recorded == answered.as_bytes());
        let connected = &library.events("connected")[0].to_string();
        assert!(connected.contains("tls_ns"), "{connected}");
        let keys = fs::read_to_string(server.dir.path().join("keys")).unwrap();
        assert!(keys.contains("CLIENT_HANDSHAKE_TRAFFIC_SECRET"));
    }
}

/// The server's answer is no switch of protocols, and passes as it is.
#[test]
fn a_websocket_url_is_reached_by_tls_as_well() {
    let server = Server::new(&["http/1.1"]);
    let ca = server.ca();
    let request = REQUEST.replace(
        "\r\n\r\n",
        "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    let library = Library::new();
    let (answered, got) = server.asked(&library, &request, &["--ca", ca.to_str().unwrap()]);
    let got = got.expect("the server was asked");
    assert!(got.ends_with("Upgrade: websocket\r\n\r\n"), "{got}");
    assert_eq!(answered, ANSWER.to_owned() + &got);
}

/// What `openssl req -x509` makes is marked as an authority, and was refused as a server's own.
#[test]
fn a_certificate_that_signs_itself_is_believed_where_it_is_given_and_holds() {
    let server = Server::signed_by_itself;
    let other = server("localhost", 4096);
    let trust = (
        "certificate-trust",
        "the authority that signed the server's",
    );
    let name = ("certificate-name", "Put a name that the certificate is for");
    let time = ("certificate-time", "Renew the certificate");
    for (server, given, step) in [
        (server("localhost", 4096), None, None),
        (server("localhost", 4096), Some(&other), Some(trust)),
        (server("elsewhere.test", 4096), None, Some(name)),
        (server("localhost", 2001), None, Some(time)),
    ] {
        let library = Library::new();
        let ca = given.unwrap_or(&server).ca();
        let (answered, got) = server.asked(&library, REQUEST, &["--ca", ca.to_str().unwrap()]);
        assert_eq!(got.is_some(), step.is_none(), "{answered}");
        if let Some((step, advice)) = step {
            let why = why_unreachable(&library);
            assert!(why.contains(advice), "{why}");
            let event = library.events("unreachable")[0].to_string();
            assert!(event.contains(&format!("\"{step}\"")), "{event}");
        }
    }
}

#[test]
fn what_fails_says_what_to_do() {
    let other = Server::new(&[]);
    let other_ca = other.ca();
    let other_ca = ["--ca", other_ca.to_str().unwrap()];
    for (protocols, more, words, step) in [
        (&["http/1.1"][..], &[][..], "--ca FILE", "certificate-trust"),
        (&["http/1.1"], &other_ca, "--ca FILE", "certificate-trust"),
        (&["h2"], &["--insecure"], "speaks only HTTP/2", "tls"),
    ] {
        let library = Library::new();
        let (answered, got) = Server::new(protocols).asked(&library, REQUEST, more);
        assert!(answered.starts_with("HTTP/1.1 502 "), "{answered}");
        assert!(answered.contains(words), "{answered}");
        let why = why_unreachable(&library);
        assert!(why.contains(words), "{why}");
        assert_eq!(got, None);
        let event = library.events("unreachable")[0].to_string();
        assert!(event.contains(&format!("\"{step}\"")), "{event}");
    }
}

#[test]
fn an_authority_that_cannot_be_read_is_said_before_anything_starts() {
    let library = Library::new();
    let empty = library.path().join("empty.pem");
    fs::write(&empty, "").unwrap();
    for file in ["/nowhere.pem", empty.to_str().unwrap()] {
        let mut command = Proxy::command(&library, "https://localhost:1/", &["--ca", file]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(file));
    }
}
