"""The remedies of the library as options of the command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from suffice.errors import InPython, Made, Mention, Part, Passed, Remedy, Value, is_number, worded

PRIORS = {
    "BDeu": "bdeu",
    "Dirichlet": "dirichlet",
    "K2": "k2",
    "Jeffreys": "jeffreys",
    "BGe": "bge",
    "NormalInverseGamma": "nig",
    "NormalInverseWishart": "niw",
    "HyperInverseWishart": "hiw",
    "Gaussian": "gaussian",
    "Laplace": "laplace",
}
"""What a prior is called behind ``--prior``."""
CLASSIFIED = ("categorical", "bernoulli", "gaussian", "tied_gaussian", "multinomial")


class Option(Protocol):
    """A parameter of a command, and how it is written."""

    opts: list[str]


class Command(Protocol):
    """A command, and its parameters."""

    @property
    def params(self) -> Sequence[Option]:
        """Its arguments and options."""


@dataclass(frozen=True)
class Scope:
    """The options that an error may name: those of the command that runs, and those of the command that fits.

    Attributes
    ----------
    own : set of str
        Options of the command.
    fitting : set of str
        Options of the command of the same group that fits: ``suffice fit`` beside ``suffice query``.
    fit : str
        What that command is called.
    """

    own: frozenset[str]
    fitting: frozenset[str] = frozenset()
    fit: str = ""

    @classmethod
    def of_command(cls, command: Command, fit: Command | None = None, path: str = "suffice") -> Scope:
        """Return the scope of a command beside the one that fits, in a group that is called ``path``."""
        return cls(_options(command), frozenset() if fit is None else _options(fit), f"{path} fit")

    def say(self, said: str, options: frozenset[str], of_fits: bool) -> str | None:
        """Return what names these options, with the command that has them; None where none has them all."""
        if options <= self.own:
            return said
        return f"{said} of {self.fit}" if of_fits and options <= self.fitting else None


CURRENT: ContextVar[Scope | None] = ContextVar("CURRENT", default=None)
"""The scope of the command that runs."""


def _options(command: Command) -> frozenset[str]:
    return frozenset(name for option in command.params for name in option.opts)


def option_of(part: Remedy | Passed | Mention | Made, scope: Scope | None = None) -> Part | None:
    """Return how a command says a part; what it has no option for, it says to be Python's.

    Without a scope it is that of the command that runs, if one does.

    >>> option_of(Remedy("missing", "drop", "to leave out incomplete rows"))
    '--missing drop to leave out incomplete rows'
    >>> option_of(Remedy("schema", {"age": Made("continuous")})), option_of(Made("BDeu", (10,)))
    ("--continuous 'age'", '--prior bdeu:10')
    >>> option_of(Remedy("fixed", {"A": [0.5]}))
    "in Python, fixed={'A': [0.5]}"
    >>> query = Scope(frozenset({"--given"}), frozenset({"--unseen-parents"}), "suffice fit")
    >>> option_of(Remedy("unseen_parents", "uniform"), query), option_of(Remedy("tol", 0.1), query)
    ('--unseen-parents uniform of suffice fit', 'in Python, tol=0.1')
    """
    scope = scope or CURRENT.get()
    said = _said(part)
    if scope is None or not isinstance(said, str):
        return said
    found = scope.say(said, _options_of(part), _names(part) <= OF_FITS)
    if found is not None:
        return found
    if isinstance(part, Remedy) and part.argument == "kinds":
        return f"kinds = {_entry(part.value)} in a structure file"
    return part if isinstance(part, Mention) else InPython(f"in Python, {part}")


def _said(part: Remedy | Passed | Mention | Made) -> Part | None:
    if isinstance(part, Made):
        return f"--prior {_prior(part)}"
    if isinstance(part, Mention):
        is_option = part.kind == "subject" and part.what in NAMES
        return f"The option {NAMES[part.what]}" if is_option else MENTIONS.get(part.what, part)
    if isinstance(part, Passed):
        return _option(part)
    others = "".join(f" and {_option(Passed(name, value))}" for name, value in part.beside)
    return f"{_option(part)}{others} {part.why}".rstrip()


def _names(part: Remedy | Passed | Mention | Made) -> set[str]:
    """Return the arguments that a part is about."""
    if isinstance(part, Made):
        return {"prior"}
    if isinstance(part, Mention):
        return {part.what}
    return {part.argument} | ({name for name, _ in part.beside} if isinstance(part, Remedy) else set())


def _options_of(part: Remedy | Passed | Mention | Made) -> frozenset[str]:
    """Return the options that the command line's words for a part name."""
    if isinstance(part, Mention):
        said = NAMES[part.what] if part.kind == "subject" and part.what in NAMES else MENTIONS.get(part.what)
        return frozenset(re.findall(r"--[a-z][a-z0-9-]*", said or "")) if part.what not in ELSEWHERE else frozenset()
    if isinstance(part, Made):
        return frozenset({"--prior"})
    given = [(part.argument, part.value), *(part.beside if isinstance(part, Remedy) else ())]
    return frozenset().union(*(_options_for(name, value) for name, value in given))


