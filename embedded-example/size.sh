#!/usr/bin/env bash
# Measures what one breaker of each window adds to firmware: flash, RAM, and the instructions of
# each operation. Prints a table, or with --json one object per line in an array.
#
# It is a gate too. Exits non-zero where
#   * the failure ring misses its budget,
#   * firmware that uses the core can panic (it does not link then),
#   * the core brings formatting or floating-point code,
#   * one of these checks does not notice what is planted for it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/toolchain.sh"

flash_budget=2048 # bytes, failure ring, threshold 5, each target and level
ram_budget=128
windows=(failures consecutive calls many-calls time)
json=false
case ${1:-} in
  '') ;;
  --json) json=true ;;
  *) die "usage: size.sh [--json]" ;;
esac

command -v qemu-system-arm >/dev/null || die "instructions are counted by QEMU: apt-get install qemu-system-arm"
size=$(first_of arm-none-eabi-size llvm-size rust-size) ||
  die "sizes need arm-none-eabi-size or llvm-size: apt-get install binutils-arm-none-eabi"
nm=$(first_of arm-none-eabi-nm llvm-nm rust-nm) ||
  die "symbols need arm-none-eabi-nm or llvm-nm: apt-get install binutils-arm-none-eabi"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What must not be in firmware because of the core: formatting, panics, floating point.
unwanted='core::fmt|core::panicking|compiler_builtins::float'
unwanted+='|__aeabi_[fd](add|sub|rsub|mul|div|cmp|2)|__aeabi_u?[il]2[fd]|__(add|sub|mul|div)[sd]f3'

faults=()

# flash_and_ram ELF: two numbers.
flash_and_ram() {
  "$size" "$1" | awk 'NR == 2 { print $1 + $2, $2 + $3 }'
}

unwanted_symbols() {
  "$nm" --demangle "$1" | grep -oE "$unwanted" | sort -u | paste -sd ' ' || true
}

planted_panic_is_seen() { # planted_panic_is_seen TARGET PROFILE
  ! PLANTED=panic build "$1" "$2" --bin planted 2>"$scratch/panic" &&
    grep -q this_firmware_can_panic "$scratch/panic"
}

rows=()
for board in "${BOARDS[@]}"; do
  read -r target machine cpu <<<"$board"
  for level in s z; do
    profile=firmware-$level
    elf=$(binary "$target" $profile size)
    SIZED=nothing build "$target" $profile --bin size
    read -r empty_flash empty_ram < <(flash_and_ram "$elf")

    build "$target" $profile --bin cost
    emulate 120 "$machine" "$cpu" "$(binary "$target" $profile cost)" >"$scratch/cost" 2>&1 ||
      faults+=("$target, $level: counting instructions failed: $(tail -n 1 "$scratch/cost")")

    for window in "${windows[@]}"; do
      if ! SIZED=$window build "$target" $profile --bin size; then
        faults+=("$target, $level, $window: does not build (a panic does not link)")
        continue
      fi
      read -r flash ram < <(flash_and_ram "$elf")
      flash=$((flash - empty_flash)) ram=$((ram - empty_ram))
      read -r allow success failure rejection < <(
        awk -v window="$window" '$1 == "cost" && $2 == window { print $3, $4, $5, $6; found = 1 }
          END { if (!found) print "null null null null" }' "$scratch/cost"
      )
      rows+=("$target $level $window $flash $ram $allow $success $failure $rejection")

      unwanted_here=$(unwanted_symbols "$elf")
      [ -z "$unwanted_here" ] || faults+=("$target, $level, $window: contains $unwanted_here")
      if [ "$window" = failures ] && { [ $flash -ge $flash_budget ] || [ $ram -ge $ram_budget ]; }; then
        faults+=("$target, $level: the failure ring takes $flash bytes of flash and $ram of RAM, over its budget")
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
    BEGIN { print "[" }
    { printf "%s  {\"target\": \"%s\", \"opt_level\": \"%s\", \"window\": \"%s\", \"flash_bytes\": %s, \"ram_bytes\": %s, \"instructions\": {\"allow\": %s, \"allow_and_success\": %s, \"allow_and_failure\": %s, \"rejection\": %s}}", (NR > 1 ? ",\n" : ""), $1, $2, $3, $4, $5, $6, $7, $8, $9 }
    END { print "\n]" }'
else
  printf '%s\n' "${rows[@]}" | awk '
    BEGIN {
      format = "%-22s %-5s %-12s %6s %5s | %6s %9s %9s %10s\n"
      printf format, "target", "level", "window", "flash", "RAM", "allow", "+ success", "+ failure", "rejection"
    }
    { printf format, $1, $2, $3, $4, $5, $6, $7, $8, $9 }'
fi

if [ ${#faults[@]} -gt 0 ]; then
  printf 'BROKEN: %s\n' "${faults[@]}" >&2
  exit 1
fi
$json || printf 'holds:  sizes within budget, no panic, no formatting, no floating point\n'
