# Finds a Rust toolchain that builds for the boards; sourced by boards.sh and size.sh.
#
# Two are supported: rustup's with the target added, and the distribution's compiler with its
# library's sources, from which `core` is then built.

# target, machine and processor of each board: the one table.
BOARDS=(
  "thumbv6m-none-eabi microbit cortex-m0"
  "thumbv7m-none-eabi lm3s6965evb cortex-m3"
  "thumbv7em-none-eabihf mps2-an386 cortex-m4"
  "thumbv8m.main-none-eabihf mps2-an505 cortex-m33"
  "riscv32imac-unknown-none-elf virt rv32"
)

# BOARD=microbit, for instance, leaves out the others.
if [ -n "${BOARD:-}" ]; then
  for board in "${!BOARDS[@]}"; do
    [[ ${BOARDS[$board]} == *" $BOARD "* ]] || unset "BOARDS[$board]"
  done
  [ ${#BOARDS[@]} -gt 0 ] || { printf 'no board is called %s\n' "$BOARD" >&2; exit 2; }
fi

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
target_dir=${CARGO_TARGET_DIR:-$root/target}
export CARGO_TARGET_DIR=$target_dir
export CARGO_TERM_COLOR=never

die() {
  printf '%s\n' "$@" >&2
  exit 2
}

# first_of COMMAND...: the first of these commands that exists.
first_of() {
  local command
  for command in "$@"; do
    if command -v "$command" >/dev/null; then
      printf '%s' "$command"
      return
    fi
  done
  return 1
}

# need_emulators: dies where one is missing.
need_emulators() {
  command -v qemu-system-arm >/dev/null || die "boards need QEMU: apt-get install qemu-system-arm"
  command -v qemu-system-riscv32 >/dev/null || die "RISC-V needs QEMU: apt-get install qemu-system-misc"
}

has_target() { # has_target RUSTC TARGET
  [ -d "$("$1" --print sysroot)/lib/rustlib/$2/lib" ]
}

is_new_enough() { # is_new_enough RUSTC: whether it is not older than this package says
  local needed version
  needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$here/Cargo.toml")
  version=$("$1" --version | cut -d' ' -f2)
  [ "$(printf '%s\n' "$needed" "$version" | sort -V | head -1)" = "$needed" ] && return
  printf '%s is Rust %s, and firmware needs %s: apt-get update && apt-get install rustc-web rust-web-src\n' \
    "$1" "$version" "$needed" >&2
  return 1
}

has_sources() { # has_sources RUSTC
  [ -f "$("$1" --print sysroot)/lib/rustlib/src/rust/library/core/Cargo.toml" ]
}

# cargo_for TARGET: sets the array `cargo` to a command that builds for TARGET.
cargo_for() {
  local target=$1 rustc linker
  command -v cargo >/dev/null || die "boards need cargo: install rustup, or your distribution's cargo"
  for rustc in "${RUSTC:-rustc}" /usr/bin/rustc; do
    command -v "$rustc" >/dev/null || continue
    if has_target "$rustc" "$target"; then
      cargo=(env "RUSTC=$rustc" cargo)
      return
    fi
  done
  for rustc in "${RUSTC:-rustc}" /usr/bin/rustc; do
    command -v "$rustc" >/dev/null && has_sources "$rustc" && is_new_enough "$rustc" || continue
    linker=$(first_of ld.lld rust-lld) || die "the distribution's rustc needs ld.lld: apt-get install lld"
    # Building `core` is not stable yet; the compiler that comes with these sources can.
    cargo=(env "RUSTC=$rustc" RUSTC_BOOTSTRAP=1
      "CARGO_TARGET_$(tr 'a-z.-' 'A-Z__' <<<"$target")_LINKER=$linker" cargo)
    build_flags+=(-Zbuild-std=core)
    return
  done
  die "no Rust toolchain for $target. Either of these will do:" \
    "  rustup target add ${BOARDS[*]%% *}" \
    "  apt-get install rustc-web rust-web-src lld    (Debian)"
}

# build TARGET PROFILE [cargo's arguments]: builds binaries of this package.
# With SINGLE_CORE set, exchanges on a Cortex-M0 mask interrupts themselves instead of asking for a
# critical section.
build() {
  local target=$1 profile=$2
  local -a cargo build_flags=()
  shift 2
  cargo_for "$target"
  [ -z "${SINGLE_CORE:-}" ] || build_flags+=(--no-default-features --features single-core)
  (cd "$root" && "${cargo[@]}" build --quiet --package embedded-example \
    --target "$target" --profile "$profile" "${build_flags[@]}" "$@")
}

# binary TARGET PROFILE NAME: where the build left it.
binary() {
  printf '%s/%s/%s/%s' "$target_dir" "$1" "$2" "$3"
}

# emulate SECONDS MACHINE CPU ELF [SHIFT]: runs it; its exit status, or 124 when it hangs.
# With icount an instruction takes 2^SHIFT ns, by default 64, whatever the host does: every run is
# the same.
emulate() {
  local emulator=(qemu-system-arm)
  [[ $3 != rv32* ]] || emulator=(qemu-system-riscv32 -bios none)
  timeout --kill-after=5 "$1" "${emulator[@]}" -machine "$2" -cpu "$3" -nographic -monitor none \
    -serial none -icount "shift=${5:-6},sleep=off" -semihosting-config enable=on,target=native \
    -kernel "$4" </dev/null
}
