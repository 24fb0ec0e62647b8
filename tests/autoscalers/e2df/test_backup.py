"""The full backup: against brute force, against a decision process whose solution is known, and its constraints."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoscalers.e2df import backup
from autoscalers.e2df.agents import Learning, ModelBased, QLearning, Space
from autoscalers.e2df.backup import CHANGES

Made = dict[str, Any]


def made(counts: int, levels: int, flags: int, seed: int) -> Made:
    """Any costs and probabilities."""
    rng = np.random.default_rng(seed)
    level = rng.random((levels, levels)) * (rng.random((levels, levels)) > 0.4) + 1e-3 * np.eye(levels)
    flag = rng.random((flags, 3, flags))
    return {
        "q": backup.no_costs(counts, levels, flags) + rng.random((levels, flags, 3, counts)),
        "known": rng.random((3, counts)),
        "unknown": rng.random((levels, flags, counts)),
        "level": level / level.sum(axis=1, keepdims=True),
        "flag": flag / flag.sum(axis=2, keepdims=True),
    }


def actions(k: int, f: int, counts: int, flags: int) -> list[int]:
    """Section 6.2: nothing to give up without an idle node, nothing to add at the maximum."""
    less = k > 0 and (flags == 1 or f == 1)
    return [action for action, open_ in enumerate((less, True, k < counts - 1)) if open_]


def sweep(model: Made, discount: float) -> None:
    room = np.full((2, *model["unknown"].shape), np.nan)
    backup.backup(*(model[name] for name in ("q", "known", "unknown", "level", "flag")), discount, room)


def brute_force(model: Made, discount: float) -> Any:
    """Bellman's equation, state by state, over all successors (Algorithm 2, line 4, with equation 3)."""
    q = model["q"].copy()
    levels, flags, counts = model["unknown"].shape
    states = list(itertools.product(range(counts), range(levels), range(flags)))
    for k, x, f in states:
        for action in actions(k, f, counts, flags):
            total = 0.0
            for k2, x2, f2 in states:
                chance = (k2 == k + CHANGES[action]) * model["level"][x, x2] * model["flag"][f, action, f2]
                best = min(model["q"][x2, f2, then, k2] for then in actions(k2, f2, counts, flags))
                total += chance * (model["known"][action, k2] + model["unknown"][x2, f2, k2] + discount * best)
            q[x, f, action, k] = total
    return q


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 2), st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_a_backup_is_what_brute_force_finds(counts: int, levels: int, flags: int, seed: int) -> None:
    model = made(counts, levels, flags, seed)
    expected = brute_force(model, 0.99)
    sweep(model, 0.99)
    np.testing.assert_allclose(model["q"], expected, rtol=1e-12)


def test_repeated_backups_solve_a_known_decision_process() -> None:
    """One level and no flag: with k the cost is 1 at k = 0 and 0.1 k beyond, and a change costs 0.5.

    From 0 it pays to go to 1, once (0.5 + 0.1 and then 0.1 for ever), and from 2 to go to 1 (0.6, then 0.1).
    """
    discount, stay = 0.9, 0.1 / (1 - 0.9)
    known = np.array([[k * 0.1 + (0.5 if change else 0.0) for k in range(3)] for change in CHANGES])
    unknown = np.array([[[1.0, 0.0, 0.0]]])
    q, one = backup.no_costs(3, 1, 1), np.ones((1, 1))
    for _ in range(400):
        backup.backup(q, known, unknown, one, np.ones((1, 3, 1)), discount, np.empty((2, 1, 1, 3)))
    less, keep, more = q[0, 0]
    assert keep[1] == pytest.approx(stay)
    assert more[0] == pytest.approx(0.6 + discount * stay)
    assert keep[0] == pytest.approx(1.0 + discount * (0.6 + discount * stay))
    assert less[2] == pytest.approx(0.6 + discount * stay)
    assert [int(backup.greedy(q, k, 0, 0)) for k in range(3)] == [2, 1, 0]


