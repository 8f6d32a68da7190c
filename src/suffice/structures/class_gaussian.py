"""ClassGaussian: a class, and inputs that are normal within each class; what is known before the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.errors import (
    ArgumentError,
    Mention,
    Passed,
    Remedy,
    StructureError,
    SufficeError,
    Text,
    is_number,
    listing,
    require_choice,
    shown,
    the_argument,
)
from suffice.structures.class_columns import ClassColumns, input_names
from suffice.structures.class_prior import ClassPrior, ClassPriorLike
from suffice.structures.gaussian_markov import GaussianMarkov

if TYPE_CHECKING:
    from suffice.models.class_gaussian import ClassGaussianModel
    from suffice.result.fit import Fit
    from suffice.types import Entry, Json, UndirectedGraph


COVARIANCES = ("full", "tied", "diagonal", "tied_diagonal", "spherical", "tied_spherical", "sparse")
INTENSITIES = ("oas", "ledoit_wolf")
TARGETS = ("identity", "diagonal")
DIVISORS = ("n", "n-1")


@dataclass(frozen=True, init=False)
class ClassGaussian(ClassColumns["Fit[ClassGaussianModel, ClassGaussian]"]):
    """A Bayes classifier whose inputs are normal within each class.

    Parameters
    ----------
    target : str
        The column of the classes, read as discrete whatever its values look like.
    inputs : sequence of str
        The columns of the inputs, all continuous.
    covariance : str
        What the covariance matrices of the classes may be:

        ``"full"``
            One matrix a class: quadratic discriminant analysis.
        ``"tied"``
            One matrix for all: Fisher's linear discriminant analysis.
        ``"diagonal"``, ``"tied_diagonal"``
            Inputs are independent within a class: Gaussian naive Bayes; with variances by class or for all.
        ``"spherical"``, ``"tied_spherical"``
            One variance for all inputs, by class or for all.
        ``"sparse"``
            One matrix a class whose inverse has zeros: those of ``graph``, or those that ``alpha`` makes.
    shrinkage : float, "oas", "ledoit_wolf" or None
        ρ from 0 to 1: each matrix Σ̂ becomes (1 − ρ) Σ̂ + ρ T. See the notes. ``"oas"`` (Chen et al., 2010) finds ρ from
        the moments alone, ``"ledoit_wolf"`` (Ledoit and Wolf, 2004) by a second pass over the data; both estimate which
        ρ brings a whole matrix closest to the truth, and shrink towards the identity.
    towards : {"identity", "diagonal"}
        T: the identity times the mean variance, (tr Σ̂ / d) I, or the diagonal of Σ̂.
    graph : str, cliques, mapping, networkx.Graph or GaussianMarkov, optional
        Whatever `sf.GaussianMarkov` reads, over all inputs: pairs without an edge have a zero in each precision matrix.
    alpha : float, optional
        The graphical lasso (Friedman, Hastie and Tibshirani, 2008): α > 0 times the sum of the absolute off-diagonal
        entries of the precision matrix is the penalty on tr(Σ̂ K) − log det K.
    divisor : {"n", "n-1"}
        ``"n"`` is maximum likelihood. ``"n-1"`` is unbiased: n_k − 1 for each class, n − K for tied matrices.
    bayes : bool
        Integrate means and variances out, under a reference prior: the classes' densities are then Student's t.
    class_prior : "counted", "uniform", float or mapping
        See `ClassPrior`.

    Notes
    -----
    **Shrinkage is a prior.** Under a Wishart prior on the precision matrix K, density ∝ |K|^(ν/2) exp(−ν tr(K T)/2),
    which counts like ν observations of covariance T, the posterior mode of Σ = K⁻¹ is (n Σ̂ + ν T) / (n + ν). That is
    shrinkage with ρ = ν / (n + ν); conversely ρ stands for ν = n ρ / (1 − ρ) such observations, and fits note their
    number. T is taken from the data.

    **The reference prior** is p(μ, Σ) ∝ |Σ|^(−(d+1)/2), Jeffreys' prior of the matrix with a flat one on the means; for
    variances it is p(μ, σ²) ∝ 1/σ². It is improper, so the data must make the posterior proper: a class needs more than
    d rows (full), 2 rows (diagonal, spherical), or 1 where the variances are tied and there are enough rows in all.

    Examples
    --------
    >>> structure = ClassGaussian("species", ["length", "width"], covariance="tied")
    >>> print(structure)
    species -> length, width; covariance tied
    >>> import suffice as sf
    >>> data = {"species": ["a"] * 3 + ["b"] * 3, "length": [1.0, 2, 3, 5, 6, 7], "width": [1.0, 0, 1, 2, 1, 1]}
    >>> fit = sf.fit(structure, data)
    >>> fit.model.map({"length": 4.5, "width": 1.0})
    {'species': 'b'}
    >>> fit.certificate.ok
    True
    """

    target: str
    inputs: tuple[str, ...]
    covariance: str
    shrinkage: float | str | None
    towards: str
    graph: GaussianMarkov | None
    alpha: float | None
    divisor: str
    bayes: bool
    class_prior: ClassPrior

    def __init__(
        self,
        target: str,
        inputs: Iterable[str],
        *,
        covariance: str = "full",
        shrinkage: float | str | None = None,
        towards: str = "identity",
        graph: UndirectedGraph | GaussianMarkov | None = None,
        alpha: float | None = None,
        divisor: str = "n",
        bayes: bool = False,
        class_prior: ClassPriorLike = "counted",
    ) -> None:
        names = input_names(target, inputs)
        require_choice("covariance", covariance, COVARIANCES)
        require_choice("towards", towards, TARGETS)
        require_choice("divisor", divisor, DIVISORS)
        known = _graph(graph, names, covariance)
        settled = {
            "target": target,
            "inputs": names,
            "covariance": covariance,
            "shrinkage": _shrinkage(shrinkage, covariance, towards),
            "towards": towards,
            "graph": known,
            "alpha": _alpha(alpha, known, covariance),
            "divisor": divisor,
            "bayes": _bayes(bayes, covariance, shrinkage, divisor),
            "class_prior": ClassPrior.of(class_prior),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    # What the structure says ----------------------------------------------------------------------------------

    @property
    def continuous(self) -> frozenset[str]:
        """Columns in a continuous role: the inputs."""
        return frozenset(self.inputs)

    @property
    def is_tied(self) -> bool:
        """Whether all classes share their variances."""
        return self.covariance.startswith("tied")

    @property
    def form(self) -> str:
        """The form of a covariance matrix: ``"matrix"``, ``"diagonal"`` or ``"spherical"``."""
        last = self.covariance.removeprefix("tied_")
        return last if last in ("diagonal", "spherical") else "matrix"

    @property
    def estimate(self) -> str:
        """What a fit is, in a few words."""
        if self.bayes:
            return "Student's t under the reference prior, all parameters integrated out"
        words = "maximum likelihood" if self.shrinkage is None else "posterior mode"
        if self.divisor != "n":
            words = "method of moments"
        if self.alpha is not None:
            words = f"graphical lasso, α = {self.alpha:g}"
        if self.shrinkage is not None:
            named = {"oas": "OAS", "ledoit_wolf": "Ledoit–Wolf"}
            amount = named.get(str(self.shrinkage), f"ρ = {self.shrinkage}")
            words += f", covariances shrunk towards the {self.towards} ({amount})"
        return words if self.divisor == "n" else f"{words}, unbiased divisors"

    def n_spread(self, n_classes: int) -> int:
        """Return the number of free variances and covariances; under ``alpha`` as if there were no zeros."""
        d = len(self.inputs)
        one = {"matrix": d * (d + 1) // 2, "diagonal": d, "spherical": 1}[self.form]
        if self.graph is not None:
            one = d + len(self.graph.edges)
        return one if self.is_tied else one * n_classes

    # Rendering ------------------------------------------------------------------------------------------------

    def _settings(self) -> list[str]:
        said = [f"covariance {self.covariance}"]
        if self.graph is not None:
            said.append(f"graph {self.graph}")
        if self.alpha is not None:
            said.append(f"alpha {self.alpha:g}")
        if self.shrinkage is not None:
            said.append(f"shrinkage {self.shrinkage} towards the {self.towards}")
        if self.divisor != "n":
            said.append(f"divisor {self.divisor}")
        return said + (["bayes"] if self.bayes else [])

    def __str__(self) -> str:
        names = ", ".join(self.inputs[:8]) + (f", … {len(self.inputs) - 8} more" if len(self.inputs) > 8 else "")
        return f"{self.target} -> {names}; {', '.join(self._settings())}"

    def __repr__(self) -> str:
        return f"ClassGaussian({str(self)!r})"

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        return {
            "type": "ClassGaussian",
            "target": self.target,
            "inputs": list(self.inputs),
            "covariance": self.covariance,
            "shrinkage": self.shrinkage,
            "towards": self.towards,
            "graph": None if self.graph is None else self.graph.to_dict(),
            "alpha": self.alpha,
            "divisor": self.divisor,
            "bayes": self.bayes,
            "class_prior": self.class_prior.to_dict(),
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> ClassGaussian:
        """Rebuild the structure from `to_dict`'s data."""
        graph = entry["graph"]
        options = {name: entry[name] for name in ("covariance", "shrinkage", "towards", "alpha", "divisor", "bayes")}
        return cls(
            entry["target"],
            entry["inputs"],
            graph=None if graph is None else GaussianMarkov.from_dict(graph),
            class_prior=ClassPrior.from_dict(entry["class_prior"]),
            **options,
        )


