"""Do what README shows with a file of one's own, by an installed ``suffice`` alone.

``python tests/from_readme.py README.md path/to/suffice`` writes the CSV files of README into an empty folder, runs
its commands there, and looks at the report that they leave.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

NAMED = re.compile(r"`([\w.-]+)`:\n\n```csv\n(?!# )(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main(readme: str, program: str) -> None:
    """Follow README in an empty folder."""
    blocks = BLOCK.findall(Path(readme).read_text(encoding="utf-8"))
    suffice = str(Path(program).resolve())
    with tempfile.TemporaryDirectory() as folder:
        for name, content in NAMED.findall(Path(readme).read_text(encoding="utf-8")):
            (Path(folder) / name).write_text(content, encoding="utf-8")
        commands = [
            line[2:]
            for name, content in blocks
            if name == "console"
            for line in content.splitlines()
            if line.startswith("$ ")
        ]
        for command in commands:
            _, *arguments = shlex.split(command)
            subprocess.run([suffice, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        pages = sorted(Path(folder).glob("*.html"))
        assert pages, "README's commands leave no report"
        for page in pages:
            assert "Certified" in page.read_text(encoding="utf-8"), (
                f"{page.name} does not say that the fit is certified"
            )
        print(f"README's {len(commands)} commands ran on a file of one's own; reports: {[page.name for page in pages]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
