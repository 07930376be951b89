//! `export --format html` in a real browser, as whoever gets such a page opens it: Chromium without
//! a window, driven over a pipe. Needs `chromium` (Debian's package of that name).
//!
//! * [`shown`]: list, filter, tree, keys, links, narrow screens;
//! * [`page_hostile`]: whatever a peer sends stays text, and the page keeps to itself;
//! * [`large`]: fifty thousand exchanges;
//! * [`browser`]: the browser; [`made`]: recordings, and pages of them.

mod browser;
mod large;
mod made;
mod page_hostile;
mod shown;
