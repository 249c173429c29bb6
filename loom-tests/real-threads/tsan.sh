#!/usr/bin/env bash
# The tests of real threads under ThreadSanitizer, on the stable toolchain.
# Only what is built here is instrumented, not the standard library; so the tests synchronise with
# atomics and joins, which the sanitizer knows.
set -euo pipefail
cd "$(dirname "$0")/../.."
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"
export TSAN_OPTIONS="suppressions=$PWD/loom-tests/real-threads/tsan.suppressions"
export NANOBREAKER_HISTORIES="${NANOBREAKER_HISTORIES:-300}"
exec cargo test --target x86_64-unknown-linux-gnu --target-dir "${CARGO_TARGET_DIR:-target}/tsan" \
    -p real-threads -p real-threads-narrow --no-fail-fast \
    --test linearizability --test stress --test linearizability-narrow --test stress-narrow "$@"
