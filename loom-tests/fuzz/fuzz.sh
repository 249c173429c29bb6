#!/usr/bin/env bash
# Fuzzes for some seconds (600 if not said otherwise), guided by coverage, on the stable toolchain,
# and adds what it found to the corpus. `fuzz.sh merge` keeps the smallest corpus that covers as much.
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
    # A few hundred are enough: those that cover most come first, the rest adds an edge each.
    (cd "$smallest" && ls -S | tail -n "${2:-150}" | xargs -I{} cp {} "$OLDPWD/corpus/")
    ls corpus | wc -l
else
    "$fuzz" -max_total_time="${1:-600}" -max_len=512 -artifact_prefix="$found/failed-" "$found" corpus
fi
