#!/usr/bin/env python3
"""Applies one mutation after another to a copy of the sources and reports which test kills it.

The mutations are those of list.txt, and every ordering stronger than relaxed in the core, weakened
one at a time; these are found by reading the sources, so that none can be forgotten.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SECONDS_PER_RUN = 900
# Where orderings are looked for.
SOURCES = ("core/src", "core/embedded/src")

# The suites by the word that list.txt uses. Examples in the documentation prove little here.
UNITS, MODELS = ["--lib", "--tests"], ["--tests"]
SUITES = {
    "core": ["-p", "nanobreaker-core", *UNITS],
    "units": ["-p", "loom-tests-narrow-units", *UNITS],
    "embedded": ["-p", "nanobreaker-embedded", "--all-features", *UNITS],
    "wide": ["-p", "loom-tests", *MODELS],
    "narrow": ["-p", "loom-tests-narrow", *MODELS],
    "wide-rmw": ["-p", "loom-tests-wide-rmw", *MODELS],
    "narrow-rmw": ["-p", "loom-tests-narrow-rmw", *MODELS],
    "wide-weak": ["-p", "loom-tests-wide-weak", *MODELS],
    "narrow-weak": ["-p", "loom-tests-narrow-weak", *MODELS],
    "embedded-models": ["-p", "loom-tests-embedded", *MODELS],
    "embedded-models-rmw": ["-p", "loom-tests-embedded-rmw", *MODELS],
    "properties": ["-p", "real-threads-narrow", "--test", "properties-narrow"],
    "periods": ["-p", "periods", *MODELS],
}
# Where each file's orderings are most likely found out.
ORDERINGS_TRIED_FIRST = {
    "adjustable.rs": ("wide", "adjusting::"),
    "mod.rs": ("wide", "adjusting::"),
    "sync.rs": ("wide", "adjusting::"),
    "tagged.rs": ("narrow", "generations:: sweeps::"),
    "ticks.rs": ("embedded-models", "ticks::"),
    "time.rs": ("wide", "time"),
    "turn.rs": ("narrow", "turns::"),
}
# Orderings that no test can find out, by file, kind and what stands in their line, and why they stay.
EXPLAINED = {
    ("sync.rs", "Acquire", "return Err(self.load(Ordering::Acquire));"): "is for builds whose exchanges fail"
}


class DoesNotApply(Exception):
    """The sources no longer hold what the mutation changes."""


def pattern_of(code):
    """Matches `code` however it is formatted: with any white space, with or without a last comma."""
    tokens = re.findall(r"\w+|[^\w\s]", re.sub(r",(\s*[)\]}])", r"\1", code))
    pattern = ""
    for before, token in zip([""] + tokens, tokens):
        if before[-1:].isalnum() and token[0].isalnum():
            pattern += r"\s+"
        elif token in (")", "]", "}"):
            pattern += r"\s*,?\s*"
        elif before:
            pattern += r"\s*"
        pattern += re.escape(token)
    return re.sub(r"(?<!\\),$", ",?", pattern)


class Mutation:
    """Text `old` of `path`, in its `nth` place, becomes `new`."""

    def __init__(self, name, path, old, new, suite, tests, nth=None):
        self.name, self.path, self.old, self.new = name, path, old, new
        self.suite, self.tests, self.nth = suite, tests, nth

    def apply(self, root):
        file = root / self.path
        text = file.read_text()
        places = list(re.finditer(pattern_of(self.old), text))
        if self.nth is None and len(places) != 1:
            raise DoesNotApply(f"'{self.name}' no longer applies: {len(places)} places in {self.path}")
        place = places[self.nth or 0]
        file.write_text(text[: place.start()] + self.new + text[place.end() :])


def listed():
    """The mutations of list.txt; its head says how they are written."""
    for block in re.split(r"\n\s*\n", (HERE / "list.txt").read_text()):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        name, path, tried_first = lines[0], lines[1], lines[2].split()
        old = "\n".join(line[2:] for line in lines[3:] if line.startswith("- "))
        new = "\n".join(line[2:] for line in lines[3:] if line.startswith("+ "))
        yield Mutation(name, path, old, new, tried_first[0], " ".join(tried_first[1:]))


def orderings():
    """Every ordering stronger than relaxed that the core and the firmware's crate name, weakened."""
    strong = re.compile(r"Ordering::(Acquire|Release|AcqRel|SeqCst)")
    for file in sorted(file for source in SOURCES for file in (ROOT / source).rglob("*.rs")):
        path = file.relative_to(ROOT)
        text = file.read_text().split("#[cfg(test)]\nmod tests")[0]
        seen = {}
        for number, line in enumerate(text.splitlines(), 1):
            for match in strong.finditer(line.split("//")[0]):
                old, kind = match.group(0), match.group(1)
                fence = f"fence({old})"
                if fence in line:
                    # A relaxed fence is none; a sequentially consistent one is first made weaker.
                    old = fence
                    new = "fence(Ordering::AcqRel)" if kind == "SeqCst" else "()"
                else:
                    new = "Ordering::Relaxed"
                nth = seen.setdefault(old, 0)
                # Comments name no `Ordering::`, so the n-th in the code is the n-th in the file.
                seen[old] += 1
                if (file.name, kind, line.strip()) in EXPLAINED:
                    continue
                suite, tests = ORDERINGS_TRIED_FIRST.get(file.name, ("wide", ""))
                name = f"ordering: {kind} weakened in {file.name}:{number}"
                yield Mutation(name, path, old, new, suite, tests, nth)


