#!/usr/bin/env bash
# Compiles breakers for each kind of chip in README.md's table, with what the table says to select; and
# without it, which must fail and say what to select.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/toolchain.sh"

table() { # the rows of the table, as: target|selected features|compiled
  sed -n '/<!-- chips -->/,/<!-- end of chips -->/p' "$here/README.md" |
    awk -F ' *[|] *' 'NF > 5 && NR > 3 { gsub("`", ""); print $3 "|" $4 "|" $5 }'
}

compile() { # compile TARGET [FEATURE]
  local -a cargo build_flags=()
  cargo_for "$1"
  # AVR has no processor that all its chips share.
  [[ $1 != avr-* ]] || cargo+=(--config "target.$1.rustflags=['-Ctarget-cpu=atmega328p']")
  (cd "$root" && "${cargo[@]}" build --quiet --package chip --lib --target "$1" --profile firmware-s \
    "${build_flags[@]}" ${2:+--features "portable-atomic/$2"})
}

rows=0
faults=()
while IFS='|' read -r target select compiled; do
  rows=$((rows + 1))
  if [ "$compiled" != yes ]; then
    printf 'not compiled: %s (%s)\n' "$target" "$compiled"
    continue
  fi
  feature=$([ "$select" = nothing ] || printf '%s' "$select")
  if compile "$target" "$feature"; then
    printf 'compiles: %s with %s\n' "$target" "$select"
  else
    faults+=("$target with $select does not compile")
  fi
  if [ -n "$feature" ]; then
    if said=$(compile "$target" 2>&1); then
      faults+=("$target compiles without $select")
    elif ! grep -q "error: nanobreaker-core needs.*\`$feature\`" <<<"$said"; then
      faults+=("$target without $select does not say that it needs it")
    fi
  fi
done < <(table)

[ $rows -gt 5 ] || faults+=("README.md's table has $rows rows")
if [ ${#faults[@]} -gt 0 ]; then
  printf 'BROKEN: %s\n' "${faults[@]}" >&2
  exit 1
fi
printf 'holds:  %s kinds of chips\n' "$rows"
