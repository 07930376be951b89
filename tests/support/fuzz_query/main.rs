//! A fuzz target for the filter language that needs no special compiler:
//!
//! ```text
//! cargo run --release --example fuzz_query -- [--seconds N] [--seed N]
//! ```
//!
//! It plays rounds of random filters, texts and rows until the time is over (ten seconds unless
//! told otherwise), and ends with 1 and the broken law as soon as one is broken. It prints the
//! seed that it starts from; the same seed plays the same rounds.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own, with its own clock"
)]

#[path = "../dice.rs"]
mod dice;
#[path = "../filter_laws.rs"]
mod filter_laws;
#[path = "../filters.rs"]
mod filters;

use dice::Dice;
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The number behind the argument `name`.
fn argument(name: &str) -> Option<u64> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1)?.parse().ok()
}

fn main() -> ExitCode {
    let seconds = argument("--seconds").unwrap_or(10);
    let seed = argument("--seed").unwrap_or_else(|| Dice::shaken().below(u64::MAX));
    println!("seed {seed}");
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut rounds = 0_u64;
    while Instant::now() < end {
        // Every round has a seed of its own, so that it can be played alone.
        let own = seed.wrapping_add(rounds);
        let outcome = catch_unwind(|| filter_laws::round(&mut Dice(own)));
        let broken = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(law)) => Some(law),
            Err(_) => Some("a panic".to_owned()),
        };
        if let Some(law) = broken {
            println!("round {rounds}, --seed {own}: {law}");
            let mut dice = Dice(own);
            println!("filter: {}", filters::query(&mut dice));
            println!("text: {:?}", filters::mutated(&mut dice));
            return ExitCode::FAILURE;
        }
        rounds += 1;
    }
    println!("{rounds} rounds, no law broken");
    ExitCode::SUCCESS
}