def _options_for(name: str, value: Value) -> frozenset[str]:
    if name == "schema":
        assert isinstance(value, Mapping)
        return frozenset(f"--{kind.name if isinstance(kind, Made) else 'categorical'}" for kind in value.values())
    if name == "kinds":
        assert isinstance(value, Mapping)
        return frozenset({"--kind"}) if all(kind in CLASSIFIED for kind in value.values()) else frozenset()
    if name in IN_FORMS:
        return frozenset({IN_FORMS[name]})
    return frozenset({NAMES[name]}) if name in NAMES else frozenset()


def _option(part: Remedy | Passed) -> str:
    name, value = part.argument, part.value
    if name in FORMS:
        return FORMS[name](value)
    if name in NAMES:
        return f"{NAMES[name]} {_word(value)}"
    return f"{name} = {_entry(value)} in a structure file" if name in ENTRIES else f"in Python, {part}"


def as_options(message: str) -> str:
    """Return a message of the library with its remedies as options."""
    return worded(message, option_of)


# Values -----------------------------------------------------------------------------------------------------------


def _word(value: Value) -> str:
    return f"{value:g}" if is_number(value) else shlex.quote(str(value))


def _quoted(name: object) -> str:
    return f"'{name}'"


def _prior(prior: Value) -> str:
    """Return a prior behind ``--prior``."""
    if not isinstance(prior, Made):
        return "none" if prior is None else str(prior)
    numbers = [*prior.args, *(value for _, value in prior.named)]
    return ":".join([PRIORS[prior.name], *map(_word, numbers)])


def _priors(value: Value) -> str:
    """Return one prior, those of a list, or those of nodes."""
    if isinstance(value, Mapping):
        return " ".join(f"--prior '{node}={_prior(prior)}'" for node, prior in value.items())
    each = value if isinstance(value, list | tuple) else [value]
    return " ".join(f"--prior {_prior(prior)}" for prior in each)


def _declared(value: Value) -> str:
    """Return a schema as one option per column."""
    assert isinstance(value, Mapping)
    said = []
    for name, kind in value.items():
        states = kind.args[0] if isinstance(kind, Made) and kind.args else kind
        listed = f"={','.join(map(str, states))}" if isinstance(states, list | tuple) else ""
        said.append(f"--{kind.name if isinstance(kind, Made) else 'categorical'} {_quoted(name)}{listed}")
    return " ".join(said)


def _kinds(value: Value) -> str:
    """Return kinds of a classifier's columns as options, those of nodes as an entry of a structure file."""
    assert isinstance(value, Mapping)
    if all(kind in CLASSIFIED for kind in value.values()):
        return " ".join(f"--kind {_quoted(name)}={kind}" for name, kind in value.items())
    return f"kinds = {_entry(value)} in a structure file"


def _entry(value: Value) -> str:
    """Return a value of a structure file.

    >>> _entry({"a b": {"kind": "noisy_or", "leak": True}})
    "{ 'a b' = { kind = 'noisy_or', leak = true } }"
    """
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(name)} = {_entry(entry)}' for name, entry in value.items())} }}"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else f"'{name}'"


def _own(value: Value) -> str:
    assert isinstance(value, Mapping)
    return " ".join(f"--option {name}={_word(each)}" for name, each in value.items())


def _separator(value: Value) -> str:
    return f"--separator {'tab' if value == chr(9) else repr(value)}"


