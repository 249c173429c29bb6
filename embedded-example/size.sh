#!/usr/bin/env bash
# Measures what one breaker of each window adds to firmware: flash, RAM, and the instructions of
# each operation. Prints a table, or with --json one object per line in an array; then one line for
# each size that has a budget.
#
# It is a gate too. Exits non-zero where
#   * a size is over its budget,
#   * the measured firmware, when it runs, does not walk its window, trip, reject, probe and close,
#   * firmware that uses the core can panic (it does not link then),
#   * the core brings formatting or floating-point code,
#   * one of these checks does not notice what is planted for it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/toolchain.sh"

windows=(failures failures-preset failures-ticks one-word consecutive cusum calls many-calls time)
# What has a name in the lines at the end, and the most bytes that it takes on any board today (rings on
# RISC-V, one word on the M0): growth is to be seen. At opt-level z only these are measured.
declare -A names=([failures]=ring [failures-preset]=ring-preset [one-word]=one-word)
declare -A flash_budget=([ring]=3108 [ring-preset]=1964 [one-word]=432)
declare -A ram_budget=([ring]=72 [ring-preset]=32 [one-word]=4)

json=false
case ${1:-} in
  '') ;;
  --json) json=true ;;
  *) die "usage: size.sh [--json]" ;;
esac

need_emulators
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# tools_for TARGET: sets `size` and `nm` to what reads its ELF files.
tools_for() {
  local prefix=arm-none-eabi package=binutils-arm-none-eabi
  [[ $1 != riscv* ]] || prefix=riscv64-unknown-elf package=binutils-riscv64-unknown-elf
  size=$(first_of $prefix-size llvm-size rust-size) && nm=$(first_of $prefix-nm llvm-nm rust-nm) ||
    die "sizes need $prefix-size and $prefix-nm, or LLVM's: apt-get install $package"
}

# What must not be in firmware because of the core: formatting, panics, floating point.
unwanted='core::fmt|core::panicking|compiler_builtins::float'
unwanted+='|__aeabi_[fd](add|sub|rsub|mul|div|cmp|2)|__aeabi_u?[il]2[fd]|__(add|sub|mul|div)[sd]f3'

faults=()

# flash_and_ram ELF: two numbers. A runtime may reserve the stack as a section: it is not counted.
flash_and_ram() {
  local stack
  stack=$("$size" -A "$1" | awk '$1 == ".stack" { print $2 }')
  "$size" "$1" | awk -v stack="${stack:-0}" 'NR == 2 { print $1 + $2, $2 + $3 - stack }'
}

unwanted_symbols() {
  "$nm" --demangle "$1" | grep -oE "$unwanted" | sort -u | paste -sd ' ' || true
}

plays_its_script() { # plays_its_script MACHINE CPU ELF
  emulate 30 "$1" "$2" "$3" >"$scratch/played" 2>&1
}

planted_panic_is_seen() { # planted_panic_is_seen TARGET PROFILE
  ! PLANTED=panic build "$1" "$2" --bin planted 2>"$scratch/panic" &&
    grep -q this_firmware_can_panic "$scratch/panic"
}

within_budget() { # within_budget NAME FLASH RAM
  [ "$2" -le "${flash_budget[$1]}" ] && [ "$3" -le "${ram_budget[$1]}" ]
}

rows=()
lines=()
for board in "${BOARDS[@]}"; do
  read -r target machine cpu <<<"$board"
  tools_for "$target"
  for level in s z; do
    profile=firmware-$level
    elf=$(binary "$target" $profile size)
    SIZED=nothing build "$target" $profile --bin size
    read -r empty_flash empty_ram < <(flash_and_ram "$elf")
    # Without a breaker nothing trips: the script must notice.
    ! plays_its_script "$machine" "$cpu" "$elf" ||
      faults+=("$target, $level: firmware without a breaker passes for one with")

    build "$target" $profile --bin cost
    emulate 120 "$machine" "$cpu" "$(binary "$target" $profile cost)" >"$scratch/cost" 2>&1 ||
      faults+=("$target, $level: counting instructions failed: $(tail -n 1 "$scratch/cost")")

    for window in "${windows[@]}"; do
      [ $level = s ] || [ -n "${names[$window]:-}" ] || continue
      if ! SIZED=$window build "$target" $profile --bin size; then
        faults+=("$target, $level, $window: does not build (a panic does not link)")
        continue
      fi
      plays_its_script "$machine" "$cpu" "$elf" ||
        faults+=("$target, $level, $window: does not walk, trip, reject, probe and close when run")
      read -r flash ram < <(flash_and_ram "$elf")
      flash=$((flash - empty_flash)) ram=$((ram - empty_ram))
      counts=$(awk -v window="$window" '$1 == "cost" && $2 == window { print $3, $4, $5, $6, $7; found = 1 }
        END { if (!found) print "- - - - -" }' "$scratch/cost")
      rows+=("$target $level $window $flash $ram $counts")

      unwanted_here=$(unwanted_symbols "$elf")
      [ -z "$unwanted_here" ] || faults+=("$target, $level, $window: contains $unwanted_here")
      name=${names[$window]:-}
      if [ -n "$name" ]; then
        within_budget "$name" "$flash" "$ram" ||
          faults+=("$target, $level: the $name takes $flash bytes of flash and $ram of RAM, over its budget")
        ! within_budget "$name" $((flash_budget[$name] + 1)) "$ram" ||
          faults+=("a planted byte too many goes unnoticed")
        if [ "$cpu $level" = "cortex-m0 s" ] && [ -z "${SINGLE_CORE:-}" ]; then
          lines+=("flash M0 $name $flash")
        fi
      fi
    done
  done
  planted_panic_is_seen "$target" firmware-s || faults+=("$target: a planted panic links")
  # `cost` prints, so it has formatting code: the search for symbols must find it.
  [ -n "$(unwanted_symbols "$(binary "$target" firmware-s cost)")" ] ||
    faults+=("$target: planted formatting code goes unnoticed")
done

if $json; then
  printf '%s\n' "${rows[@]}" | awk '
    function number(text) { return text == "-" ? "null" : text }
    function range(text) { sub("-", ", ", text); return text == ", " ? "null" : "[" text "]" }
    BEGIN { print "[" }
    { printf "%s  {\"target\": \"%s\", \"opt_level\": \"%s\", \"window\": \"%s\", \"flash_bytes\": %s, \"ram_bytes\": %s, \"instructions\": {\"allow\": %s, \"allow_and_success\": %s, \"allow_and_failure\": %s, \"allow_and_trip\": %s, \"rejection\": %s}}", (NR > 1 ? ",\n" : ""), $1, $2, $3, $4, $5, number($6), number($7), range($8), number($9), number($10) }
    END { print "\n]" }'
else
  printf '%s\n' "${rows[@]}" | awk '
    BEGIN {
      format = "%-28s %-5s %-14s %6s %5s | %6s %9s %10s %6s %10s\n"
      printf format, "target", "level", "window", "flash", "RAM", "allow", "+ success", "+ failure", "+ trip", "rejection"
    }
    { printf format, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 }'
  [ ${#lines[@]} -eq 0 ] || printf '%s\n' "${lines[@]}"
fi

if [ ${#faults[@]} -gt 0 ]; then
  printf 'BROKEN: %s\n' "${faults[@]}" >&2
  exit 1
fi
$json || printf 'holds:  sizes within budget, every path executed, no panic, no formatting, no floating point\n'
