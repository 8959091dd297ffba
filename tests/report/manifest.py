#!/usr/bin/env python3
"""The system manifest: SHA-256 of every deliverable file and the Merkle root over them.

    manifest.py write ROOT    writes ROOT/docs/system_manifest.json
    manifest.py check ROOT    compares it with the files; names each that differs, exits 1
    manifest.py self-test     shows, on a made-up tree, that the check can fail

The tree is that of RFC 9162 section 2.1.1; leaf i is "path NUL hex digest LF" of the i-th file in
byte order of the paths.
"""
import hashlib
import json
import pathlib
import sys
import tempfile

FOLDERS = ("include", "src", "tests", "bench", "docs", "examples", ".ci")
FILES = ("CMakeLists.txt", "CMakePresets.json", "vcpkg.json", "README.md", "LICENSE",
         ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore")
MANIFEST = "docs/system_manifest.json"
# Made from the manifest, or from a run of the tests on it: they cannot be part of it.
DERIVED = {MANIFEST, "docs/certificate.json"}


def deliverables(root):
    """Paths of all deliverable files, in byte order."""
    found = [root / name for name in FILES if (root / name).is_file()]
    for folder in FOLDERS:
        found += [p for p in (root / folder).rglob("*") if p.is_file()]
    paths = (p.relative_to(root).as_posix() for p in found)
    skip = ("__pycache__",)
    return sorted((p for p in paths if p not in DERIVED and not any(s in p for s in skip)),
                  key=lambda p: p.encode())


def tree_hash(leaves):
    """RFC 9162 section 2.1.1."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    split = 1 << ((len(leaves) - 1).bit_length() - 1)
    return hashlib.sha256(b"\1" + tree_hash(leaves[:split]) + tree_hash(leaves[split:])).digest()


def manifest(root):
    """The manifest of the tree as it is now."""
    files = {path: hashlib.sha256((root / path).read_bytes()).hexdigest()
             for path in deliverables(root)}
    leaves = [f"{path}\0{digest}\n".encode() for path, digest in files.items()]
    return {"format": 1, "files": files, "merkle_root": tree_hash(leaves).hex()}


def write(root):
    path = root / MANIFEST
    path.write_text(json.dumps(manifest(root), indent=1) + "\n")
    return 0


def check(root):
    stored = json.loads((root / MANIFEST).read_text())
    now = manifest(root)
    before, after = stored["files"], now["files"]
    problems = [f"{p}: not in the manifest" for p in after if p not in before]
    problems += [f"{p}: missing" for p in before if p not in after]
    problems += [f"{p}: differs" for p in before if p in after and before[p] != after[p]]
    if not problems and stored["merkle_root"] != now["merkle_root"]:
        problems.append("the Merkle root does not match the files listed")
    print("\n".join(problems) or f"manifest: {len(after)} files, root {now['merkle_root']}")
    return 1 if problems else 0


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        for name in ("README.md", "docs/a.md", "docs/b.md"):
            (root / name).write_text(name)
        write(root)
        outcomes = [("untouched", check(root) == 0)]
        (root / "docs/a.md").write_text("other")
        outcomes.append(("changed file", check(root) == 1))
        (root / "docs/a.md").unlink()
        outcomes.append(("missing file", check(root) == 1))
        (root / "docs/a.md").write_text("docs/a.md")
        (root / "docs/c.md").write_text("new")
        outcomes.append(("new file", check(root) == 1))
        (root / "docs/c.md").unlink()
        text = (root / MANIFEST).read_text()
        root_hash = json.loads(text)["merkle_root"]
        (root / MANIFEST).write_text(text.replace(root_hash, "0" * 64))
        outcomes.append(("false root", check(root) == 1))
    failed = [name for name, ok in outcomes if not ok]
    print(f"self-test: {len(outcomes)} checks, {len(failed)} failures {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["self-test"]:
        sys.exit(self_test())
    if len(sys.argv) != 3 or sys.argv[1] not in ("write", "check"):
        sys.exit(__doc__)
    sys.exit({"write": write, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2])))