OF_FITS = {
    *("prior", "point", "unseen_parents", "class_prior", "smoothing", "kinds", "schema", "covariance", "bayes"),
    *("shrinkage", "towards", "divisor", "penalty", "c1", "c2", "transitions", "min_freq", "binarize"),
}
"""Arguments of fits, which errors of other commands advise, too."""
ELSEWHERE = ("unknown state", "fit by em")
"""Pieces of advice on what was done before, by another command."""
ENTRIES = ("initial", "id", "variable")
"""Arguments that are entries of a structure file."""
NAMES = {
    "alpha": "--alpha",
    "binarize": "--binarize",
    "bootstrap": "--bootstrap",
    "boundary": "--boundary",
    "c1": "--c1",
    "c2": "--c2",
    "certify": "--certify",
    "checkpoint": "--checkpoint",
    "class_prior": "--class-prior",
    "covariance": "--covariance",
    "divisor": "--divisor",
    "draws": "--draws",
    "encoding": "--encoding",
    "folds": "--folds",
    "given": "--given",
    "graph": "--graph",
    "impossible": "--impossible",
    "init": "--init",
    "interval": "--interval",
    "kinds": "--kind",
    "level": "--level",
    "max_iter": "--max-iter",
    "max_tests": "--max-tests",
    "memory": "--memory",
    "method": "--method",
    "min_freq": "--min-freq",
    "missing": "--missing",
    "model": "--model",
    "n_best": "--n-best",
    "n_buckets": "--hash",
    "patience": "--patience",
    "penalty": "--penalty",
    "point": "--point",
    "prior": "--prior",
    "reference": "--reference",
    "restarts": "--restarts",
    "rule": "--rule",
    "scheme": "--scheme",
    "seed": "--seed",
    "shrinkage": "--shrinkage",
    "skip": "--skip",
    "smoothing": "--smoothing",
    "start": "--start",
    "states": "--states",
    "strength": "--strength",
    "threads": "--threads",
    "tol": "--tol",
    "towards": "--towards",
    "transitions": "--transitions",
    "unknown_states": "--unknown-states",
    "unseen_parents": "--unseen-parents",
    "weights": "--weights",
}
"""The option of an argument."""
FORMS: Mapping[str, Callable[[Value], str]] = {
    "bayes": lambda value: "--bayes" if value else "leave --bayes out",
    "folds": lambda value: f"--folds {_word(value or 0)}",
    "kinds": _kinds,
    "na_values": lambda value: (
        " ".join(f"--na {text!r}" for text in value if text not in ("", "?"))
        if isinstance(value, list | tuple)
        else "--na"
    ),
    "options": _own,
    "penalty": lambda value: f"--penalty {value or 'none'}",
    "prior": _priors,
    "schema": _declared,
    "separator": _separator,
}
"""How the value of an argument is written, where it is not one word behind the option."""
IN_FORMS = {
    "bayes": "--bayes",
    "folds": "--folds",
    "na_values": "--na",
    "options": "--option",
    "penalty": "--penalty",
    "prior": "--prior",
    "separator": "--separator",
}
"""The option of what has a form of its own."""
MENTIONS: Mapping[str, str | None] = {
    "feature": None,
    "score()": None,
    "Categorical": 'type = "Categorical"',
    "MultivariateNormal": 'type = "MultivariateNormal"',
    "Bernoulli": "states = [failure, success]",
    "Priors": "Each --prior of several",
    "Those of parameters": "In Python, those of parameters are in",
    "declare": "Declare them by --categorical COL=a,b",
    "declare them": "declare them by --categorical COL=a,b",
    "data beside": None,
    "data of a certificate": "The certificate needs the data itself; pass it to suffice fit",
    "data of a method": "The method needs the data itself; pass it to suffice fit",
    "fit by em": "suffice fit STRUCTURE DATA --missing em",
    "given": "--given COL=…",
    "given=": "--given",
    "id": 'id = "…" in a structure file',
    "in the schema": "by --categorical COL=a,b",
    "initial": "initial in a structure file",
    "interval": "--interval",
    "log_prob": "Densities are what suffice score adds up.",
    "names": "--names",
    "probabilities": "list such as yes=0.3,no=0.7",
    "standard_errors": "in Python, fit.standard_errors(data)",
    "states": "states by --categorical COL=a,b",
    "support": "support = { COL = [0, 1] } in a structure file",
    "unknown state": "Correct it, declare it where the model is fitted, --categorical COL=a,b, or pass ",
    "variable": 'variable = "…" in a structure file',
    "CSV": "--separator ','",
    "Expert(network, 10)": "--prior expert:FILE:10",
    "Expert(network, ess, uniform=0.01)": "--prior expert:FILE:10:0.01",
    "Gaussian": "--prior gaussian:1",
    "GaussianBayes": "--model gaussian",
    "HyperInverseWishart": "--prior hiw:3:1",
    "HyperInverseWishart(dof, scale)": "--prior hiw:DOF:SCALE",
    "HyperInverseWishart(dof, scale, mean)": "--prior hiw:DOF:SCALE:MEAN",
    "JointBayes": "--model joint",
    "Laplace": "--prior laplace:1",
    "NaiveBayes": "--model naive",
    "NormalInverseGamma": "--prior nig:2:1",
    "Potts": 'type = "Potts"',
    "SoftmaxRegression": "--model softmax",
    "alpha": "--alpha …",
    "fixed": "fixed={…} in Python",
    "graph": "--graph …",
    "max_iter": "--max-iter",
    "raise max_iter": "Raise --max-iter",
    "larger tolerance": "try a larger --tol or another --method",
    "memory": "--memory",
    "min_freq": "--min-freq",
    "more steps": "allow more by --max-iter",
    "seed": "--seed",
    "start": "--start FILE",
    "warm_start": None,
}
"""How the command line says what has no value of its own, or is a piece of advice with words of its own."""
