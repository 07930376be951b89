//! What the tests and the other bench have already.

#[path = "../../tests/support/conversation.rs"]
pub mod conversation;
#[path = "../../tests/support/dice.rs"]
pub mod dice;
#[path = "../recorder/machine.rs"]
pub mod machine;
#[path = "../recorder/recorder_lines.rs"]
pub mod recorder_lines;
#[path = "../recorder/recorder_table.rs"]
pub mod recorder_table;
#[path = "../recorder/stats.rs"]
pub mod stats;
#[path = "../../tests/support/terminal.rs"]
pub mod terminal;
#[path = "../../tests/support/written.rs"]
pub mod written;
