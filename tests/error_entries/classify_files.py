"""Errors of answers against observed classes."""

from __future__ import annotations

from tests.error_catalogue import A, entry

from suffice.data.variable import Variable
from suffice.result.confusion import Confusion

NO_YES, COLOURS = Variable("spam", ("no", "yes")), Variable("colour", ("red", "blue"))

entry("answers about two classes", A, lambda w: Confusion.empty(NO_YES) + Confusion.empty(COLOURS), "'spam'",
      "'colour'", "not the same classes", "Add answers of one classifier")  # fmt: skip
