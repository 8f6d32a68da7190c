"""The committed types of the kernels are those that their bindings have."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from nanobind.stubgen import StubGen
from tests.native.fuzzing import subjects

import suffice.native

HERE = Path(suffice.native.__file__).parent


@pytest.mark.parametrize("subject", subjects())
def test_stub_is_as_generated(subject: str) -> None:
    module = importlib.import_module(f"suffice.native.{subject}")
    stub = StubGen(module)
    stub.put(module)
    written = (HERE / f"{subject}.pyi").read_text(encoding="utf-8")
    assert written == stub.get(), "Signatures have changed: run 'make stubs'."


def test_every_source_is_a_subject() -> None:
    assert sorted(path.stem for path in HERE.glob("*.cpp")) == sorted(subjects())
    assert sorted(path.stem for path in HERE.glob("*.pyi")) == sorted(subjects())
