#!/usr/bin/env bash
# Builds the template of each real board, each a package of its own with the board's HAL.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/toolchain.sh"

# Beside the firmware's own builds, since the same folder would be locked.
export CARGO_TARGET_DIR=$target_dir/templates
faults=()
for template in "$here"/templates/*/; do
  name=$(basename "$template")
  target=$(sed -n 's/^target = "\(.*\)"$/\1/p' "$template/.cargo/config.toml")
  cargo=() build_flags=()
  cargo_for "$target"
  if (cd "$template" && "${cargo[@]}" build --quiet --locked --release "${build_flags[@]}"); then
    printf 'builds: %s for %s\n' "$name" "$target"
  else
    faults+=("$name does not build for $target")
  fi
done
[ ${#faults[@]} -eq 0 ] || { printf 'BROKEN: %s\n' "${faults[@]}" >&2; exit 1; }