@pytest.mark.parametrize("seed", range(5))
def test_repeated_backups_reach_the_fixed_point_that_policy_iteration_finds(seed: int) -> None:
    """An independent way to the same values: evaluate a policy by solving its equations, improve it, again."""
    model, discount = made(4, 3, 2, seed), 0.95
    levels, flags, counts = model["unknown"].shape
    states = list(itertools.product(range(counts), range(levels), range(flags)))
    place = {state: index for index, state in enumerate(states)}

    def expected(state: tuple[int, int, int], action: int) -> tuple[float, Any]:
        k, x, f = state
        after, row = k + CHANGES[action], np.zeros(len(states))
        for x2, f2 in itertools.product(range(levels), range(flags)):
            row[place[after, x2, f2]] = model["level"][x, x2] * model["flag"][f, action, f2]
        costs = [model["unknown"][x2, f2, k2] for k2, x2, f2 in states]
        return model["known"][action, after] + row @ costs, row

    policy = dict.fromkeys(states, 1)
    while True:
        costs, rows = zip(*(expected(state, policy[state]) for state in states), strict=True)
        values = np.linalg.solve(np.eye(len(states)) - discount * np.array(rows), np.array(costs))
        better = {}
        for state in states:
            choices = actions(state[0], state[2], counts, flags)
            found = [cost + discount * row @ values for cost, row in (expected(state, action) for action in choices)]
            better[state] = choices[int(np.argmin(found))]
        if better == policy:
            break
        policy = better
    for _ in range(1500):
        sweep(model, discount)
    for (k, x, f), value in zip(states, values, strict=True):
        assert model["q"][x, f, int(backup.greedy(model["q"], k, x, f)), k] == pytest.approx(value, rel=1e-9)


steps = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 1), st.booleans()), min_size=1, max_size=60
)


@given(steps)
@settings(deadline=None)
def test_estimated_costs_keep_the_constraints_whatever_is_seen(seen: Any) -> None:
    unknown = np.zeros((4, 2, 5))
    for k, x, f, paid in seen:
        backup.observe_cost(unknown, k, x, f, 0.7 * paid, 0.1)
        assert (np.diff(unknown, axis=2) <= 1e-12).all(), "more nodes cost no more"
        assert (np.diff(unknown, axis=0) >= -1e-12).all(), "a higher load costs no less"
        assert (unknown >= 0).all()
        assert (unknown <= 0.7).all()


@given(steps)
@settings(max_examples=30, deadline=None)
def test_estimated_probabilities_are_shares_of_what_was_seen(seen: Any) -> None:
    agent = ModelBased(Space(5, 4, 2, np.zeros((3, 5))), Learning(), np.random.default_rng(0))
    for k, x, f, paid in seen:
        agent.step((k, x, f), float(paid))
    np.testing.assert_allclose(agent.level.sum(axis=1), 1.0)
    np.testing.assert_allclose(agent.flag.sum(axis=2), 1.0)
    counts = np.eye(4)
    for (_, before, _, _), (_, after, _, _) in itertools.pairwise(seen):
        counts[before, after] += 1
    np.testing.assert_allclose(agent.level, counts / counts.sum(axis=1, keepdims=True))


def world(agent: ModelBased | QLearning, steps: int) -> float:
    """Load goes up and down between two levels; one is enough for the low one, two are for the high one."""
    rng = np.random.default_rng(1)
    k, high, cost = 0, 0, []
    for _ in range(steps):
        high = high if rng.random() < 0.95 else 1 - high
        k += agent.step((k, high, 0), 1.0 if k < high else 0.0)
        cost.append(agent.cost)
    return float(np.nanmean(cost[steps // 2 :]))


def test_a_model_learns_sooner_than_trial_and_error() -> None:
    known = np.array([[0.2 * k + (0.1 if change else 0.0) for k in range(6)] for change in CHANGES])
    space = Space(6, 2, 1, known)
    model = ModelBased(space, Learning(), np.random.default_rng(2))
    trial = QLearning(space, Learning(exploration=0.05), np.random.default_rng(2))
    modelled = world(model, 2000)
    assert modelled < 0.25, "near 0.1, what the load needs on average, and what changes and surprises cost"
    assert modelled < world(trial, 2000)


def test_q_learning_moves_one_value_towards_the_cost_and_what_is_to_come() -> None:
    space = Space(counts=3, levels=2, flags=1, known=np.tile([0.0, 0.5, 1.0], (3, 1)))
    agent = QLearning(space, Learning(discount=0.9, rate=0.1), np.random.default_rng(0))
    agent.q[1, 0, :, 2] = 4.0, 3.0, np.inf
    before = agent.q.copy()
    more = CHANGES.index(1)
    agent.step((1, 0, 0), 0.0)
    agent._before = (1, 0, 0), more
    assert agent.step((2, 1, 0), 0.2) == 0, "the least cost to come is that of keeping them"
    changed = np.argwhere(agent.q != before).tolist()
    assert changed == [[0, 0, more, 1]], "the state that was left, and the action that was taken"
    assert agent.q[0, 0, more, 1] == pytest.approx(0.1 * (1.0 + 0.2 + 0.9 * 3.0))
