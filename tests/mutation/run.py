#!/usr/bin/env python3
"""Breaks one guard at a time and looks whether a test fails.

    run.py --check           every mutant still has its place in the code (in ctest, a second)
    run.py [--only WORDS]    copies the tree, and for each mutant builds and runs its test folder;
                             exits 1 if one survives. Minutes for each: not a part of CI.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

from mutants import MUTANTS

ROOT = pathlib.Path(__file__).resolve().parents[2]


def place(text, old):
    """Where `old` stands in `text`; None unless exactly once."""
    return text.find(old) if text.count(old) == 1 else None


def check():
    lost = [f"{name}: its text does not stand exactly once in {file}"
            for name, file, old, _, _ in MUTANTS if place((ROOT / file).read_text(), old) is None]
    print("\n".join(lost) or f"mutants: {len(MUTANTS)}, all in place")
    return 1 if lost else 0


def killed(tree, build, mutant):
    """True if the tests of the mutant's folder fail, or do not even compile, with it."""
    _, file, old, new, folder = mutant
    path = tree / file
    text = path.read_text()
    path.write_text(text.replace(old, new))
    target = f"wallock_test_{folder}"
    try:
        built = subprocess.run(["cmake", "--build", build, "-j2", "--target", target],
                               capture_output=True, check=False)
        if built.returncode != 0:
            return True
        ran = subprocess.run([build / "tests" / target], capture_output=True, check=False,
                             timeout=600)
        return ran.returncode != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(text)


def run(only):
    chosen = [m for m in MUTANTS if only in m[0]]
    with tempfile.TemporaryDirectory() as scratch:
        tree, build = pathlib.Path(scratch) / "tree", pathlib.Path(scratch) / "build"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".git"))
        subprocess.run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_CXX_FLAGS=-O0",
                        "-DWALLOCK_BUILD_BENCH=OFF", "-DWALLOCK_BUILD_EXAMPLES=OFF"],
                       check=True, capture_output=True)
        survivors = []
        for mutant in chosen:
            dead = killed(tree, build, mutant)
            print(f"{'killed  ' if dead else 'SURVIVED'} {mutant[0]}", flush=True)
            survivors += [] if dead else [mutant[0]]
    print(f"mutants: {len(chosen)}, survivors: {len(survivors)}")
    return 1 if survivors else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    sys.exit(check() if arguments.check else run(arguments.only))
