#!/usr/bin/env bash
# What a slower, or a writing, healthy path fails: the machine code for x86_64 and thumbv7m, and the
# instructions against the baseline. Needs valgrind and binutils, and what thumb.sh needs.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo run --quiet --release -p benches --bin machine_code
benches/thumb.sh
cargo run --quiet --release -p benches --bin instructions -- check
