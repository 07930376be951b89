//! TLS to the server: whom to believe, and what to say when that does not work.

use super::upstream::Unreachable;
use mcpreel_trace::event::Step;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error, KeyLogFile,
    RootCertStore, SignatureScheme,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsConnector, rustls};

/// The protocol that can be recorded, as ALPN has it.
const HTTP_1_1: &[u8] = b"http/1.1";

/// Why the certificates in a file cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum CaError {
    #[error("{path}: {source}")]
    Read {
        path: PathBuf,
        source: rustls::pki_types::pem::Error,
    },
    #[error("{0} has no certificate in it; it has to be in PEM, with -----BEGIN CERTIFICATE-----")]
    Empty(PathBuf),
    #[error("{path}: {source}")]
    Certificate { path: PathBuf, source: Error },
    #[error("TLS cannot be used: {0}")]
    Unusable(#[source] Error),
}

/// Makes TLS connections.
pub struct Tls {
    connector: TlsConnector,
    /// Whether this machine has certificates of authorities, or the user has given some.
    has_roots: bool,
}

impl Tls {
    /// Believes servers that an authority of this machine, or one in the file `ca`, has signed;
    /// `insecure`: all. Where `SSLKEYLOGFILE` names a file, the keys go there.
    pub fn new(ca: Option<&Path>, insecure: bool) -> Result<Self, CaError> {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(CaError::Unusable)?;
        let (roots, given) = if insecure {
            (RootCertStore::empty(), Vec::new())
        } else {
            roots(ca)?
        };
        let has_roots = insecure || !roots.is_empty();
        let config = if insecure || !given.is_empty() {
            let authorities = (!insecure).then(|| authorities(roots, &provider));
            let verifier = Verifier {
                authorities: authorities.transpose()?,
                given,
                provider,
            };
            let verifier = Arc::new(verifier);
            config
                .dangerous()
                .with_custom_certificate_verifier(verifier)
        } else {
            config.with_root_certificates(roots)
        };
        let mut config = config.with_no_client_auth();
        config.alpn_protocols = vec![HTTP_1_1.to_vec()];
        config.key_log = Arc::new(KeyLogFile::new());
        Ok(Self {
            connector: TlsConnector::from(Arc::new(config)),
            has_roots,
        })
    }

    /// TLS with `host` over a connection to it.
    pub async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, Unreachable> {
        let failed = |(step, message)| Unreachable {
            step,
            message: format!("{host}: {message}"),
            is_reset: false,
        };
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            let message = "no certificate can have this name".to_owned();
            failed((Step::CertificateName, message))
        })?;
        let connected = self.connector.connect(name, stream).await;
        connected.map_err(|error| failed(self.explain(&error)))
    }

    /// The step that failed, and what to look at.
    fn explain(&self, error: &io::Error) -> (Step, String) {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
        let (step, hint) = match inner {
            Some(Error::InvalidCertificate(reason)) => self.distrust(reason),
            Some(Error::AlertReceived(AlertDescription::NoApplicationProtocol)) => {
                let message = "the server speaks only HTTP/2, which cannot be recorded; does it have \
                               HTTP/1.1 to switch on?";
                return (Step::Tls, message.to_owned());
            }
            Some(Error::InvalidMessage(_)) => (
                Step::Tls,
                "it answers, but not with TLS: is it http:// there, or another port?",
            ),
            Some(Error::AlertReceived(_)) => (Step::Tls, "the server refuses the connection"),
            _ if error.kind() == io::ErrorKind::UnexpectedEof => {
                let message = "the server closed the connection in the TLS handshake; is it meant for \
                               TLS, under this name?";
                return (Step::Tls, message.to_owned());
            }
            _ => (Step::Tls, "the TLS handshake failed"),
        };
        (step, format!("{hint} ({error})"))
    }

    fn distrust(&self, reason: &CertificateError) -> (Step, &'static str) {
        match reason {
            CertificateError::UnknownIssuer if !self.has_roots => (
                Step::CertificateTrust,
                "this machine has no certificates of authorities; --ca FILE names one",
            ),
            // Another authority of the same name: one that was made anew, for example.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => (
                Step::CertificateTrust,
                "no authority that this machine trusts has signed its certificate; --ca FILE adds an \
                 authority, --insecure believes anybody",
            ),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => (
                Step::CertificateTime,
                "its certificate has expired; or is the clock wrong?",
            ),
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => (
                Step::CertificateTime,
                "its certificate is not valid yet; is the clock right?",
            ),
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                (
                    Step::CertificateName,
                    "its certificate is for another name; is the URL right?",
                )
            }
            _ => (
                Step::CertificateTrust,
                "its certificate is not accepted; --ca FILE believes the certificates in that file, which may \
                 be its own, --insecure believes anybody",
            ),
        }
    }
}

/// The certificates that are believed: those of this machine and of the file, and the latter alone.
fn roots(ca: Option<&Path>) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), CaError> {
    let (mut roots, mut given) = (RootCertStore::empty(), Vec::new());
    // Single ones that cannot be read do not matter; without any, that is said when one is missed.
    let native = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(native.certs);
    if let Some(path) = ca {
        let path = path.to_owned();
        let read = |source| CaError::Read {
            path: path.clone(),
            source,
        };
        for certificate in CertificateDer::pem_file_iter(&path).map_err(read)? {
            let certificate = certificate.map_err(read)?;
            let added = roots.add(certificate.clone());
            added.map_err(|source| CaError::Certificate {
                path: path.clone(),
                source,
            })?;
            given.push(certificate);
        }
        if given.is_empty() {
            return Err(CaError::Empty(path));
        }
    }
    Ok((roots, given))
}

fn authorities(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, CaError> {
    let builder =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    let unusable =
        |error: VerifierBuilderError| CaError::Unusable(Error::General(error.to_string()));
    builder.build().map_err(unusable)
}

/// Whom to believe where that is not only what authorities have signed. The server has to have its key in
/// any case.
#[derive(Debug)]
struct Verifier {
    /// `None`: everybody is believed.
    authorities: Option<Arc<WebPkiServerVerifier>>,
    /// The certificates that the user has given. A server may show one of them as its own.
    given: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified = authorities.verify_server_cert(shown, between, name, ocsp, now);
        match verified {
            // What signs itself is mostly marked as an authority, which a server's own must not be. Whether
            // it is valid now was looked at before that.
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if self.given.contains(shown) =>
            {
                verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
