"""Shows that each check can fail: a planted violation must be reported, its legal twin must not."""


def run(cases, check):
    """cases: name -> (violation, twin); check: takes either and returns the list of messages.

    Returns the exit code.
    """
    failed = 0
    for name, (violation, twin) in cases.items():
        found = check(name, violation)
        if not found:
            print(f"self-test: {name}: the planted violation was not reported")
            failed += 1
        found = check(name, twin)
        if found:
            print(f"self-test: {name}: the legal twin was reported: {found}")
            failed += 1
    print(f"self-test: {len(cases)} checks, {failed} failures")
    return 1 if failed or not cases else 0
