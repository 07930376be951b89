//! Where rows come from.

use mcpreel_trace::item::Lens;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// Requests with all that belongs to them.
    Exchange,
    /// Messages that are rows of their own beside the exchanges.
    Alone,
    Message,
    /// Messages but the requests and responses of exchanges.
    Own,
    Line,
    Event,
    /// One method of exchanges, and no row: see [`probe`](super::probe).
    Method,
    /// One method and name of exchanges, likewise.
    Name,
    /// One status of exchanges, likewise.
    Status,
}

/// The messages that are rows of their own beside the exchanges: what the index `message_alone`
/// holds, and written as it is there. Log messages stay rows of their own even where the call is
/// known in which they came: people look for them in the list.
macro_rules! is_alone {
    () => {
        "(m.exchange IS NULL OR (m.kind = 'notification'
        AND m.method <> 'notifications/progress' AND m.method <> 'notifications/cancelled'))"
    };
}

/// `kind, fold` columns of a message.
macro_rules! message_head {
    () => {
        "SELECT m.frame, m.part, m.kind,
        CASE m.kind WHEN 'notification' THEN m.direction || ' ' || m.method END, "
    };
}

impl Source {
    /// The sources of the rows of a lens. Of [`Self::Message`] and [`Self::Own`] one is asked.
    pub fn of(lens: Lens) -> &'static [Self] {
        match lens {
            Lens::Exchanges => &[Self::Exchange, Self::Alone, Self::Line, Self::Event],
            Lens::Wire => &[Self::Message, Self::Own, Self::Line, Self::Event],
        }
    }

    /// Whether its rows are to be looked at, if exchanges may fit or may not.
    pub fn is_asked(self, exchanges_may_fit: bool) -> bool {
        match self {
            Self::Exchange | Self::Message => exchanges_may_fit,
            Self::Own => !exchanges_may_fit,
            _ => true,
        }
    }

    /// What its statement begins with: the columns of a [`Candidate`](super::plan::Candidate) but
    /// the last.
    pub fn head(self) -> &'static str {
        match self {
            Self::Exchange => "SELECT e.request, e.request_part, 'request', NULL, ",
            Self::Alone | Self::Message | Self::Own => message_head!(),
            Self::Line => {
                "SELECT l.frame, 0, CASE l.stream WHEN 2 THEN 'stderr' ELSE 'other' END, NULL, "
            }
            Self::Event => "SELECT v.after_seq, v.id, 'event', NULL, ",
            Self::Method | Self::Name | Self::Status => "SELECT 0, 0, 'other', NULL, ",
        }
    }

    /// What follows the columns: its rows in the frames `?1` to `?2`.
    pub fn range(self, dense: bool) -> &'static str {
        match self {
            // Exchanges are numbered in the order of their requests.
            Self::Exchange => {
                " FROM exchange e WHERE e.id BETWEEN
                (SELECT id FROM exchange WHERE request >= ?1
                 ORDER BY request, request_part LIMIT 1) AND
                (SELECT id FROM exchange WHERE request <= ?2
                 ORDER BY request DESC, request_part DESC LIMIT 1)"
            }
            // Of many messages alone, one after the other is faster than each by the index.
            Self::Alone if dense => concat!(
                " FROM message m NOT INDEXED WHERE m.frame BETWEEN ?1 AND ?2 AND ",
                is_alone!()
            ),
            Self::Alone => concat!(
                " FROM message m INDEXED BY message_alone
                WHERE m.frame BETWEEN ?1 AND ?2 AND ",
                is_alone!()
            ),
            Self::Message => {
                " FROM message m LEFT JOIN exchange e ON e.id = m.exchange
                WHERE m.frame BETWEEN ?1 AND ?2"
            }
            Self::Own => {
                " FROM message m WHERE m.frame BETWEEN ?1 AND ?2
                AND (m.exchange IS NULL OR m.kind = 'notification')"
            }
            Self::Line => " FROM line l WHERE l.frame BETWEEN ?1 AND ?2",
            Self::Event => " FROM event v WHERE v.after_seq BETWEEN ?1 AND ?2",
            Self::Method => " FROM (SELECT ?1 AS method, ?2 AS second) e WHERE 1",
            Self::Name => " FROM (SELECT ?1 AS method, ?2 AS name) e WHERE 1",
            Self::Status => " FROM (SELECT ?1 AS status, ?2 AS second) e WHERE 1",
        }
    }
}
