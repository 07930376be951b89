//! The server of the benches: this executable again, reading and writing plainly, so that it adds
//! as little as possible to what is measured.

use crate::traffic::{self, Order};
use mcpreel_trace::clock::wall_clock_ns;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

/// The first argument that makes a server of this executable.
pub const ARGUMENT: &str = "serve";

/// The first argument that makes a relay of this executable; the second names the file of its copy.
pub const COPY: &str = "copy";

/// Writes what comes to `file` and then forwards it, until the writer closes.
pub fn copy(file: &str) -> anyhow::Result<()> {
    let (mut input, mut output) = (plain(&io::stdin())?, plain(&io::stdout())?);
    let (mut kept, mut buffer) = (File::create(file)?, vec![0; 64 * 1024]);
    loop {
        let n = input.read(&mut buffer)?;
        if n == 0 {
            return Ok(());
        }
        kept.write_all(&buffer[..n])?;
        output.write_all(&buffer[..n])?;
    }
}

/// Serves until the client closes, and ends with a [`traffic::farewell`].
pub fn serve() -> anyhow::Result<()> {
    let mut input = plain(&io::stdin())?;
    let mut output = plain(&io::stdout())?;
    let mut answer = traffic::answer(traffic::SHORT);
    let mut buffer = vec![0; 64 * 1024];
    let mut filled = 0;
    loop {
        let n = input.read(&mut buffer[filled..])?;
        if n == 0 {
            break;
        }
        filled += n;
        let mut begin = 0;
        while let Some(len) = buffer[begin..filled].iter().position(|&byte| byte == b'\n') {
            serve_line(&buffer[begin..begin + len], &mut answer, &mut output)?;
            begin += len + 1;
        }
        buffer.copy_within(begin..filled, 0);
        filled -= begin;
    }
    output.write_all(&traffic::farewell(wall_clock_ns()))?;
    Ok(())
}

/// The descriptor without the buffer that the standard library puts around it.
fn plain(stream: &impl AsFd) -> io::Result<File> {
    Ok(File::from(stream.as_fd().try_clone_to_owned()?))
}

fn serve_line(line: &[u8], answer: &mut [u8], output: &mut File) -> anyhow::Result<()> {
    if traffic::is_echo(line) {
        traffic::answer_to(answer, line);
        output.write_all(answer)?;
        return Ok(());
    }
    let call: serde_json::Value = serde_json::from_slice(line)?;
    if call["method"] == "initialize" {
        output.write_all(&traffic::initialized_result())?;
    } else if let Some(order) = Order::parse(&call) {
        obey(&order, output)?;
    }
    Ok(())
}

fn obey(order: &Order, output: &mut File) -> io::Result<()> {
    match order {
        Order::Large { bytes } => output.write_all(&traffic::answer(*bytes)),
        Order::Flood {
            lines,
            sizes,
            together,
        } => {
            let kinds: Vec<_> = sizes
                .iter()
                .map(|&size| traffic::notification(size))
                .collect();
            let mut all = kinds.iter().cycle().take(*lines).peekable();
            let mut block = Vec::new();
            while all.peek().is_some() {
                if *together == 1 {
                    all.next().map_or(Ok(()), |line| output.write_all(line))?;
                    continue;
                }
                block.clear();
                all.by_ref()
                    .take(*together)
                    .for_each(|line| block.extend_from_slice(line));
                output.write_all(&block)?;
            }
            output.write_all(&traffic::answer(traffic::SHORT))
        }
    }
}
