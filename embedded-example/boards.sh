#!/usr/bin/env bash
# Builds the firmware for five boards and runs it under QEMU.
# Exits 0 only if everything holds on each; the last lines are one verdict per board.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/toolchain.sh"

profile=firmware-s
patience=${BOARD_TIMEOUT:-240} # seconds for one run; none should need a quarter of it
programs=(node node_embedded_time node_embassy hammer sleeper)

need_emulators
logs=$target_dir/boards
mkdir -p "$logs"

# run MACHINE CPU ELF LOG SECONDS: prints why it failed, or nothing.
run() {
  local status=0 shift=6
  # Embassy waits with WFE, which QEMU does not sleep in: a slower processor spins less.
  [[ $3 != *node_embassy ]] || shift=8
  emulate "$5" "$1" "$2" "$3" "$shift" >"$4" 2>&1 || status=$?
  case $status in
    0) ;;
    124 | 137) printf 'hangs' ;;
    *) printf 'exit status %s' "$status" ;;
  esac
}

# Firmware that is planted to fail must be seen to fail, or no verdict below means anything.
planted_is_seen() { # planted_is_seen TARGET MACHINE CPU
  local how seen
  for how in failure hang; do
    PLANTED=$how build "$1" $profile --bin planted || return 1
    seen=$(run "$2" "$3" "$(binary "$1" $profile planted)" "$logs/$2-planted.log" 10)
    case $how:$seen in
      failure:exit* | hang:hangs) ;;
      *) return 1 ;;
    esac
  done
}

# check TARGET MACHINE CPU: prints what the board's firmware prints, and its verdict as the last line.
check() {
  local target=$1 machine=$2 cpu=$3 program fault
  local -a faults=() flags=()
  printf '== %s (%s, %s)\n' "$machine" "$cpu" "$target"
  for program in "${programs[@]}"; do
    flags+=(--bin "$program")
  done
  if build "$target" $profile --features embassy "${flags[@]}"; then
    for program in "${programs[@]}"; do
      printf -- '-- %s\n' "$program"
      fault=$(run "$machine" "$cpu" "$(binary "$target" $profile "$program")" "$logs/$machine-$program.log" "$patience")
      cat "$logs/$machine-$program.log"
      [ -z "$fault" ] || faults+=("$program: $fault;")
    done
    planted_is_seen "$target" "$machine" "$cpu" || faults+=("a planted failure goes unnoticed;")
  else
    faults+=("does not build;")
  fi
  if [ ${#faults[@]} -eq 0 ]; then
    printf 'holds:  %s (%s): %s\n' "$machine" "$cpu" "${programs[*]}"
  else
    printf 'BROKEN: %s (%s): %s\n' "$machine" "$cpu" "${faults[*]}"
  fi
}

# As many boards at once as there are processors.
for board in "${BOARDS[@]}"; do
  read -r target machine cpu <<<"$board"
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
    wait -n || true
  done
  check "$target" "$machine" "$cpu" >"$logs/$machine.log" 2>&1 &
done
wait

verdicts=()
broken=0
for board in "${BOARDS[@]}"; do
  read -r target machine cpu <<<"$board"
  cat "$logs/$machine.log"
  verdict=$(tail -n 1 "$logs/$machine.log")
  verdicts+=("$verdict")
  [[ $verdict == holds:* ]] || broken=1
done

printf '\n'
printf '%s\n' "${verdicts[@]}"
exit $broken
