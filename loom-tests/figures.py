#!/usr/bin/env python3
"""Writes the table of models in README.md from what runs have printed.

    cargo test -p loom-tests -p loom-tests-embedded -- --nocapture --test-threads 1 > models.log
    loom-tests/mutations.sh > mutations.log
    loom-tests/figures.py models.log mutations.log

Without a second file the column of mutations stays as it is. `--check` writes nothing and fails where
a model that ran has no row, or a row's model has not run.
"""

import argparse
import collections
import pathlib
import re
import sys

README = pathlib.Path(__file__).resolve().parent / "README.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
HEAD = (
    "| promise | model | of | threads | explored | executions | s | mutations that it kills |\n"
    "| --- | --- | ---: | ---: | --- | ---: | ---: | --- |\n"
)
# By the model, or else by its module.
PROMISES = {
    "adjusting": "3, 4, 5, 8",
    "advice": "1, 2, 5, 6",
    "anchors": "6, 7",
    "cusum": "3, 4",
    "generations": "3, 4, 5",
    "healthy": "8, 9",
    "healthy::a_rejection_writes_nothing": "8",
    "one_word": "1 to 6, 8",
    "one_word::a_healthy_call_stores_nothing": "9",
    "probes": "1, 6",
    "stopping": "1 to 8",
    "tally": "3, 4, 5",
    "ticks": "7",
    "time": "7",
    "transitions": "2",
    "trips": "3, 4",
    "turns": "3, 4",
}
MOST_NAMED = 2


class Model:
    """All runs of one model: a test for each window or setting."""

    def __init__(self):
        self.of, self.threads, self.explored, self.executions, self.seconds = 0, "", "", 0, 0.0
        self.mutations = []

    def add(self, threads, explored, executions, seconds):
        self.of += 1
        self.threads, self.explored = threads, explored
        self.executions += int(executions)
        self.seconds += float(seconds)


def name_of(test):
    """Module and model; the window that follows is counted, not named."""
    return "::".join(test.split("::")[:2])


def models(log):
    line = re.compile(r"model (\S+): (\d+) threads, ([^,]+), (\d+) executions, ([\d.]+) s")
    found = collections.defaultdict(Model)
    for test, *figures in line.findall(log):
        found[name_of(test)].add(*figures)
    return found


def killed(log):
    """By each model, the mutations that it kills first."""
    line = re.compile(r"^(.+): killed by [\w-]+: (\w+::\S+) \(\d+ s\)$", re.MULTILINE)
    by_model = collections.defaultdict(list)
    for mutation, test in line.findall(log):
        # Lines move; the file says enough.
        by_model[name_of(test)].append(re.sub(r"(\.rs):\d+", r"\1", mutation))
    return by_model


def told(mutations):
    named = "; ".join(mutations[:MOST_NAMED])
    more = len(mutations) - MOST_NAMED
    return f"{named}; and {more} more" if more > 0 else named


def rows(text):
    """The last column of the rows that are there, by model."""
    return dict(re.findall(r"^\| [^|]* \| `([^`]+)` \|.*\| ([^|]*) \|$", text, re.MULTILINE))


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("models")
    options.add_argument("mutations", nargs="?")
    options.add_argument("--check", action="store_true")
    options = options.parse_args()

    readme = README.read_text()
    before, rest = readme.split(BEGIN)
    there, after = rest.split(END)
    found, last = models(pathlib.Path(options.models).read_text()), rows(there)
    if options.check:
        if set(found) != set(last):
            sys.exit(f"README and run differ in: {sorted(set(found) ^ set(last))}")
        return
    if options.mutations:
        by_model = killed(pathlib.Path(options.mutations).read_text())
        last = {model: told(mutations) for model, mutations in by_model.items()}
    table = HEAD
    for name, model in sorted(found.items()):
        promise = PROMISES.get(name) or PROMISES[name.split("::")[0]]
        table += (
            f"| {promise} | `{name}` | {model.of} | {model.threads} | {model.explored} "
            f"| {model.executions:,} | {model.seconds:.2f} | {last.get(name, '')} |\n"
        )
    total = sum(model.of for model in found.values())
    print(f"{len(found)} models in {total} tests, {sum(m.seconds for m in found.values()):.0f} s")
    README.write_text(before + BEGIN + table + END + after)


main()
