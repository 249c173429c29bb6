#!/usr/bin/env bash
# Fuzzes for some seconds (600 if not said otherwise), guided by coverage, on the stable toolchain,
# and keeps what it found below the target
# directory. `fuzz.sh merge` makes the corpus of the smallest inputs that cover as much.
set -euo pipefail
cd "$(dirname "$0")"
target="$(rustc -vV | sed -n 's/^host: //p')"
directory="${CARGO_TARGET_DIR:-../../target}/fuzz"
# What cargo-fuzz passes, without a sanitizer: the core holds no unsafe code.
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cdebug-assertions -Ccodegen-units=1"
cargo build --release --target "$target" --target-dir "$directory" --features libfuzzer --bin fuzz
fuzz="$directory/$target/release/fuzz"
found="$directory/found"
mkdir -p "$found"
if [ "${1:-}" = merge ]; then
    smallest="$(mktemp -d)"
    "$fuzz" -merge=1 "$smallest" corpus "$found"
    rm -f corpus/*
    # Some of all lengths are enough for a quick replay.
    keep="${2:-200}"
    step=$((($(ls "$smallest" | wc -l) + keep - 1) / keep))
    ls -S "$smallest" | awk "NR % $step == 0" | xargs -I{} cp "$smallest/{}" corpus/
    ls corpus | wc -l
else
    "$fuzz" -max_total_time="${1:-600}" -max_len=512 -artifact_prefix="$found/failed-" "$found" corpus
fi
