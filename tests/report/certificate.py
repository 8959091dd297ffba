#!/usr/bin/env python3
"""The certificate: which invariants hold by which tests, from a real run.

    certificate.py JUNIT ROOT OUT     JUNIT is the file of `ctest --output-junit`; OUT gets the JSON
    certificate.py self-test          shows that a failed or missing test takes the invariant away

An invariant holds if every test that docs/test-matrix.md names for it ran and passed.
"""
import datetime
import json
import pathlib
import platform
import re
import sys
import xml.etree.ElementTree as ElementTree

import manifest

ROW = re.compile(r"^\|\s*(INV-\d\d)\s*\|(.*?)\|(.*)\|\s*$")


def read_matrix(text):
    """{invariant: (statement, [test names])} from the rows of docs/test-matrix.md."""
    rows = {}
    for line in text.splitlines():
        match = ROW.match(line)
        if match:
            rows[match[1]] = (match[2].strip(), re.findall(r'"([^"]+)"', match[3]))
    return rows


def read_results(xml_text):
    """{test name: "passed" | "failed" | "skipped"}."""
    states = {"run": "passed", "fail": "failed"}
    cases = ElementTree.fromstring(xml_text).iter("testcase")
    # ctest knows a test case as "folder: name"; CMake 3.25 loses the blank.
    return {re.sub(r"^[a-z_]+: ?", "", case.get("name")): states.get(case.get("status"), "skipped")
            for case in cases}


def judge(matrix, results):
    judged = {}
    for invariant, (statement, tests) in sorted(matrix.items()):
        outcome = {name: results.get(name, "not run") for name in tests}
        holds = bool(tests) and all(state == "passed" for state in outcome.values())
        judged[invariant] = {"statement": statement, "holds": holds, "tests": outcome}
    return judged


def certificate(junit, root):
    results = read_results(junit.read_text())
    invariants = judge(read_matrix((root / "docs/test-matrix.md").read_text()), results)
    count = {state: sum(1 for r in results.values() if r == state)
             for state in ("passed", "failed", "skipped")}
    return {"format": 1,
            "date": datetime.date.today().isoformat(),
            "machine": f"{platform.system()} {platform.release()} {platform.machine()}",
            "manifest_root": manifest.manifest(root)["merkle_root"],
            "tests": count,
            "all_invariants_hold": all(i["holds"] for i in invariants.values()),
            "invariants": invariants}


def self_test():
    matrix = read_matrix('| INV-01 | stale is refused | "a"; "b" |\n| INV-02 | x | |\n')
    xml = ('<testsuite><testcase name="rules: a" status="run"/>'
           '<testcase name="rules:b" status="{}"/></testsuite>')
    good = judge(matrix, read_results(xml.format("run")))
    bad = judge(matrix, read_results(xml.format("fail")))
    only_one = '<testsuite><testcase name="a" status="run"/></testsuite>'
    missing = judge(matrix, read_results(only_one))
    outcomes = [good["INV-01"]["holds"], not bad["INV-01"]["holds"],
                not missing["INV-01"]["holds"], not good["INV-02"]["holds"]]
    print(f"self-test: {len(outcomes)} checks, {outcomes.count(False)} failures")
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["self-test"]:
        sys.exit(self_test())
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    made = certificate(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    pathlib.Path(sys.argv[3]).write_text(json.dumps(made, indent=1) + "\n")
    print(f"certificate: {made['tests']}, all invariants hold: {made['all_invariants_hold']}")
    sys.exit(0 if made["all_invariants_hold"] else 1)
