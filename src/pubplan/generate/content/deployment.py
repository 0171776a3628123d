"""What shapes in the network have in common: sites, brokers, and the parameters that say how they were made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pubplan.generate.content.brokers import OUT_DEGREE, make_brokers
from pubplan.generate.content.network import Network, make_network
from pubplan.generate.content.shape import ContentShape, check_sizes
from pubplan.workload import Brokers, ClientBlock, Space


@dataclass(frozen=True)
class Deployment:
    """Clients of a shape have sites of this network and are served by these brokers."""

    name: str
    num_clients: int
    network: Network
    brokers: Brokers
    parameters: Mapping[str, Any]

    def shape(
        self, space: Space, draw: Callable[[int], ClientBlock], others: Mapping[str, Any] | None = None
    ) -> ContentShape:
        """The shape with clients drawn in this space; ``others`` are further parameters that the manifest records."""
        coordinates = self.brokers.coordinates
        assert coordinates is not None
        return ContentShape(
            self.name,
            {**self.parameters, **(others or {})},
            space,
            self.brokers,
            self.network.sites(coordinates),
            self.num_clients,
            draw,
        )


def deploy(
    name: str,
    num_clients: int,
    num_brokers: int,
    seed: int,
    levels: int,
    out_degree: int,
    num_sites: int,
    usual_sites: int,
) -> Deployment:
    """Place sites and brokers for the shape ``name``; what is not usual is recorded.

    Raises:
        InputError: a size is out of range.
    """
    check_sizes(num_clients, num_brokers)
    network = make_network(num_sites, seed)
    brokers = make_brokers(network, num_brokers, levels, out_degree)
    parameters: dict[str, Any] = {"clients": num_clients, "brokers": num_brokers, "seed": seed}
    if levels > 1:
        parameters["levels"] = levels
        if out_degree != OUT_DEGREE:
            parameters["out_degree"] = out_degree
    if num_sites != usual_sites:
        parameters["sites"] = num_sites
    return Deployment(name, num_clients, network, brokers, parameters)
