"""JointClasses: a class and the joint table of its inputs, of which nothing is assumed to be independent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from suffice.structures.class_columns import ClassColumns, input_names
from suffice.structures.class_prior import ClassPrior
from suffice.text import shorten

if TYPE_CHECKING:
    from suffice.models.joint_classes import JointClassModel
    from suffice.result.fit import Fit
    from suffice.types import Entry, Json


SHOWN_INPUTS = 6


@dataclass(frozen=True)
class JointClasses(ClassColumns["Fit[JointClassModel, JointClasses]"]):
    """A class y with the joint table of its inputs: p(y) p(x_1, …, x_d | y).

    Parameters
    ----------
    target : str
        The column of classes.
    inputs : tuple of str
        Discrete columns; without any, the model is p(y).
    class_prior : ClassPrior, str, float or mapping
        Where p(y) comes from: see `suffice.structures.class_prior.ClassPrior.of`.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"sky": ["grey", "grey", "blue"], "wind": ["yes", "no", "no"], "rain": ["yes", "no", "no"]}
    >>> structure = JointClasses("rain", ("sky", "wind"))
    >>> print(structure)
    p(rain) p(sky, wind | rain)
    >>> print(sf.fit(structure, data).model)
    p(sky, wind | rain)
    sky   wind      no  yes
    ----  ----  ------  ---
    blue  no    0.5000    0
    blue  yes        0    0
    grey  no    0.5000    0
    grey  yes        0    1
    """

    target: str
    inputs: tuple[str, ...]
    class_prior: ClassPrior = field(default_factory=ClassPrior)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", input_names(self.target, self.inputs, some=False))
        object.__setattr__(self, "class_prior", ClassPrior.of(self.class_prior))

    # What the structure says ----------------------------------------------------------------------------------

    # Rendering ------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        target = shorten(self.target)
        return f"p({target}) p({shown_inputs(self.inputs)} | {target})" if self.inputs else f"p({target})"

    def __repr__(self) -> str:
        said = "" if self.class_prior == ClassPrior() else f", class_prior={self.class_prior!r}"
        return f"JointClasses({self.target!r}, {self.inputs!r}{said})"

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        return {
            "type": "JointClasses",
            "target": self.target,
            "inputs": list(self.inputs),
            "class_prior": self.class_prior.to_dict(),
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> JointClasses:
        """Rebuild the structure from `to_dict`'s data."""
        return cls(entry["target"], tuple(entry["inputs"]), ClassPrior.from_dict(entry["class_prior"]))


def shown_inputs(names: tuple[str, ...]) -> str:
    """List inputs in a formula, the first few of many.

    >>> shown_inputs(("a", "b")), shown_inputs(tuple("abcdefgh"))
    ('a, b', 'a, b, c, d, e, … 3 more')
    """
    if len(names) <= SHOWN_INPUTS:
        return ", ".join(map(shorten, names))
    first = names[: SHOWN_INPUTS - 1]
    return f"{', '.join(map(shorten, first))}, … {len(names) - len(first)} more"
