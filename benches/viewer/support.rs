//! What the tests and the other bench have already.

#[path = "../../tests/support/conversation.rs"]
pub mod conversation;
#[path = "../../tests/support/dice.rs"]
pub mod dice;
#[path = "../recorder/lines.rs"]
pub mod lines;
#[path = "../recorder/machine.rs"]
pub mod machine;
#[path = "../recorder/stats.rs"]
pub mod stats;
#[path = "../recorder/table.rs"]
pub mod table;
#[path = "../../tests/support/terminal.rs"]
pub mod terminal;
#[path = "../../tests/support/written.rs"]
pub mod written;
