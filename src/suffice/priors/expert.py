"""An expert's network as a prior: as if ``ess`` cases had been seen that follow it exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, Mention, listing, require_number, shown, suggestion
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.tabular import describe_configuration
from suffice.models.markov_net import MarkovNetwork
from suffice.priors.dirichlet import DirichletPrior, positive_number


@dataclass(frozen=True, eq=False, repr=False)
class Expert(DirichletPrior):
    """Pseudo-counts from a network that an expert believes in.

    α(x_pa, x_v) = ess · p(x_pa, x_v), with the exact family marginals of the expert's network p, whose graph may differ
    from the one that is fitted. A table then holds ``ess`` in all, and without data the fit returns the network's own
    conditional distributions.

    Parameters
    ----------
    network : BayesianNetwork or MarkovNetwork
        Over the same variables (more are allowed) with the same states, in any order.
    ess : float
        The equivalent sample size: how many cases the expert's belief is worth.
    uniform : float
        How much of the uniform distribution to mix in, from 0 to 1. What the network holds impossible needs it: a
        pseudo-count must be positive.

    Examples
    --------
    >>> import suffice as sf
    >>> belief = sf.BayesianNetwork(
    ...     sf.DAG("rain -> wet"),
    ...     {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]},
    ...     schema={"rain": ["no", "yes"], "wet": ["no", "yes"]},
    ... )
    >>> data = {"rain": ["no", "yes"], "wet": ["no", "yes"]}
    >>> fit = sf.fit(sf.DAG("rain -> wet"), data, prior=sf.Expert(belief, ess=10))
    >>> print(fit.model.cpd("wet"))
    p(wet | rain)
    rain      no     yes
    ----  ------  ------
    no    0.9111  0.0889
    yes   0.0333  0.9667
    """

    network: BayesianNetwork | MarkovNetwork
    ess: float = 1.0
    uniform: float = 0.0
    _known: dict[NodeFamily, NDArray[np.float64]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.network, BayesianNetwork | MarkovNetwork):
            raise ArgumentError(
                "The 'network' of an expert's prior must be a network of tables, such as sf.read('expert.bif'). "
                f"Got {shown(self.network)} instead."
            )
        object.__setattr__(self, "ess", positive_number("ess", self.ess))
        if not 0 <= require_number("uniform", self.uniform) <= 1:
            raise ArgumentError(f"The 'uniform' argument must lie between 0 and 1. Got {shown(self.uniform)} instead.")

    def __repr__(self) -> str:
        mixed = f", uniform={self.uniform:g}" if self.uniform else ""
        return f"Expert({self.network!r}, ess={self.ess:g}{mixed})"

    def alpha(self, family: NodeFamily) -> NDArray[np.float64]:
        """Return ess · p(x_pa, x_v); shape (n_rows, n_states)."""
        if family not in self._known:
            self._known[family] = self._pseudo_counts(family)
        return self._known[family]

    def _pseudo_counts(self, family: NodeFamily) -> NDArray[np.float64]:
        for name in family.scope:
            if name not in self.network.schema:
                raise ArgumentError(
                    f"The expert's network has no variable {name!r}; it has {listing(self.network.schema, 12)}."
                    + suggestion(name, self.network.schema)
                )
        p = self.network._table(family.scope).values
        for axis, variable in enumerate(family.variables):
            held = self.network.schema[variable.name]
            if set(map(repr, held.labels)) != set(map(repr, variable.labels)):
                raise ArgumentError(
                    f"The expert's network has the states {listing(held.labels)} of {variable.name!r}, the data has "
                    f"{listing(variable.labels)}. They must be the same, in any order; ",
                    Mention("declare them", "declare them by schema="),
                    ".",
                )
            p = np.take(p, [held.code(label) for label in variable.labels], axis=axis)
        p = (1 - self.uniform) * p + self.uniform / p.size
        if not (p > 0).all():
            codes = np.argwhere(p <= 0)[0]
            raise ArgumentError(
                f"The expert's network holds {describe_configuration(family.variables, codes)} impossible, but "
                "pseudo-counts must be positive. Mix in a little of the uniform distribution: ",
                Mention("Expert(network, ess, uniform=0.01)", "sf.Expert(network, ess, uniform=0.01)"),
                ".",
            )
        alpha: NDArray[np.float64] = (self.ess * p).reshape(-1, family.child.n_states)
        alpha.setflags(write=False)
        return alpha

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""
        return {"type": "Expert", "network": self.network.to_dict(), "ess": self.ess, "uniform": self.uniform}
