#!/bin/sh
# Applies one mutation after another to a copy of the sources and reports which test kills it.
# Usage: loom-tests/mutations.sh [--part 2/4] [--only WORD] [--list]
exec python3 "$(dirname "$0")/mutations/run.py" "$@"