# Arguments ----------------------------------------------------------------------------------------------------


def _graph(
    graph: UndirectedGraph | GaussianMarkov | None, names: tuple[str, ...], covariance: str
) -> GaussianMarkov | None:
    if graph is None:
        return None
    if covariance != "sparse":
        raise ArgumentError(
            the_argument("graph"),
            " is for ",
            Passed("covariance", "sparse"),
            f", and the covariance is {covariance!r}. Leave it out.",
        )
    try:
        known = GaussianMarkov(graph)
    except SufficeError as error:
        raise StructureError(
            the_argument("graph"),
            f" must be a graph over the names of the inputs, such as '{':'.join(names[:2])}'. Got "
            f"{shown(graph)} instead. ",
            error.message,
        ) from None
    odd = [name for name in known.variables if name not in names]
    absent = [name for name in names if name not in known.variables]
    if odd or absent:
        fault = f"it also names {listing(odd)}" if odd else f"it does not name {listing(absent)}"
        alone = "" if odd else f" An input without edges is named by itself, as in '… + {absent[0]}'."
        raise StructureError(the_argument("graph"), f" must be over the inputs, {listing(names)}, but {fault}.{alone}")
    return GaussianMarkov([*((name,) for name in names), *known.edges])


def _alpha(alpha: float | None, graph: GaussianMarkov | None, covariance: str) -> float | None:
    if alpha is None:
        if covariance == "sparse" and graph is None:
            raise ArgumentError(
                Passed("covariance", "sparse"),
                " needs to know which entries of the precision matrices are zero: pass ",
                Mention("graph", "graph=…"),
                ", such as 'x:y + y:z', or ",
                Mention("alpha", "alpha=…"),
                ", such as 0.1, to find them by the graphical lasso.",
            )
        return None
    if covariance != "sparse" or graph is not None:
        why = "there is a graph already" if graph is not None else f"the covariance is {covariance!r}"
        raise ArgumentError(
            the_argument("alpha"), " is for ", Passed("covariance", "sparse"), f" without a graph, and {why}."
        )
    if not is_number(alpha) or not 0 < alpha < float("inf"):
        raise ArgumentError(the_argument("alpha"), f" must be a positive, finite number. Got {shown(alpha)} instead.")
    return float(alpha)


