"""W8: a Markov chain of order 2 from 5,000 sequences of 1,000 symbols each, an alphabet of 27."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common import Answer, Context, Entry, contestant_main, first_compilation, race, ratio_table

TITLE = "W8: Markov chain of order 2, 5,000 × 1,000 symbols, alphabet of 27"
SEED, N_STATES = 8, 27
OURS = Entry("suffice, array of bytes", "suffice", "ours")
ENTRIES = (
    OURS,
    Entry("suffice, list of bytes", "suffice", "ours", {"form": "list"}),
    Entry("suffice, statistics alone", "statistics", "ours"),
    Entry("pomegranate, array of bytes", "pomegranate"),
    Entry("pomegranate, tensor made before", "pomegranate", options={"tensor": True}),
    Entry("Numba loop by hand, one thread", "control", "ours"),
)


def run(context: Context) -> str:
    """Race all contestants, and return a section in Markdown."""
    request = {"n": 50 if context.quick else 5000, "length": 1000, "repeats": 40, "budget": 30}
    outcomes = race(context, "w8_markov.py", ENTRIES, request)
    first = first_compilation(context, "w8_markov.py", OURS, request)
    return (
        f"{ratio_table(outcomes, {'transitions': N_STATES})}\n\n{request['n']:,} sequences of {request['length']:,} "
        "independent symbols, the k-th in proportion to 1/(k + 3). Ours include the distribution of the first two "
        "symbols, the certificate and finding the alphabet. pomegranate takes a tensor of whole numbers, made from the "
        f"array in the first of its rows, and computes in single precision. {first}"
    )


# Contestants --------------------------------------------------------------------------------------------------


def symbols(request: Mapping[str, Any]) -> Any:
    """Draw the symbols; shape (n, length), uint8."""
    import numpy as np

    p = 1 / (np.arange(N_STATES) + 3)
    draw = np.random.default_rng(SEED)
    return draw.choice(N_STATES, (request["n"], request["length"]), p=p / p.sum()).astype(np.uint8)


class Suffice:
    """Our fit."""

    def prepare(self, request: Mapping[str, Any]) -> Any:
        """Make the array, or a list of ASCII bytes."""
        import suffice as sf

        data = symbols(request)
        if request.get("form") == "list":
            data = [(row + ord("A")).tobytes() for row in data]
        return sf.MarkovChain(order=2), data

    def fit(self, held: Any) -> Any:
        """Fit, with the certificate."""
        import suffice as sf

        return sf.fit(*held)

    def answer(self, held: Any, fitted: Any) -> Answer:
        """Return the transitions."""
        return {"transitions": fitted.model.transitions.values.reshape(-1).tolist()}


class Collect(Suffice):
    """Our statistics only."""

    def fit(self, held: Any) -> Any:
        """Count."""
        import suffice as sf

        return sf.collect(*held)

    def answer(self, held: Any, fitted: Any) -> Answer:
        """Return what the statistics give."""
        import suffice as sf

        return super().answer(held, sf.estimate(held[0], fitted))


class Pomegranate:
    """Its MarkovChain."""

    def prepare(self, request: Mapping[str, Any]) -> Any:
        """Hold the array, or the tensor of whole numbers that it wants; shape (n, length, 1)."""
        data = symbols(request)
        return self.tensor(data) if request.get("tensor") else data

    @staticmethod
    def tensor(data: Any) -> Any:
        """Make the tensor."""
        import torch

        return torch.from_numpy(data.astype("int64")).unsqueeze(-1)

    def fit(self, held: Any) -> Any:
        """Fit."""
        import numpy as np
        from pomegranate.markov_chain import MarkovChain

        chain = MarkovChain(k=2)
        chain.fit(self.tensor(held) if isinstance(held, np.ndarray) else held)
        return chain

    def answer(self, held: Any, fitted: Any) -> Answer:
        """Return the transitions."""
        return {"transitions": fitted.distributions[-1].probs[0].detach().numpy().reshape(-1).astype(float).tolist()}


class Control:
    """The least that has to be done: a histogram of triples, alphabet known, nothing checked."""

    def prepare(self, request: Mapping[str, Any]) -> Any:
        """Compile the loop."""
        import numba
        import numpy as np

        @numba.njit
        def count(data: Any) -> Any:
            counts = np.zeros(N_STATES**3, np.int64)
            for i in range(data.shape[0]):
                key = data[i, 0] * N_STATES + data[i, 1]
                for t in range(2, data.shape[1]):
                    key = (key % (N_STATES * N_STATES)) * N_STATES + data[i, t]
                    counts[key] += 1
            return counts.reshape(-1, N_STATES)

        return count, symbols(request)

    def fit(self, held: Any) -> Any:
        """Count and divide."""
        counts = held[0](held[1])
        return counts / counts.sum(axis=1, keepdims=True)

    def answer(self, held: Any, fitted: Any) -> Answer:
        """Return the transitions."""
        return {"transitions": fitted.reshape(-1).tolist()}


if __name__ == "__main__":
    contestant_main({"suffice": Suffice(), "statistics": Collect(), "pomegranate": Pomegranate(), "control": Control()})
