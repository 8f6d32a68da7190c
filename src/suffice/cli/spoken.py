"""The remedies of the library, said as options of the command line."""

from __future__ import annotations

import re
from collections.abc import Callable

Found = re.Match[str]


def _number(text: str) -> str:
    """Return ``1`` for ``1.0``."""
    return text.removesuffix(".0")


def _prior(name: str) -> Callable[[Found], str]:
    """Return how the numbers of a prior are said."""
    return lambda found: f"--prior {':'.join([name, *map(_number, found.groups())])}"


def _several(found: Found) -> str:
    """Return the parts of a list of priors, each to be said by itself."""
    return found[1].replace("), ", ") ").replace(" None", " --prior none")


def _of_node(found: Found) -> str:
    """Return the prior of one node."""
    said = spoken(found[2]).removeprefix("--prior ")
    return f"--prior '{found[1]}={said}'"


def _declared(found: Found) -> str:
    """Return a schema as one option per column."""
    return " ".join(f"--{kind} '{name}'" for name, kind in re.findall(r"'([^']+)': sf\.(\w+)\(\)", found[1]))


def _kinds(found: Found) -> str:
    """Return the kinds of a classifier's columns as one option per column."""
    return " ".join(f"--kind '{name}'={kind}" for name, kind in re.findall(r"'([^']+)': '(\w+)'", found[1]))


def _option(found: Found) -> str:
    """Return an argument as the option of its name."""
    return f"The option --{found[1].replace('_', '-')}"


def _entry(found: Found) -> str:
    """Return ``kinds={'y': {'leak': True}}`` as an entry of a structure file."""
    text = re.sub(r"'([^']+)': ", lambda name: f"{_key(name[1])} = ", found[2]).replace("…: ", "NODE = ")
    text = re.sub(r"\{(?! )", "{ ", re.sub(r"(?<! )\}", " }", text))
    return f"{found[1]} = {text.replace('True', 'true').replace('False', 'false')} in a structure file"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else f"'{name}'"