def _shrinkage(shrinkage: float | str | None, covariance: str, towards: str) -> float | str | None:
    if shrinkage is None:
        return None
    named = isinstance(shrinkage, str) and shrinkage in INTENSITIES
    if not named and (not is_number(shrinkage) or not 0 <= shrinkage <= 1):
        raise ArgumentError(
            the_argument("shrinkage"),
            f" must be a number from 0 to 1, 'oas', 'ledoit_wolf' or None. Got {shown(shrinkage)} instead.",
        )
    if covariance.endswith("spherical") or (covariance.endswith("diagonal") and towards == "diagonal"):
        raise ArgumentError(
            f"Shrinkage towards the {towards} leaves a {covariance.replace('_', ' ')} covariance as it is. Leave the "
            "'shrinkage' argument out"
            + ("." if covariance.endswith("spherical") else Text(", or pass ", Remedy("towards", "identity"), "."))
        )
    if named and (covariance.endswith("diagonal") or towards == "diagonal"):
        raise ArgumentError(
            Passed("shrinkage", shrinkage),
            " is for whole covariance matrices that are shrunk towards the identity: ",
            Passed("covariance", "full"),
            ", 'tied' or 'sparse' with ",
            (Passed if covariance.endswith("diagonal") else Remedy)("towards", "identity"),
            ". Give a number from 0 to 1 instead, such as ",
            Remedy("shrinkage", 0.1),
            ".",
        )
    return shrinkage if named else float(shrinkage)


def _bayes(bayes: bool, covariance: str, shrinkage: float | str | None, divisor: str) -> bool:
    if not isinstance(bayes, bool):
        raise ArgumentError(f"The 'bayes' argument must be True or False. Got {shown(bayes)} instead.")
    if bayes and (covariance == "sparse" or shrinkage is not None or divisor != "n"):
        odd = (
            Text(Passed("covariance", "sparse"))
            if covariance == "sparse"
            else "shrinkage"
            if shrinkage is not None
            else "divisor"
        )
        raise ArgumentError(
            Passed("bayes", True),
            " integrates all variances out, so there is no place for ",
            odd,
            ". Leave one of them out.",
        )
    return bayes
