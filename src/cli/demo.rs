//! `mcpreel demo`, and the two processes that it starts.

use super::args::{DemoHost, DemoServer};
use super::exit::{Exit, Outcome};
use crate::demo::{Pace, host, server};
use std::io;

/// The built-in server, on this process's own pipes.
pub fn server(args: &DemoServer) -> Outcome {
    let pace = Pace::new(args.speed);
    server::run(io::stdin().lock(), io::stdout(), io::stderr(), pace)?;
    Ok(Exit::Fine)
}

/// The built-in host.
pub fn host(args: &DemoHost) -> Outcome {
    host::run(&args.command, Pace::new(args.speed), io::stderr())
        .map_err(|error| super::exit::Failure::Refused(error.into()))?;
    Ok(Exit::Fine)
}
