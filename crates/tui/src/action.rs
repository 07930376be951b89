//! Everything that can be done, by name.
//!
//! One table: a row has the action, its name in the palette and after `:`, the default keys with
//! the context in which they mean it, and one line of help. [`super::keymap`] is made of it, and
//! so are the help, the palette and the documentation.

use strum::{EnumString, IntoStaticStr, VariantNames};

/// A place in which a key means something. The innermost context that binds the key wins;
/// [`App::contexts`](super::app::App::contexts) says which contexts hold.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    IntoStaticStr,
    EnumString,
    VariantNames,
)]
#[strum(serialize_all = "lowercase")]
pub enum Context {
    Everywhere,
    #[strum(serialize = "recordings")]
    Library,
    #[strum(serialize = "recording")]
    Session,
    /// The list of exchanges or frames.
    List,
    Detail,
    Timeline,
    Stats,
    Findings,
    Server,
    Playback,
    /// The comparison of two exchanges or recordings.
    Diff,
    /// A text that lies over everything: help, messages, a string in full.
    Text,
    Menu,
    Prompt,
}

macro_rules! actions {
    ($($(#[doc = $doc:literal])* $action:ident, $name:literal, [$($context:ident $keys:literal),* $(,)?], $help:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action {
            $(#[doc = $help] $action,)*
        }

        pub const TABLE: &[Row] = &[
            $(Row {
                action: Action::$action,
                name: $name,
                keys: &[$((Context::$context, $keys)),*],
                help: $help,
            },)*
        ];
    };
}

#[derive(Debug)]
pub struct Row {
    pub action: Action,
    /// The name in the palette, after `:` and in the configuration.
    pub name: &'static str,
    /// The default keys, separated by spaces, with the context in which they mean it.
    pub keys: &'static [(Context, &'static str)],
    pub help: &'static str,
}

