#!/usr/bin/env python3
"""Compares what two builds of mcpreel say about the same recordings.

    tests/oracle.py OLD NEW [--quick] [FOLDER ...]

OLD and NEW are binaries. FOLDER holds recordings, cassettes and spools (`*.reel`, `*.jsonl`,
`*.spool`); without one it is `recordings`. Each binary works on a copy of its own. Prints a diff
for every command whose output or exit code differs, then a count per command; exits with 1 when
anything differs. `--quick` runs the commands that print JSON only.
"""

import collections
import difflib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FACTS = [
    ["show", "--json"],
    ["show", "--json", "--frames"],
    ["why", "--json"],
    ["lint", "--json", "--fail-on", "never"],
    ["stats", "--json"],
    ["search", "--json", "e"],
    ["redact", "--json", "-o", "OUT.reel"],
    ["export", "--format", "jsonl"],
]
FORMS = [
    ["export", "--format", "jsonl", "--raw"],
    ["export", "--format", "markdown"],
    ["export", "--format", "otlp"],
    ["export", "--format", "perfetto"],
    ["show"],
    ["show", "--frames"],
    ["why"],
    ["lint", "--fail-on", "never"],
    ["stats"],
]


def run(binary, folder, words):
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    environment = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "MCPREEL_DIR": str(folder),
        "TZ": "UTC",
        "COLUMNS": "100",
    }
    done = subprocess.run(
        [binary, *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )
    text = done.stdout.decode("utf-8", "backslashreplace").replace(str(folder), "DIR")
    return [f"exit {done.returncode}", *map(in_order, text.split("\n"))]


def in_order(line):
    """The order of members is no fact."""
    try:
        return json.dumps(json.loads(line), sort_keys=True, ensure_ascii=False)
    except ValueError:
        return line


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if len(words) < 2:
        sys.exit(__doc__)
    binaries = [os.path.abspath(word) for word in words[:2]]
    folders = words[2:] or ["recordings"]
    commands = FACTS if "--quick" in sys.argv else FACTS + FORMS
    with tempfile.TemporaryDirectory() as temporary:
        copies = []
        for side in ["old", "new"]:
            copy = pathlib.Path(temporary) / side / "recordings"
            copy.mkdir(parents=True)
            for folder in folders:
                for file in sorted(pathlib.Path(folder).iterdir()):
                    if file.suffix in (".reel", ".jsonl", ".spool"):
                        shutil.copy(file, copy / file.name)
            copies.append(copy)
        stems = {file.stem: file.suffix for file in sorted(copies[0].iterdir())}
        names = [stem + (".reel" if end == ".spool" else end) for stem, end in stems.items()]
        differing = collections.Counter()
        asked = collections.Counter()

        def compare(label, words):
            kind = " ".join(label)
            asked[kind] += 1
            old, new = (run(binary, copy, words) for binary, copy in zip(binaries, copies))
            if old != new:
                differing[kind] += 1
                print(f"=== {' '.join(words)}")
                for line in list(difflib.unified_diff(old, new, "old", "new", lineterm="", n=0))[2:42]:
                    print(line[:400])

        for name in names:
            for words in commands:
                # Both write their copy under the same name, each in its own folder.
                at = 1 if words[0] != "search" else len(words)
                whole = [*words[:at], *([name] if at == 1 else []), *words[at:], *([name] if at > 1 else [])]
                compare(words, [word.replace("OUT", "redacted-" + name) for word in whole])
        compare(["ls", "--json"], ["ls", "--json"])
        for left, right in zip(names, names[1:]):
            compare(["diff", "--json"], ["diff", left, right, "--json"])
        for kind, number in asked.items():
            print(f"{differing[kind]:6d} of {number:6d} differ: {kind}")
        sys.exit(1 if differing else 0)


main()
