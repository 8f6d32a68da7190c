"""Kernels of labels return the same bits at every level of instructions."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.native.fuzzing import cases, run_block

from suffice.native import label_chains, label_paths

SCRIPT = """
import sys
from tests.native.fuzzing import cases, run_block
from suffice.native import label_chains, label_paths
print(label_chains.level(), label_paths.level())
for name, case in cases(sys.argv[1]).items():
    print(name, run_block(name, case, 0).digest)
"""


@pytest.mark.parametrize("subject", ["label_chains", "label_paths"])
def test_the_baseline_returns_the_same_bits(subject: str) -> None:
    environment = os.environ | {"SUFFICE_NATIVE_LEVEL": "baseline", "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, subject], env=environment, capture_output=True, text=True, check=True
    )
    level, *found = ran.stdout.splitlines()
    assert level == "baseline baseline"
    assert found == [f"{name} {run_block(name, case, 0).digest}" for name, case in cases(subject).items()]


def test_all_modules_choose_the_same_level() -> None:
    assert label_chains.level() == label_paths.level()
    assert label_chains.level() in {"avx2", "baseline"}