actions! {
    // Everywhere.
    Help, "help", [Everywhere "? F1"], "keys, the filter language and the signs, for where you are";
    Palette, "palette", [Everywhere ":"], "find any command by parts of its name, a frame by its number";
    NextPane, "next-pane", [Session "Tab", Text "Tab"], "to the next pane, in the detail to its story and findings";
    PreviousPane, "previous-pane", [Session "BackTab", Text "BackTab"], "to the previous pane";
    Open, "open", [Everywhere "Enter"], "open what is selected";
    Close, "close", [Everywhere "Esc"], "close the topmost panel, clear the search, back to the list; never quits";
    Back, "back", [Everywhere "q"], "back to the recordings; there it quits";
    Quit, "quit", [], "quit";
    Cancel, "cancel", [Everywhere "Ctrl-C"], "stop what is running; twice quits";
    Suspend, "suspend", [Everywhere "Ctrl-Z"], "suspend to the shell; fg comes back";
    Repaint, "repaint", [Everywhere "Ctrl-L"], "redraw the screen";
    Messages, "messages", [], "the messages shown so far";
    Mouse, "mouse", [], "mouse on, off: off, the terminal selects text";
    Theme, "theme", [], "choose the colours";
    Print, "print", [], "what was copied last, or the message, as plain text on the normal screen";

    // Moving.
    Down, "down", [Everywhere "j Down"], "one down";
    Up, "up", [Everywhere "k Up"], "one up";
    HalfPageDown, "half-page-down", [Everywhere "Ctrl-D"], "half a page down";
    HalfPageUp, "half-page-up", [Everywhere "Ctrl-U"], "half a page up";
    PageDown, "page-down", [Everywhere "PgDn"], "a page down";
    PageUp, "page-up", [Everywhere "PgUp"], "a page up";
    Top, "top", [Everywhere "g Home"], "to the top";
    Bottom, "bottom", [Everywhere "G End"], "to the end; in a live list: follow";

    // Recordings.
    Wrap, "wrap", [Library "w"], "have a server of a host on this machine recorded";
    Delete, "delete", [Library "D Delete"], "delete the recording, or those that are selected, after asking";
    Select, "select", [List "Space", Library "Space"], "select: two to compare, recordings also to delete";
    Unselect, "unselect", [], "clear the selection";

    // Views.
    Exchanges, "exchanges", [Session "1"], "the calls: one row per request with its response";
    Timeline, "timeline", [Session "2"], "the same rows as bars in time";
    Stats, "stats", [Session "3"], "counts and latencies per method and tool";
    Findings, "findings", [Session "4"], "what the rules found: errors, warnings, notes";
    Server, "server", [Session "5"], "what the server offers: tools, resources and prompts with their schemas";
    Why, "why", [Session "W", Library "W"], "why it went wrong: the cause, what shows it, what to do";
    Wire, "wire", [Session "w"], "calls, or the wire with one row per frame";
    Zoom, "zoom", [Session "z"], "full screen for this pane, and back";
    ListSmaller, "list-smaller", [Session "<"], "less of the screen for the list, more for the detail";
    ListLarger, "list-larger", [Session ">"], "more of the screen for the list, less for the detail";

    // Filter and search.
    Filter, "filter", [Session "/ f", Library "/ f", Text "/"], "show only the rows that fit, or the recordings with this text; find a line of a text";
    FilterToggle, "filter-toggle", [Session "F"], "filter off and on again";
    FilterLike, "filter-like", [List "=", Server "="], "filter rows like this one: same method, name, status, …";
    Relax, "relax", [List "Backspace"], "take out the condition that hides everything, or the last one";
    Search, "search", [Session "\\ Ctrl-F"], "search in summaries, bodies and stderr";
    SearchNext, "search-next", [Session "n"], "next hit";
    SearchPrevious, "search-previous", [Session "N"], "previous hit";
    NextFailure, "next-failure", [Session "e"], "next failed exchange";
    PreviousFailure, "previous-failure", [Session "E"], "previous failed exchange";
    Failures, "failures", [Session "!"], "only what has failed, and all again";
    Pause, "pause", [Session "p"], "stop showing new rows, and go on; recording continues";

    // Marks and notes.
    Mark, "mark", [Session "m"], "mark the row, or take the mark off";
    Note, "note", [Session "c", Library "c"], "write a note on the row or recording; noted recordings are never pruned";

    // Detail.
    Collapse, "collapse", [Detail "h Left", Findings "h Left"], "fold, or go to the parent";
    Expand, "expand", [Detail "l Right", Findings "l Right"], "unfold, or go to the first child";
    Explain, "explain", [Detail "i", Findings "i"], "what the rule of the finding means, in full";
    Toggle, "toggle", [Detail "Space", Findings "Space"], "fold or unfold";
    NextViolation, "next-violation", [Detail "v"], "next place in the messages where something is wrong";
    PreviousViolation, "previous-violation", [Detail "V"], "previous place where something is wrong";
    Representation, "representation", [Detail "r"], "tree or raw bytes";
    LoadMore, "load-more", [Detail "L"], "load the next part of a long message";

    // Doing.
    Copy, "copy", [Session "y"], "copy value, path, message, exchange, link or a bug report";
    Diff, "diff", [Session "d", Library "d"], "compare the two selected, or this with what it comes from: the call before, its recording";
    CompareParent, "compare-parent", [Session "P", Library "P"], "compare a replay or mock with the recording it was made from";
    Replay, "replay", [Session "a", Library "a"], "replay the call or the whole session, after asking";
    Export, "export", [Session "x", Library "x"], "export as a file: format, what of it, without its secrets or raw";
    TimeColumn, "time-column", [List "t"], "times as clock, since the start, or since the row before";

    // Playback.
    TimeCursor, "time-cursor", [Session "T"], "time cursor on, off: the rows up to then";
    StepForward, "step-forward", [Playback "."], "one row later";
    StepBack, "step-back", [Playback ","], "one row earlier";
    StatePane, "state", [Session "S"], "what was true then: versions, capabilities, tools, open calls";

    // Timeline.
    ZoomIn, "zoom-in", [Timeline "+"], "zoom in: a shorter time over the whole width";
    ZoomOut, "zoom-out", [Timeline "-"], "zoom out: a longer time over the whole width";
    PanLeft, "pan-left", [Timeline "h Left"], "earlier";
    PanRight, "pan-right", [Timeline "l Right"], "later";
    FilterRange, "filter-range", [Timeline "="], "filter to the time on the screen";

    // Statistics.
    Sort, "sort", [Library "s", List "s", Stats "s"], "sort: the recordings or calls as you choose, the table by its next column";

    // Comparison.
    NextChange, "next-change", [Diff "e n"], "next difference";
    PreviousChange, "previous-change", [Diff "E N"], "previous difference";
    Unfold, "unfold", [Diff "Space"], "show or fold what is equal";
    OpenLeft, "open-left", [Diff "h Left"], "go to the left one in its recording";
    OpenRight, "open-right", [Diff "l Right"], "go to the right one in its recording";
}

impl Action {
    /// The row of the action in the table.
    ///
    /// # Panics
    ///
    /// Never: the enumeration is made of the table.
    pub fn row(self) -> &'static Row {
        let row = TABLE.iter().find(|row| row.action == self);
        row.expect("the enumeration is made of the table")
    }

    pub fn parse(name: &str) -> Option<Self> {
        let mut rows = TABLE.iter();
        rows.find(|row| row.name == name).map(|row| row.action)
    }
}
