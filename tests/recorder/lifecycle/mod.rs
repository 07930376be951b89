//! Wrapping a server changes nothing: every rule of a session's life, with real processes, the
//! test being the host.
//!
//! * [`eof`]: who closes what, and who is told;
//! * [`lifecycle_ending`]: exit codes, deaths by signal, servers that cannot be started;
//! * [`delivery`]: bytes that were read when something ended;
//! * [`lifecycle_signals`]: to us alone, to the group, from the terminal, ignored from the start;
//! * [`pressure`]: somebody does not read;
//! * [`descriptors`]: socket pairs, non-blocking ones, one file for two;
//! * [`own_log`]: what the program says of itself, and where;
//! * [`survivors`]: processes that outlive the server, and us;
//! * [`untouched`]: what the server is started with, and what nobody must notice.

mod delivery;
mod descriptors;
mod eof;
mod host;
mod lifecycle_ending;
mod lifecycle_signals;
mod own_log;
mod pressure;
mod survivors;
mod untouched;
