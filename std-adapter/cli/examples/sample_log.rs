//! Makes up a log to try `nanobreaker replay` and `tune` with.
//!
//! ```text
//! cargo run -p nanobreaker-cli --example sample_log -- json > sample.jsonl
//! cargo run -p nanobreaker-cli -- tune sample.jsonl
//! ```
//!
//! Arguments: the format (json, csv, nginx, apache, envoy, alb), and how many calls a second
//! (5 where it is not given).

#[path = "../tests/cli/sample.rs"]
mod sample;

use std::io::{BufWriter, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let format = arguments.next().unwrap_or_else(|| "json".to_owned());
    if !sample::FORMATS.contains(&format.as_str()) {
        return Err(format!("{format:?} is none of {}", sample::FORMATS.join(", ")).into());
    }
    let mut traffic = sample::Traffic::two_outages();
    if let Some(rate) = arguments.next() {
        traffic.calls_per_second = rate.parse()?;
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    out.write_all(sample::log(&format, &traffic).as_bytes())?;
    out.flush()?;
    Ok(())
}
