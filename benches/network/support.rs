//! What the bench has in common with the one of the recorder.

#[path = "../recorder/machine.rs"]
pub mod machine;
#[path = "../recorder/recorder_lines.rs"]
pub mod recorder_lines;
#[path = "../recorder/recorder_table.rs"]
pub mod recorder_table;
#[path = "../recorder/stats.rs"]
pub mod stats;