NUMBER = r"([\d.]+)"
SPOKEN: tuple[tuple[str, str | Callable[[Found], str]], ...] = (
    (r"log_prob sums gaps out", "suffice score sums gaps out"),
    (r"missing='(drop|em|marginalise)'", r"--missing \1"),
    (r"unknown_states='missing'", "--unknown-states missing"),
    (r"unseen_parents='(\w+)'", r"--unseen-parents \1"),
    (r"impossible='nan'", "--impossible nan"),
    (r"schema=\{((?:'[^']+': sf\.(?:categorical|continuous)\(\)(?:, )?)+)\}", _declared),
    (r"(?:read it by )?sf\.CSV\([^)]*separator=('[^']*')\)", r"--separator \1"),
    (r"sf\.CSV\([^)]*skip=(\d+)\)", r"--skip \1"),
    (r"(?<!\w)skip=(\d+)", r"--skip \1"),
    (r"more than once in 'names'", "more than once in --names"),
    (r"na_values=\[[^]]*?('[^']*')\]", r"--na \1"),
    # Priors
    (r"prior=\[(sf\.[^]]*)\]", _several),
    (r"prior=\{'([^']+)': (sf\.\w+\([^)]*\))\}", _of_node),
    (r"None(?=, which fits the nodes)", "--prior none"),
    (r"(?:prior=)?sf\.BDeu\((\d+)\)", r"--prior bdeu:\1"),
    (r"(?:prior=)?sf\.(K2|Jeffreys)\(\)", lambda found: f"--prior {found[1].lower()}"),
    (rf"(?:prior=)?sf\.Dirichlet\({NUMBER}\)", _prior("dirichlet")),
    (r"sf\.Expert\(network, (\d+)\)", r"--prior expert:FILE:\1"),
    (r"sf\.Expert\(network, ess, uniform=([\d.]+)\)", r"--prior expert:FILE:10:\1"),
    (rf"(?:prior=)?sf\.(Gaussian|Laplace)\({NUMBER}\)", lambda found: f"--prior {found[1].lower()}:{found[2]}"),
    (r"(?:prior=)?sf\.(Gaussian|Laplace)\(…\)", lambda found: f"--prior {found[1].lower()}:1"),
    (rf"(?:prior=)?sf\.NormalInverseGamma\({NUMBER}, {NUMBER}\)", _prior("nig")),
    (r"(?:prior=)?sf\.NormalInverseGamma(?:\(…\))?(?!\w|\()", "--prior nig:2:1"),
    (rf"(?:prior=)?sf\.HyperInverseWishart\({NUMBER}, {NUMBER}\)", _prior("hiw")),
    (r"(?:prior=)?sf\.HyperInverseWishart\(…\)", "--prior hiw:3:1"),
    (r"sf\.HyperInverseWishart\(dof, scale\)", "--prior hiw:DOF:SCALE"),
    (r"sf\.HyperInverseWishart\(dof, scale, mean(?:=0\.0)?\)", "--prior hiw:DOF:SCALE:MEAN"),
    (
        rf"sf\.NormalInverseWishart\(mean={NUMBER}, mean_weight={NUMBER}, dof={NUMBER}, scale={NUMBER}\)",
        _prior("niw"),
    ),
    (r"Each part of sf\.Priors", "Each --prior of several"),
    # Settings of estimates, answers and draws
    (r"options=\{'(\w+)': '?(\w+)'?\}", r"--option \1=\2"),
    (r"max_iter=…", "--max-iter"),
    (r",( or go on)?( from these weights)? by warm_start=True", ""),  # a command begins anew
    (r"min_freq=…", "--min-freq"),
    (r"method='sampling' to query", "--method sampling"),
    (r"method='(\w+)'", r"--method \1"),
    (r"point='(\w+)'", r"--point \1"),
    (r"divisor='([\w-]+)'", r"--divisor \1"),
    (r"(?<!\w)draws=(\d+)", r"--draws \1"),
    (r"(?<!\w)folds=None", "--folds 0"),
    (r"The '(folds)' argument", _option),
    (r"with start=…", "with --start FILE"),
    (r"sf\.config\(memory='(\w+)'\)", r"--memory \1"),
    # Declarations and evidence
    (r"declare them by schema=", "declare them by --categorical COL=a,b"),
    (r"Declare them in the schema", "Declare them by --categorical COL=a,b"),
    (r"a schema with states", "states by --categorical COL=a,b"),
    (r"Add it to the schema", "Correct it, declare it where the model is fitted, --categorical COL=a,b"),
    (r"schema=\{'([^']+)': \[0, 1\]\}", r"--categorical '\1'=0,1"),
    (r"given=\{'([^']+)': …\}", r"--given '\1'=…"),
    (r"given= out", "--given out"),
    # Classifiers
    (r"The '(covariance|shrinkage|towards|graph|alpha|divisor|class_prior|reference|rule|binarize)' argument", _option),
    (r"Choose another threshold; or, where the two numbers are the states, binarize=None", "Choose another threshold"),
    (r"(?<!\w)binarize=([-\d.e]*\d)", r"--binarize \1"),
    (r"The '(missing|unknown_states|unseen_parents|certify|tol)' argument", _option),
    (r"The '(level|bootstrap|max_tests)' argument", _option),
    (r"The '(model|missing|penalty)' option", _option),
    (r"The 'kinds' argument(?= names)", "The option --kind"),
    (r"""The "kinds\[('[^']+')\]" argument(?= must be one of \['categorical')""", r"The option --kind \1=…"),
    (r"'oas', 'ledoit_wolf' or None", "oas or ledoit_wolf"),
    (r"a mapping from classes to probabilities", "probabilities of all classes as in yes=0.3,no=0.7"),
    (r"Declare it sf\.continuous\(\)", "Declare it --continuous"),
    (r"Leave such rows out: to learn", "Leave such rows out, or all incomplete ones by --missing drop: to learn"),
    (r"kinds=\{((?:'[^']+': '(?:\w*gaussian|categorical|bernoulli|multinomial)'(?:, )?)+)\}", _kinds),
    (r"class_prior='?(\w+)'?(?:\.0)?", r"--class-prior \1"),
    (r"sf\.(Naive|Gaussian|Joint)Bayes", lambda found: f"--model {found[1].lower()}"),
    (r"sf\.SoftmaxRegression", "--model softmax"),
    (r"(?<!\w)(covariance|towards|shrinkage|penalty)='(\w+)'", r"--\1 \2"),
    (r"(?<!\w)(shrinkage|alpha)=([\d.]*\d)", r"--\1 \2"),
    (r"(?<!\w)(graph|alpha|strength)=…", r"--\1 …"),
    (r"bayes=True", "--bayes"),
    (r"missing='available'", "--missing available"),
    # Sequences
    (r"encoding='([\w-]+)'", r"--encoding \1"),
    (r"separator='\\t'", "--separator tab"),
    (r"scheme='(\w+)'", r"--scheme \1"),
    (r"(?<!\w)(states|transitions)='(all|observed)'", r"--\1 \2"),
    (r"The '(c1|c2|states|transitions|min_freq|patience|boundary|scheme|threads|n_best)' argument", _option),
    (r"The 'n_buckets' argument", "The option --hash"),
    (r"The 'encoding' argument", "The option --encoding"),
    # Structure files
    (r"(kinds)=(\{[^{}]*(?:\{[^{}]*\})?[^{}]*\})", _entry),
    (r"(?<!\w)(initial|variable|id)='([^']+)'", r'\1 = "\2" in a structure file'),
    (r"sf\.Features\(…, support=\{('[^']+'): \(0, 1\)\}\)", r"support = { \1 = [0, 1] }"),
    (r"sf\.(Categorical|MultivariateNormal)\([^)]*…[^)]*\)", r'type = "\1"'),
    (r"sf\.Bernoulli\('[^']*', (\[[^]]*\])\)", r"states = \1"),
    (r"sf\.Potts", 'type = "Potts"'),
    (r"Leave 'interval' out", "Leave --interval out"),
    # What only Python has
    (r"fit\.standard_errors\(data\) tells", "in Python, fit.standard_errors(data) tells"),
    (r"fixed=\{…\}", "fixed={…} in Python"),
    (r"Those of parameters (are in fit\.posterior)", r"In Python, those of parameters \1"),
    (r"Use a function, sf\.feature\(lambda [^)]*\), or declare", "Declare"),
    (r"Use model\.log_prob, or model\.expected\([^)]*\)", "Densities are what suffice score adds up"),
)
"""How the remedies of the library are said on the command line, in the order in which they are looked for."""


def spoken(message: str) -> str:
    """Say a message's remedies as options.

    >>> spoken("Pass missing='drop', or schema={'age': sf.continuous()}.")
    "Pass --missing drop, or --continuous 'age'."
    >>> spoken("Say which: schema={'age': sf.continuous(), 'n': sf.continuous()}.")
    "Say which: --continuous 'age' --continuous 'n'."
    >>> spoken("Use prior=[sf.BDeu(10), sf.NormalInverseGamma(2, 1.0)].")
    'Use --prior bdeu:10 --prior nig:2:1.'
    >>> spoken("Allow one: kinds={'fever': {'kind': 'noisy_or', 'leak': True}}.")
    "Allow one: kinds = { fever = { kind = 'noisy_or', leak = true } } in a structure file."
    """
    for python, option in SPOKEN:
        message = re.sub(python, option, message)
    return message
