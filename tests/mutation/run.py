#!/usr/bin/env python3
"""Breaks one guard at a time and looks whether a test fails.

    run.py --check           every mutant still has its place in the code (in ctest, a second)
    run.py --quick BUILD     those whose test is one file that needs headers only: compiled and run
                             beside the build in BUILD, whose flags are taken (in ctest)
    run.py [--only PATTERN]  all: for the others copies the tree to build/mutation and builds and
                             runs their folder's program. A minute for each. PATTERN, a regular
                             expression, is looked for in "test name: mutant", as in
                             --only '^host.*: sidecar'

Exits 1 if a mutant survives, or does not compile: then it shows nothing about the tests.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

from mutants import MUTANTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "build" / "mutation"
KILLED, SURVIVED, NOT_BUILT = "killed", "SURVIVED", "NOT BUILT"
PATIENCE = 300  # seconds that a test may take before it counts as failed
CMAKE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0",
         "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DWALLOCK_BUILD_BENCH=OFF",
         "-DWALLOCK_BUILD_EXAMPLES=OFF"]


def place(text, old):
    """Where `old` stands in `text`; None unless exactly once."""
    return text.find(old) if text.count(old) == 1 else None


def check():
    lost = [f"{name}: its text does not stand exactly once in {file}"
            for name, file, old, _, _ in MUTANTS if place((ROOT / file).read_text(), old) is None]
    lost += [f"{name}: there is no tests/{test}"
             for name, _, _, _, test in MUTANTS
             if not (ROOT / "tests" / test.split(" ")[0]).exists()]
    lost += [f"{name}: a header's test may be one file, a source's is a folder"
             for name, file, _, _, test in MUTANTS
             if test.endswith(".cpp") and not file.startswith("include/")]
    print("\n".join(lost) or f"mutants: {len(MUTANTS)}, all in place")
    return 1 if lost else 0


def fails(command, where):
    """True if the command fails or does not end; then what it started is ended too."""
    process = subprocess.Popen(command, cwd=where, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(PATIENCE) != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def broken(root, mutant):
    _, file, old, new, _ = mutant
    return (root / file).read_text().replace(old, new)


class Quick:
    """One file of tests/ for each mutant, compiled against broken headers."""

    def __init__(self, root, build):
        self.root, self.build = root, build
        self.scratch = self.build / "mutants"
        entries = json.loads((self.build / "compile_commands.json").read_text())
        self.commands = {entry["file"]: shlex.split(entry["command"]) for entry in entries}
        self.catch = (self.build / "tests" / "mutation" / "catch.txt").read_text().split()

    def compiled(self, test, headers, program):
        """Compiles and links the test; the compiler's exit code."""
        command = self.commands[str(self.root / "tests" / test)]
        own = f"-I{self.root}/include"
        if own not in command:
            raise SystemExit(f"the build in {self.build} does not use {own}")
        # A variable that a mutant no longer uses is no reason to stop.
        command = [f"-I{headers}" if word == own else word
                   for word in command if word != "-Werror"]
        command = command[:command.index("-o")]
        return subprocess.run([*command, "-o", program, self.root / "tests" / test, *self.catch],
                              cwd=self.build, capture_output=True, check=False)

    def fate(self, number, mutant):
        folder = self.scratch / str(number)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.root / "include", folder / "include")
        (folder / mutant[1]).write_text(broken(self.root, mutant))
        test = mutant[4]
        built = self.compiled(test, folder / "include", folder / "test")
        if built.returncode != 0:
            return NOT_BUILT
        return KILLED if fails([folder / "test", "--abort"], folder) else SURVIVED

    def run(self, mutants, jobs):
        self.check_twins({mutant[4] for mutant in mutants})
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            yield from zip(mutants, pool.map(self.fate, range(len(mutants)), mutants))

    def check_twins(self, tests):
        """The tests pass with sound headers, or a failure would tell nothing."""
        for test in sorted(tests):
            folder = self.scratch / "sound"
            folder.mkdir(parents=True, exist_ok=True)
            built = self.compiled(test, self.root / "include", folder / "test")
            if built.returncode != 0 or fails([folder / "test"], folder):
                raise SystemExit(f"{test} fails without a mutant\n{built.stderr.decode()}")


class Tree:
    """A copy of the tree, in which one file at a time is broken and a folder's program built."""

    def __init__(self, jobs):
        self.tree, self.build, self.jobs = SCRATCH / "tree", SCRATCH / "build", jobs
        self.refresh()
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        subprocess.run(["cmake", "-S", self.tree, "-B", self.build, *CMAKE, *launcher],
                       check=True, capture_output=True)

    def refresh(self):
        """Only what differs is written: the rest need not be built again."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                                 "--exclude-standard"],
                                cwd=ROOT, check=True, capture_output=True)
        for name in filter(None, listed.stdout.decode().split("\0")):
            source, target = ROOT / name, self.tree / name
            if not target.exists() or source.read_bytes() != target.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)

    def program(self, test):
        """The command that runs a test: a folder's program, or those of its tests that match."""
        folder, *words = test.split(" ", 1)
        return [self.build / "tests" / f"wallock_test_{folder}", *words]

    def built(self, test):
        environment = {**os.environ, "CCACHE_SLOPPINESS": "pch_defines,time_macros"}
        return subprocess.run(
            ["cmake", "--build", self.build, "-j", str(self.jobs), "--target",
             self.program(test)[0].name],
            capture_output=True, check=False, env=environment).returncode == 0

    def fate(self, mutant):
        _, file, _, _, test = mutant
        path = self.tree / file
        text = path.read_text()
        path.write_text(broken(self.tree, mutant))
        try:
            if not self.built(test):
                return NOT_BUILT
            return KILLED if fails([*self.program(test), "--abort"], self.build) else SURVIVED
        finally:
            path.write_text(text)

    def run(self, mutants):
        for test in sorted({mutant[4] for mutant in mutants}):
            if not self.built(test) or fails(self.program(test), self.build):
                raise SystemExit(f"the tests of {test} fail without a mutant")
        for mutant in mutants:
            yield mutant, self.fate(mutant)


def told(results):
    """Prints each fate as it comes, with its seconds; how many were not killed."""
    alive, begun = 0, time.monotonic()
    for mutant, fate in results:
        print(f"{fate:9} {round(time.monotonic() - begun):4} s  {mutant[0]}", flush=True)
        begun = time.monotonic()
        alive += fate != KILLED
    return alive


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--quick", metavar="BUILD")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.check:
        return check()
    chosen = [mutant for mutant in MUTANTS
              if re.search(arguments.only, f"{mutant[4]}: {mutant[0]}")]
    quick = [mutant for mutant in chosen if mutant[4].endswith(".cpp")]
    others = [mutant for mutant in chosen if mutant not in quick]
    if arguments.quick:
        chosen = quick
        alive = told(Quick(ROOT, pathlib.Path(arguments.quick)).run(quick, arguments.jobs))
    else:
        tree = Tree(arguments.jobs)
        alive = told(Quick(tree.tree, tree.build).run(quick, arguments.jobs))
        alive += told(tree.run(others))
    print(f"mutants: {len(chosen)}, not killed: {alive}")
    return 1 if alive or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
