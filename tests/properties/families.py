"""What the universal properties need to know of each family: instances, problems and the best possible answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st
from oracles import assign as assign_oracle
from oracles import assign_plans, federate_plans
from oracles import federate as federate_oracle
from oracles import overlay as overlay_oracle
from oracles import provision as provision_oracle
from oracles import select as select_oracle
from oracles.provision import Placements, placements_of, rows_into, stated_for

import pubplan
from pubplan.planning import Exact, Plan, Problem
from pubplan.problems import assign, federate, provision
from pubplan.problems.federate.problem import DOLLAR_SCALE
from pubplan.problems.select import OBJECTIVES


@dataclass(frozen=True)
class Oracle:
    """One family for the property tests.

    Attributes:
        cases: a strategy for small instances.
        plain: one instance with nothing odd about it.
        problem: writes a case below a directory, its ids changed by a function, and asks about it; takes a variant.
        variants: the kinds of problem that every method must answer or refuse.
        best: the objective of the best plan, by trying all of them; None where there is no plan.
        mutations: by name, changes of a plan, as ``forge`` takes them, that break a promise or change the objective, or
            None where the plan leaves no room for one.
        is_telling: whether an instance asks something of a method, by its best objective.
    """

    cases: st.SearchStrategy[Any]
    plain: Any
    problem: Callable[[Any, Path, Callable[[str], str], str], Problem]
    variants: tuple[str, ...]
    best: Callable[[Any, Problem], Exact | None]
    mutations: Mapping[str, Callable[[Any, Plan], Mapping[str, Any] | None]]
    is_telling: Callable[[Problem, Exact], bool]


def _select_problem(
    case: select_oracle.Case, directory: Path, rename: Callable[[str], str], variant: str
) -> pubplan.select.Problem:
    return case.problem(directory, variant, rename)


def _served(topics: list[tuple[int, str, int]]) -> pa.Table:
    numbers, names, costs = ([row[position] for row in topics] for position in range(3))
    return pa.table(
        {
            "topic": pa.array(numbers, pa.int32()),
            "topic_id": pa.array(names, pa.string()),
            "cost": pa.array(costs, pa.int64()),
        }
    )


def _rows(table: pa.Table) -> list[tuple[int, str, int]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def _of_served(change: Callable[[Any, pa.Table], pa.Table | None]) -> Callable[[Any, Plan], Mapping[str, Any] | None]:
    """A change of the topics that are served."""

    def mutate(case: Any, plan: Plan) -> Mapping[str, Any] | None:
        changed = change(case, plan.decisions("served"))
        return None if changed is None else {"tables": {"decisions/served.parquet": lambda table: changed}}

    return mutate


def _serve_everything(case: select_oracle.Case, table: pa.Table) -> pa.Table | None:
    everything = [(number, topic, case.cost(topic)) for number, topic in enumerate(case.topics)]
    return _served(everything) if case.must_not_serve or case.total_cost(case.topics) > case.capacity else None


def _drop_one(case: select_oracle.Case, table: pa.Table) -> pa.Table | None:
    """Drop a served topic: it must be served, or the trajectory still chooses it."""
    return table.slice(1) if table.num_rows else None


def _serve_nobody(case: select_oracle.Case, table: pa.Table) -> pa.Table | None:
    return _served([*_rows(table), (len(case.topics), "ghost", 0)])


SELECT = Oracle(
    cases=select_oracle.cases(),
    plain=select_oracle.Case({"a": 2, "b": 3}, {"x": ("a", "b"), "y": ("b",)}, threshold=3, capacity=6),
    problem=_select_problem,
    variants=OBJECTIVES,
    best=lambda case, problem: Exact(select_oracle.best_value(case, problem.objective), problem.scale),
    mutations={
        "serve everything": _of_served(_serve_everything),
        "drop a topic": _of_served(_drop_one),
        "serve a topic that does not exist": _of_served(_serve_nobody),
        "repeat a topic": _of_served(lambda case, t: _served([*_rows(t), *_rows(t)]) if t.num_rows else None),
    },
    # Not all can be satisfied, and not just those who want nothing.
    is_telling=lambda problem, best: 0 < best.value < problem.total_weight * problem.scale,
)


def _asked(case: provision_oracle.Case, problem: Problem) -> provision_oracle.Case:
    """The variant of a case that a problem asks about."""
    assert isinstance(problem, provision.Problem)
    return provision_oracle.variant(case, "sized" if problem.message_bytes is None else "uniform")


def _best_fleet(case: provision_oracle.Case, problem: Problem) -> Exact | None:
    cost = provision_oracle.best_cost(_asked(case, problem))
    return None if cost is None else Exact(cost, 10**6)


def _of_placements(
    change: Callable[[provision_oracle.Case, Plan, Placements], Placements | None],
) -> Callable[[Any, Plan], Mapping[str, Any] | None]:
    """A change of placements, with all numbers as they follow from it."""

    def mutate(case: provision_oracle.Case, plan: Plan) -> Mapping[str, Any] | None:
        is_sized = plan.record["parameters"]["message_bytes"] is None
        asked = provision_oracle.variant(case, "sized" if is_sized else "uniform")
        changed = change(asked, plan, placements_of(plan))
        return None if changed is None else stated_for(asked, plan, changed)

    return mutate


def _drop_a_pair(case: provision_oracle.Case, plan: Plan, placements: Placements) -> Placements | None:
    """Drop a pair that somebody needs."""
    rates = [case.rates[topic] for topic in case.topics]
    for row, subscriber in zip(placements, case.interests, strict=True):
        for position, (topic, _) in enumerate(row):
            if sum(rates[other] for other, _ in row) - rates[topic] < case.needed(subscriber):
                del row[position]
                return placements
    return None


def _place_twice(case: provision_oracle.Case, plan: Plan, placements: Placements) -> Placements | None:
    for row in placements:
        if row:
            row.insert(0, row[0])
            return placements
    return None


def _place_a_stranger(case: provision_oracle.Case, plan: Plan, placements: Placements) -> Placements | None:
    """Send somebody a topic that it did not ask for."""
    if not any(placements):
        return None
    for row, wanted in zip(placements, case.interests.values(), strict=True):
        for number, topic in enumerate(case.topics):
            if topic not in wanted:
                row.append((number, 0))
                row.sort()
                return placements
    return None


def _overload(case: provision_oracle.Case, plan: Plan, placements: Placements) -> Placements | None:
    """Put everything on the first VM, if that is more than it carries."""
    (limit,) = (row["limit"] for row in plan.decisions("types").to_pylist() if row["chosen"])
    counts: dict[int, int] = {}
    for topic in (topic for row in placements for topic, _ in row):
        counts[topic] = counts.get(topic, 0) + 1
    if provision_oracle.used(counts, case.streams) <= limit:
        return None
    return [[(topic, 0) for topic, _ in row] for row in placements]


def _place_nowhere(case: provision_oracle.Case, plan: Plan, placements: Placements) -> Placements | None:
    num_vms = plan.decisions("vms").num_rows
    for row in placements:
        if row:
            row[0] = (row[0][0], num_vms)
            return placements
    return None


def _add_one(table: str, column: str) -> Callable[[Any, Plan], Mapping[str, Any] | None]:
    """One more in the last row of a table; in that of the chosen VM type, where there is one."""

    def mutate(case: Any, plan: Plan) -> Mapping[str, Any] | None:
        rows = plan.decisions(table).to_pylist()
        if not rows:
            return None
        row = next((row for row in rows if row.get("chosen")), rows[-1])
        row[column] += 1
        return {"tables": {f"decisions/{table}.parquet": rows_into(tuple(row.values()) for row in rows)}}

    return mutate


def _choose_the_more_expensive(case: provision_oracle.Case, plan: Plan) -> Mapping[str, Any] | None:
    """Say that the VMs are of the other type."""
    types, vms = plan.decisions("types").to_pylist(), plan.decisions("vms").to_pylist()
    if len(types) < 2 or types[0]["cost"] == types[1]["cost"]:
        return None
    for row in types:
        row["chosen"] = not row["chosen"]
    (chosen,) = (row["type"] for row in types if row["chosen"])
    tables = {"types": types, "vms": [{**row, "type": chosen} for row in vms]}
    return {
        "tables": {
            f"decisions/{name}.parquet": rows_into([tuple(row.values()) for row in rows])
            for name, rows in tables.items()
        }
    }


PROVISION = Oracle(
    cases=provision_oracle.cases(),
    plain=provision_oracle.Case(
        {"a": 2, "b": 3},
        {"x": ("a", "b"), "y": ("b",)},
        threshold=3,
        machines=(provision_oracle.Machine("large", 20, 100),),
        sizes={"a": 2, "b": 1},
    ),
    problem=lambda case, directory, rename, name: provision_oracle.variant(case, name).problem(directory, rename),
    variants=("uniform", "sized"),
    best=_best_fleet,
    mutations={
        "drop a pair": _of_placements(_drop_a_pair),
        "place a pair twice": _of_placements(_place_twice),
        "place what nobody asked for": _of_placements(_place_a_stranger),
        "overload a VM": _of_placements(_overload),
        "name a VM that does not exist": _of_placements(_place_nowhere),
        "count a byte more": _add_one("vms", "used"),
        "count a pair more": _add_one("splits", "pairs"),
        "cost a micro-dollar more": _add_one("types", "cost"),
        "choose the more expensive type": _choose_the_more_expensive,
    },
    is_telling=lambda problem, best: best.value > 0,
)


def _of_links(
    change: Callable[[overlay_oracle.Case, list[overlay_oracle.Link]], list[overlay_oracle.Link] | None],
) -> Callable[[Any, Plan], Mapping[str, Any] | None]:
    """A change of links, with all numbers as they follow from it."""

    def mutate(case: overlay_oracle.Case, plan: Plan) -> Mapping[str, Any] | None:
        changed = change(case, overlay_oracle.links_of(plan))
        return None if changed is None else overlay_oracle.changes_for(case, plan, changed)

    return mutate


def _cut(case: overlay_oracle.Case, links: list[overlay_oracle.Link]) -> list[overlay_oracle.Link] | None:
    """Drop a link without which a topic falls apart."""
    for position in range(len(links)):
        left = links[:position] + links[position + 1 :]
        if not overlay_oracle.is_connected(case.sets, left):
            return left
    return None


def _forwarded_by_a_stranger(case: overlay_oracle.Case, plan: Plan) -> Mapping[str, Any] | None:
    """Let a node get its first topic from one that is no neighbour of its, or that does not want it."""
    links, sets = overlay_oracle.links_of(plan), case.sets
    for node, topics in enumerate(case.interests[name] for name in sorted(case.interests)):
        for other in range(len(sets)):
            is_linked = (min(node, other), max(node, other)) in links
            if topics and other != node and not (is_linked and min(topics) in sets[other]):
                return {"tables": {"decisions/forwarding/00000.parquet": _first_parent(node, other)}}
    return None


def _first_parent(node: int, parent: int) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        rows = table.to_pylist()
        rows[node]["parents"][0] = parent
        return pa.Table.from_pylist(rows, schema=table.schema)

    return change


def _linked_to_nobody(case: overlay_oracle.Case, plan: Plan) -> Mapping[str, Any] | None:
    rows = plan.decisions("links").to_pylist()
    if not rows:
        return None
    rows[-1]["other"] = len(case.sets)
    return {"tables": {"decisions/links.parquet": rows_into(tuple(row.values()) for row in rows)}}


OVERLAY = Oracle(
    cases=overlay_oracle.cases(),
    plain=overlay_oracle.Case({"x": ("a", "b"), "y": ("b", "c"), "z": ("a", "c")}),
    problem=lambda case, directory, rename, variant: case.problem(directory, rename),
    variants=("topics",),
    best=lambda case, problem: Exact(overlay_oracle.best_degree(case.sets)),
    mutations={
        "drop a link that matters": _of_links(_cut),
        "list a link twice": _of_links(lambda case, links: [*links, links[-1]] if links else None),
        "link a node to itself": _of_links(lambda case, links: [(0, 0), *links]),
        "turn a link round": _of_links(lambda case, links: [links[0][::-1], *links[1:]] if links else None),
        "link a node that does not exist": _linked_to_nobody,
        "let a stranger forward": _forwarded_by_a_stranger,
        "count a link more": _add_one("nodes", "degree"),
        "count a topic more": _add_one("links", "topics"),
        "use a link once more": _add_one("links", "trees"),
        "say that a topic is wider": _add_one("topics", "diameter"),
        "say that a tree is deeper": _add_one("topics", "depth"),
    },
    is_telling=lambda problem, best: best.value > 1,
)


def _assign_case(case: assign_oracle.Case, variant: str) -> assign_oracle.Case:
    """The variant of a case: how many boxes a filter may have."""
    return replace(case, boxes=int(variant.split(maxsplit=1)[0]))


def _best_assignment(case: assign_oracle.Case, problem: Problem) -> Exact | None:
    assert isinstance(problem, assign.Problem)
    best = assign_oracle.best_bandwidth(replace(case, boxes=problem.boxes))
    return None if best is None else Exact(best, case.scale)


def _of_assignment(
    change: Callable[[assign_oracle.Case, list[int], list[list[assign_oracle.Box]]], assign_plans.Change | None],
) -> Callable[[Any, Plan], Mapping[str, Any] | None]:
    """A change of an assignment or of filters, with all numbers as they follow from it."""

    def mutate(case: assign_oracle.Case, plan: Plan) -> Mapping[str, Any] | None:
        asked = replace(case, boxes=plan.record["parameters"]["boxes"])
        changed = change(asked, *assign_plans.decided(asked, plan))
        return None if changed is None else assign_plans.changes_for(asked, plan, *changed)

    return mutate


def _without_a_client(case: assign_oracle.Case, plan: Plan) -> Mapping[str, Any]:
    return {"tables": {"decisions/assignments/00000.parquet": lambda table: table.slice(1)}}


def _widened_box(case: assign_oracle.Case, plan: Plan) -> Mapping[str, Any] | None:
    asked = replace(case, boxes=plan.record["parameters"]["boxes"])
    return _add_one("filters", "high")(asked, plan) if assign_plans.does_widening_show(asked, plan) else None


ASSIGN = Oracle(
    cases=assign_oracle.cases(max_clients=4),
    plain=assign_oracle.Case(
        (4, 3),
        (assign_oracle.Broker(), assign_oracle.Broker()),
        ((1, 2), (2, 1)),
        (
            assign_oracle.Client(0, (0, 0), (1, 2)),
            assign_oracle.Client(1, (2, 1), (4, 3)),
            assign_oracle.Client(1, (1, 0), (2, 1)),
        ),
        max_delay="1",
        max_load="2",
    ),
    problem=lambda case, directory, rename, variant: _assign_case(case, variant).problem(directory, rename),
    variants=("1 box", "3 boxes"),
    best=_best_assignment,
    mutations={
        "serve a client too late": _of_assignment(assign_plans.served_too_late),
        "shrink a box": _of_assignment(assign_plans.outside_of_boxes),
        "add boxes": _of_assignment(assign_plans.too_many_boxes),
        "serve a client inside the tree": _of_assignment(assign_plans.on_an_inner_broker),
        "name a broker that does not exist": _of_assignment(assign_plans.on_no_broker),
        "drop a client": _without_a_client,
        "count a client more": _add_one("brokers", "clients"),
        "allow a client more": _add_one("brokers", "limit"),
        "let a step more through": _add_one("brokers", "volume"),
        "put a broker deeper": _add_one("brokers", "level"),
        "widen a box in the table alone": _widened_box,
    },
    is_telling=lambda problem, best: best.value > 0,
)


# Steiner trees, and copies along one tree, are compared with the definitions in tests/problems/federate.
FEDERATE_VARIANTS = {
    "spanning": ("spanning", "shared"),
    "acyclic": ("acyclic", "shared"),
    "replicating": ("spanning", "replicating"),
}


def _federate_case(case: federate_oracle.Case, routing: str, cost: str) -> federate_oracle.Case:
    return replace(case, routing=routing, cost=cost)


def _federate_problem(
    case: federate_oracle.Case, directory: Path, rename: Callable[[str], str], variant: str
) -> Problem:
    directory.mkdir(exist_ok=True)
    return _federate_case(case, *FEDERATE_VARIANTS[variant]).problem(directory / "workload", rename)


def _best_federation(case: federate_oracle.Case, problem: Problem) -> Exact | None:
    assert isinstance(problem, federate.Problem)
    best = federate_oracle.best_cost(_federate_case(case, problem.routing, problem.cost))
    return None if best is None else Exact(best, DOLLAR_SCALE)


def _asked_case(case: federate_oracle.Case, plan: Plan) -> federate_oracle.Case:
    parameters = plan.record["parameters"]
    return _federate_case(case, parameters["routing"], parameters["cost"])


def _of_federation(
    change: Callable[[federate_oracle.Case, list[int], list[federate_plans.Tree]], federate_plans.Change | None],
) -> Callable[[Any, Plan], Mapping[str, Any] | None]:
    """A change of an attachment or of trees, with all numbers as they follow from it."""

    def mutate(case: federate_oracle.Case, plan: Plan) -> Mapping[str, Any] | None:
        asked = _asked_case(case, plan)
        changed = change(asked, *federate_plans.decided(plan))
        return None if changed is None else federate_plans.changes_for(asked, *changed)

    return mutate


FEDERATE = Oracle(
    cases=federate_oracle.cases(max_clients=4, max_brokers=3),
    plain=federate_oracle.Case(
        (6,),
        (6,),
        (
            federate_oracle.Publisher(0, ((0, 4),), ((0, 2), (5, 1))),
            federate_oracle.Publisher(1, ((2, 6),), ((1, 3),)),
            federate_oracle.Publisher(1, ((0, 6),), ()),
        ),
        ((1, 4), (4, 1)),
        ((0, 2), (2, 0)),
        (0, 0),
        (3,),
    ),
    problem=_federate_problem,
    variants=tuple(FEDERATE_VARIANTS),
    best=_best_federation,
    mutations={
        "use a broker that is forbidden or full": _of_federation(federate_plans.at_a_forbidden_broker),
        "name a broker that does not exist": lambda case, plan: federate_plans.at_no_broker(
            case, *federate_plans.decided(plan)
        ),
        "take a heavier tree": _of_federation(federate_plans.heavier_tree),
        "leave a broker out of a tree": federate_plans.without_a_broker,
        "drop a client": lambda case, plan: {
            "tables": {"decisions/attachments/00000.parquet": lambda table: table.slice(1)}
        },
        "send a message more": _add_one("links", "messages"),
        "price a link higher": _add_one("links", "price"),
        "count a message more": _add_one("channels", "messages"),
        "count a subscriber more": _add_one("channels", "subscribers"),
        "widen a channel": _add_one("channels", "high"),
        "count a client more": _add_one("brokers", "clients"),
        "load a broker more": _add_one("brokers", "load"),
        "let a broker forward more": _add_one("brokers", "forwarded"),
        "let a broker take more": _add_one("brokers", "capacity"),
        "publish a message more": _add_one("brokers", "published"),
    },
    is_telling=lambda problem, best: best.value > 0,
)

ORACLES = {"select": SELECT, "provision": PROVISION, "overlay": OVERLAY, "assign": ASSIGN, "federate": FEDERATE}
