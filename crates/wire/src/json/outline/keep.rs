//! Which values an outline keeps, and how much of them.

/// The longest outline, closing brackets included. Three budgets share it, so that a flood of one
/// kind of value never costs another its place.
pub const OUTLINE_BYTES: usize = 256 << 10;

/// Containers within containers that are shown; deeper ones are shown empty.
pub(super) const SHOWN_DEPTH: usize = 8;

/// What is set aside for closing brackets, the last ellipses, the line's terminator, and the last
/// number of each kind, which is written whole.
const RESERVE: usize = 4 << 10;

/// How much a value matters for knowing what a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// Ids and whatever else is compared: kept whole.
    Exact,
    /// What tells messages of one method apart.
    Vital,
    Payload,
}

impl Care {
    /// Bytes of one string that are kept.
    fn string_bytes(self) -> usize {
        match self {
            Self::Exact => 64 << 10,
            Self::Vital => 4 << 10,
            Self::Payload => 256,
        }
    }

    /// Members of one object, or elements of one array, that are kept.
    fn items(self) -> usize {
        match self {
            Self::Exact | Self::Vital => usize::MAX,
            Self::Payload => 32,
        }
    }
}

/// Where in a message a container stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Nowhere yet: a message or a batch comes.
    Line,
    Batch,
    Message,
    Body,
    Inner,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) care: Care,
    /// Where it stands, should it be a container.
    pub(super) scope: Scope,
}

/// Members of `params`, `result`, `error` and their `_meta` that are compared.
const EXACT: &[&[u8]] = &[
    b"progressToken",
    b"requestId",
    b"requestState",
    b"taskId",
    b"uri",
    b"io.modelcontextprotocol/subscriptionId",
];

/// Members of `params`, `result` and `error` that tell messages of one method apart.
#[rustfmt::skip]
const VITAL: &[&[u8]] = &[
    b"_meta", b"name", b"code", b"message", b"isError", b"resultType", b"progress", b"total",
    b"level", b"logger", b"reason", b"task", b"status", b"statusMessage", b"ref", b"argument",
    b"protocolVersion", b"supportedVersions", b"clientInfo", b"serverInfo", b"capabilities",
    b"inputRequests", b"inputResponses", b"nextCursor", b"action", b"description",
];

impl Scope {
    /// What becomes of the member `key` of an object that stands here and matters that much.
    pub(super) fn member(self, care: Care, key: &[u8]) -> Plan {
        match self {
            Self::Message => message_member(key),
            Self::Body if EXACT.contains(&key) => Plan::inner(Care::Exact),
            Self::Body if VITAL.contains(&key) => Plan::inner(Care::Vital),
            Self::Inner if care == Care::Vital && EXACT.contains(&key) => Plan::inner(Care::Exact),
            _ => Plan::inner(care),
        }
    }

    /// What becomes of an element of an array that stands here and matters that much.
    pub(super) fn element(self, care: Care) -> Plan {
        match self {
            Self::Batch => Plan {
                care: Care::Exact,
                scope: Scope::Message,
            },
            _ => Plan::inner(care),
        }
    }
}

fn message_member(key: &[u8]) -> Plan {
    match key {
        b"jsonrpc" | b"id" | b"method" => Plan::inner(Care::Exact),
        b"params" | b"result" | b"error" => Plan {
            care: Care::Exact,
            scope: Scope::Body,
        },
        _ => Plan::inner(Care::Payload),
    }
}

impl Plan {
    fn inner(care: Care) -> Self {
        let scope = Scope::Inner;
        Self { care, scope }
    }

    /// How much the content of the container that this is matters. Of `params` and the like only
    /// chosen members do.
    pub(super) fn inside(self) -> Care {
        match (self.scope, self.care) {
            (Scope::Inner, Care::Exact) => Care::Vital,
            (Scope::Inner, care) => care,
            _ => Care::Payload,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Budget {
    exact: usize,
    vital: usize,
    payload: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            exact: OUTLINE_BYTES / 2 - RESERVE,
            vital: OUTLINE_BYTES / 4,
            payload: OUTLINE_BYTES / 4,
        }
    }

    fn of(&mut self, care: Care) -> &mut usize {
        match care {
            Care::Exact => &mut self.exact,
            Care::Vital => &mut self.vital,
            Care::Payload => &mut self.payload,
        }
    }

    /// Takes `bytes` for a value that matters that much; `false` if they are not there.
    pub(super) fn take(&mut self, care: Care, bytes: usize) -> bool {
        let left = self.of(care);
        match left.checked_sub(bytes) {
            Some(rest) => {
                *left = rest;
                true
            }
            None => false,
        }
    }

    /// Takes `bytes` that were written for such a value, as far as they are there.
    pub(super) fn spend(&mut self, care: Care, bytes: usize) {
        let left = self.of(care);
        *left = left.saturating_sub(bytes);
    }

    /// How many bytes of a string that matters that much may be kept.
    pub(super) fn string(&mut self, care: Care) -> usize {
        care.string_bytes().min(*self.of(care))
    }
}

/// How many items of a container that stands in `scope` and matters that much are kept.
pub(super) fn items(scope: Scope, care: Care) -> usize {
    match scope {
        Scope::Line | Scope::Batch | Scope::Message | Scope::Body => usize::MAX,
        Scope::Inner => care.items(),
    }
}
