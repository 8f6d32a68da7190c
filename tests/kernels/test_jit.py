"""Kernels may call those of other files, since the cache's folder is named after the contents of all of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numba

from suffice.kernels import jit


def test_an_edit_of_any_kernel_file_gives_another_cache(tmp_path: Path) -> None:
    copy = tmp_path / "kernels"
    shutil.copytree(jit.HERE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    seen = {jit.fingerprint(copy)}
    assert seen == {jit.FINGERPRINT}
    for path in sorted(copy.glob("*.py")):
        path.write_text(path.read_text() + "# another line\n")
        seen.add(jit.fingerprint(copy))
    assert len(seen) == 1 + len(list(copy.glob("*.py")))


def test_kernels_are_cached_in_the_folder_of_their_fingerprint() -> None:
    from suffice.kernels.loops import sweep

    assert f"kernels-{jit.FINGERPRINT}" in sweep.stats.cache_path


def test_the_users_own_functions_keep_their_cache() -> None:
    before = numba.config.CACHE_DIR
    jit.kernel(lambda x: x + 1)
    assert before == numba.config.CACHE_DIR
