//! The head of a request or response: its first line and its fields (RFC 9112 sections 2 to 5).

use memchr::memchr_iter;

/// Fields of a head that are read. Servers refuse heads with more.
const MAX_FIELDS: usize = 256;

/// A head, read whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    start: Start,
    fields: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Start {
    Request {
        method: String,
        target: String,
        is_1_0: bool,
    },
    Response {
        status: u16,
        is_1_0: bool,
    },
}

impl Head {
    /// Reads the head that `bytes` are, with the empty line at its end. `None`: it is none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"HTTP/") {
            Self::response(bytes)
        } else {
            Self::request(bytes)
        }
    }

    fn request(bytes: &[u8]) -> Option<Self> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        request.parse(bytes).ok()?.is_complete().then_some(())?;
        Some(Self {
            start: Start::Request {
                method: request.method?.to_owned(),
                target: request.path?.to_owned(),
                is_1_0: request.version? == 0,
            },
            fields: owned(request.headers),
        })
    }

    fn response(bytes: &[u8]) -> Option<Self> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        response.parse(bytes).ok()?.is_complete().then_some(())?;
        Some(Self {
            start: Start::Response {
                status: response.code?,
                is_1_0: response.version? == 0,
            },
            fields: owned(response.headers),
        })
    }

    /// The length of the head that `bytes` begin with, with the empty line at its end; `None`: its
    /// end has not come. Bytes before `from` are known to have none.
    pub fn length(bytes: &[u8], from: usize) -> Option<usize> {
        // The empty line may begin up to three bytes before.
        let from = from.saturating_sub(3);
        let rest = bytes.get(from..)?;
        memchr_iter(b'\n', rest).find_map(|at| match &rest[at + 1..] {
            [b'\n', ..] => Some(from + at + 2),
            [b'\r', b'\n', ..] => Some(from + at + 3),
            _ => None,
        })
    }

    /// The method of a request.
    pub fn method(&self) -> Option<&str> {
        match &self.start {
            Start::Request { method, .. } => Some(method),
            Start::Response { .. } => None,
        }
    }

    /// The target of a request: path and query, or a whole URL.
    pub fn target(&self) -> Option<&str> {
        match &self.start {
            Start::Request { target, .. } => Some(target),
            Start::Response { .. } => None,
        }
    }

    /// The status of a response.
    pub fn status(&self) -> Option<u16> {
        match &self.start {
            Start::Request { .. } => None,
            Start::Response { status, .. } => Some(*status),
        }
    }

    /// Whether it is one of HTTP/1.0, which knows no chunks.
    pub fn is_1_0(&self) -> bool {
        match self.start {
            Start::Request { is_1_0, .. } | Start::Response { is_1_0, .. } => is_1_0,
        }
    }

    /// Names and values in their order, as they were written.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (&**name, &**value))
    }

    /// The values of the fields of this name, whatever its case.
    pub fn all<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h str> {
        let named = self
            .fields()
            .filter(|(it, _)| it.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value)
    }

    /// The value of the first field of this name, whatever its case.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut named = self
            .fields()
            .filter(|(it, _)| it.eq_ignore_ascii_case(name));
        named.next().map(|(_, value)| value)
    }

    /// The members of a list that all fields of this name make together, in lower case.
    pub fn list(&self, name: &str) -> Vec<String> {
        let members = self
            .fields()
            .filter(|(it, _)| it.eq_ignore_ascii_case(name));
        let members = members.flat_map(|(_, value)| value.split(','));
        let members = members.map(|member| member.trim().to_ascii_lowercase());
        members.filter(|member| !member.is_empty()).collect()
    }

    /// The media type of the body in lower case, without parameters.
    pub fn content_type(&self) -> Option<String> {
        let value = self.get("content-type")?;
        let kind = value.split(';').next().unwrap_or(value);
        Some(kind.trim().to_ascii_lowercase())
    }
}

fn owned(fields: &[httparse::Header<'_>]) -> Vec<(String, String)> {
    let owned = fields.iter().map(|field| {
        let value = String::from_utf8_lossy(field.value).into_owned();
        (field.name.to_owned(), value)
    });
    owned.collect()
}
