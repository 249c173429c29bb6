#!/usr/bin/env bash
# Proves for a Cortex-M3 (thumbv7m) that the healthy path writes nothing: builds it, links it alone, and lets
# thumb.py emulate it instruction by instruction.
# Needs a toolchain for the target (see embedded-example/toolchain.sh), lld, and Python with pip.
set -euo pipefail
benches=$(cd "$(dirname "$0")" && pwd)
source "$benches/../embedded-example/toolchain.sh"

target=thumbv7m-none-eabi
work=$target_dir/thumb
mkdir -p "$work"

declare -a cargo build_flags=()
cargo_for $target
# Of an earlier build none must be left for the linker to pick.
rm -f "$work/$target"/release/deps/lib{healthy_path,nanobreaker_core}-*.rlib
# Whole objects, not the compiler's intermediate form: this library is linked by hand.
(cd "$root" && CARGO_PROFILE_RELEASE_LTO=off CARGO_TARGET_DIR=$work "${cargo[@]}" build --quiet --release \
  --package healthy-path --target $target "${build_flags[@]}")

# Every function and every breaker of the library, by its own sources.
mapfile -t symbols < <(sed -n 's/^pub fn \(healthy_[a-z]*\)(.*/\1/p; s/^pub static \([A-Z]*\):.*/\1/p' \
  "$benches/healthy-path/src/lib.rs" | sort -r)
linker=$(first_of ld.lld rust-lld) || die "linking needs ld.lld: apt-get install lld"
"$linker" -m armelf -Ttext=0x10000 --gc-sections --entry="${symbols[0]}" "${symbols[@]/#/--undefined=}" \
  -o "$work/healthy.elf" "$work/$target/release/libhealthy_path.rlib" "$work/$target"/release/deps/*.rlib

# Emulating needs a package from PyPI, kept beside the build.
if ! PYTHONPATH=$work/python python3 -c 'import unicorn, elftools' 2>/dev/null; then
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" unicorn==2.1.4 pyelftools==0.32
fi
PYTHONPATH=$work/python python3 "$benches/thumb.py" "$work/healthy.elf"
