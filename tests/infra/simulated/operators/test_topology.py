"""Who reads from whom."""

import pytest

from infra.simulated.operators.topology import Topology
from jobs.model import Operator
from jobs.operators import OUTSIDE


def test_without_inputs_an_operator_reads_from_the_one_before() -> None:
    topology = Topology.read([Operator("a", 3.0), Operator("b", 0.5), Operator("c", 0.0)])
    assert topology.edges == ((0, 1), (1, 2))
    assert topology.factors.tolist() == [1.0, 3.0, 1.5]
    assert [topology.ends(index) for index in range(3)] == [False, False, True]


def test_all_of_the_output_goes_to_each_reader_and_streams_add_up() -> None:
    diamond = [
        Operator("a", 2.0),
        Operator("b", 0.5, inputs=("a",)),
        Operator("c", 3.0, inputs=("a",)),
        Operator("d", 0.0, inputs=("b", "c")),
    ]
    topology = Topology.read(diamond)
    assert topology.factors.tolist() == [1.0, 2.0, 2.0, 0.5 * 2 + 3 * 2]
    assert topology.upstream(3) == [1, 2]


def test_several_sources_share_the_load() -> None:
    joined = [Operator("a", 1.0), Operator("b", 1.0, inputs=(OUTSIDE,)), Operator("c", 0.0, inputs=("a", "b"))]
    assert Topology.read(joined).sources.tolist() == [0.5, 0.5, 0.0]
    weighted = Topology.read(joined, {"a": 3.0, "b": 1.0})
    assert weighted.sources.tolist() == [0.75, 0.25, 0.0]
    assert weighted.factors.tolist() == [0.75, 0.25, 1.0]


@pytest.mark.parametrize(
    ("operators", "complaint"),
    [
        ([Operator("a", 1.0), Operator("a", 0.0)], "names of their own"),
        ([Operator("a", 1.0), Operator("job", 0.0)], "names of their own"),
        ([Operator("a", 1.0, inputs=("b",)), Operator("b", 0.0)], '"a" reads from "b"; before it there are: outside$'),
        ([Operator("a", 1.0), Operator("b", 0.0, inputs=("b",))], '"b" reads from "b"; .* outside, a$'),
        ([Operator("a", 1.0), Operator("b", 0.0, inputs=("z",))], '"b" reads from "z"'),
    ],
)
def test_what_is_no_such_graph_is_told_in_one_line(operators: list[Operator], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as refusal:
        Topology.read(operators)
    assert "\n" not in str(refusal.value)


def test_an_unknown_operator_is_named() -> None:
    with pytest.raises(ValueError, match='unknown operator "sink"; there are: a, b'):
        Topology.read([Operator("a", 1.0), Operator("b", 0.0)]).index("sink")
