"""Small models of every kind that can be explored."""

from __future__ import annotations

import numpy as np

import suffice as sf

YES_NO = ["yes", "no"]


def sprinkler() -> sf.BayesianNetwork:
    """A network in which the grass is dry for certain unless it rains or the sprinkler is on."""
    return sf.BayesianNetwork(
        sf.DAG("rain -> wet <- sprinkler; wet -> slippery"),
        {
            "rain": [0.2, 0.8],
            "sprinkler": [0.1, 0.9],
            "wet": [[[0.99, 0.01], [0.9, 0.1]], [[0.8, 0.2], [0.0, 1.0]]],
            "slippery": [[0.7, 0.3], [0.0, 1.0]],
        },
        schema=dict.fromkeys(["rain", "sprinkler", "wet", "slippery"], YES_NO),
    )


def field() -> sf.MarkovNetwork:
    """A cycle of four variables, one of which has three states."""
    rng = np.random.default_rng(1)
    schema = {"a": ["0", "1"], "b": ["0", "1", "2"], "c": ["0", "1"], "d": ["0", "1"]}
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    factors = [(pair, rng.uniform(0.2, 2.0, [len(schema[name]) for name in pair])) for pair in pairs]
    return sf.MarkovNetwork(factors, schema=schema)


def normal() -> sf.JointNormal:
    """Three variables, two of which depend on each other only through the third."""
    return sf.JointNormal(["x", "y", "z"], [0, 1, 2], precision=[[2, -1, 0], [-1, 2, -1], [0, -1, 2]])


def mixed() -> sf.BayesianNetwork:
    """A conditional-Gaussian network."""
    rng = np.random.default_rng(2)
    sex, drug = rng.choice(["f", "m"], 300), rng.choice(["a", "b", "c"], 300)
    weight = np.where(sex == "f", 60.0, 75.0) + rng.normal(0, 8, 300)
    effect = np.where(drug == "a", 1.0, 3.0) + 0.1 * weight + rng.normal(0, 1, 300)
    data = {"sex": sex, "drug": drug, "weight": weight, "effect": effect}
    return sf.fit(sf.DAG("sex -> weight; sex -> drug; weight -> effect; drug -> effect"), data).model


def linear() -> sf.BayesianNetwork:
    """A network of continuous variables alone."""
    rng = np.random.default_rng(3)
    dose = rng.normal(2, 1, 200)
    effect = 3 * dose + rng.normal(0, 1, 200)
    return sf.fit(
        sf.DAG("dose -> effect -> cost"), {"dose": dose, "effect": effect, "cost": effect + rng.normal(0, 2, 200)}
    ).model


def softmax() -> sf.BayesianNetwork:
    """A discrete node with a continuous parent, whose distribution has no closed form."""
    rng = np.random.default_rng(4)
    x = rng.normal(0, 1, 400)
    y = np.where(rng.uniform(size=400) < 1 / (1 + np.exp(-2 * x)), "hi", "lo")
    return sf.fit(sf.DAG("x -> y; x -> z"), {"x": x, "y": y, "z": x + rng.normal(0, 1, 400)}).model


def bayesian_fit() -> sf.Fit:
    """A fit with a posterior."""
    rng = np.random.default_rng(5)
    a, u = rng.choice(["x", "y"], 60), rng.uniform(size=60)
    b = np.where(u < np.where(a == "x", 0.7, 0.2), "u", "v")
    c = np.where(rng.uniform(size=60) < np.where(b == "u", 0.6, 0.1), "0", "1")
    return sf.fit(sf.DAG("A -> B -> C"), {"A": a, "B": b, "C": c}, prior=sf.BDeu(2))


def incomplete() -> sf.BayesianNetwork:
    """A network that does not know B given A = y and C = 1, which the data never had together."""
    data = {
        "A": ["x", "x", "x", "x", "y", "y"],
        "C": ["0", "0", "1", "1", "0", "0"],
        "B": ["u", "u", "u", "v", "u", "v"],
        "D": ["p", "q", "q", "p", "p", "q"],
        "E": ["0", "1", "0", "0", "1", "1"],
    }
    return sf.fit(sf.DAG("A -> B <- C; B -> D; A -> E"), data, unseen_parents="nan").model