def cargo_test(root, suite, tests, target):
    """Runs one suite; returns who failed, `None` if no one did."""
    command = ["cargo", "test", "--quiet", *SUITES[suite], "--", *tests.split()]
    environment = dict(os.environ, CARGO_TARGET_DIR=str(target), RUST_BACKTRACE="0")
    environment.pop("RUSTFLAGS", None)
    try:
        run = subprocess.run(
            command,
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS_PER_RUN,
        )
    except subprocess.TimeoutExpired:
        return "a test that never ended"
    if run.returncode == 0:
        return None
    failed = re.search(r"^    (\S+)$", run.stdout.split("\nfailures:\n")[-1], re.MULTILINE)
    if failed:
        return failed.group(1)
    errors = [line for line in run.stderr.splitlines() if line.startswith("error")]
    if any("could not compile" in line for line in errors):
        print(run.stderr, file=sys.stderr)
        sys.exit("the mutation does not compile")
    return "a test that did not come back: " + (errors[-1] if errors else "killed")


def killer(root, mutation, target, first_only):
    """Tries the suite where the mutation should be found out, then everything."""
    tries = [(mutation.suite, mutation.tests)]
    if not first_only:
        tries += [(suite, "") for suite in SUITES]
    for suite, tests in tries:
        failed = cargo_test(root, suite, tests, target)
        if failed:
            return f"{suite}: {failed}"
    return None


def copy_sources(to):
    """The working tree as it stands, committed or not."""
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for name in files:
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, to / name)


def faults_of(mutations, root):
    """What is wrong with the list itself."""
    faults = []
    for mutation in mutations:
        file = root / mutation.path
        original = file.read_text()
        try:
            mutation.apply(root)
        except DoesNotApply as fault:
            faults.append(str(fault))
        file.write_text(original)
    return faults


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--part", default="1/1", help="2/4 runs the second quarter")
    options.add_argument("--only", default="", help="those whose name matches this expression")
    options.add_argument(
        "--first", action="store_true", help="try only the tests where each is expected to be found out"
    )
    options.add_argument("--list", action="store_true", help="check that all apply, and list them")
    options = options.parse_args()

    mutations = [*orderings(), *listed()]
    part, parts = map(int, options.part.split("/"))
    chosen = [m for m in mutations[part - 1 :: parts] if re.search(options.only, m.name)]
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "mutations"
    survivors = []
    # Always the same folder: cargo takes what was built from another one's sources for built from these.
    root = target / "sources"
    shutil.rmtree(root, ignore_errors=True)
    copy_sources(root)
    if faults := faults_of(mutations, root):
        sys.exit("\n".join(faults))
    if options.list:
        for mutation in chosen:
            print(mutation.name)
        return
    for mutation in chosen:
        file = root / mutation.path
        original = file.read_text()
        mutation.apply(root)
        started = time.monotonic()
        by = killer(root, mutation, target, options.first)
        seconds = time.monotonic() - started
        verdict = f"killed by {by}" if by else "SURVIVED"
        print(f"{mutation.name}: {verdict} ({seconds:.0f} s)", flush=True)
        if by is None:
            survivors.append(mutation)
        file.write_text(original)
    for (name, kind, _), reason in EXPLAINED.items():
        print(f"explained: {kind} in {name} {reason}")
    print(f"{len(chosen) - len(survivors)} killed, {len(survivors)} survived")
    sys.exit(1 if survivors else 0)


main()
