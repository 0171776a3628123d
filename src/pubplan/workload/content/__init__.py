"""Workloads of clients that subscribe to content, at sites, and of the brokers that can serve them."""

from pubplan.workload.content.balance import Balance, balance, capacities_at, least_load_factor, load_factor
from pubplan.workload.content.build import Broker, Client, build_content_workload
from pubplan.workload.content.describe import (
    PRICE_NAMES,
    USUAL_DELAY,
    ContentDescription,
    MapPoint,
    describe_content,
    factor_value,
    least_load,
    map_points,
    overlap_of,
)
from pubplan.workload.content.groups import (
    UNLIMITED_US,
    Candidates,
    Groups,
    Hop,
    candidates_of,
    delay_limits,
    read_groups,
    site_latencies,
)
from pubplan.workload.content.kind import CONTENT
from pubplan.workload.content.links import Closure, close_links, metric_closure
from pubplan.workload.content.overlap import HeatMap
from pubplan.workload.content.space import MAX_VOLUME, Attribute, Space, unit_space, volumes
from pubplan.workload.content.tables import OPTIONAL_CLIENTS, corner_names
from pubplan.workload.content.totals import ContentCounts, ContentTotals
from pubplan.workload.content.tree import PUBLISHER, Brokers
from pubplan.workload.content.workload import ClientBlock, ContentWorkload
from pubplan.workload.content.writer import Sites, WrittenClients, finish_content_workload, write_clients_block
from pubplan.workload.kinds import register_kind

register_kind(CONTENT)

__all__ = [
    "CONTENT",
    "MAX_VOLUME",
    "OPTIONAL_CLIENTS",
    "PRICE_NAMES",
    "PUBLISHER",
    "UNLIMITED_US",
    "USUAL_DELAY",
    "Attribute",
    "Balance",
    "Broker",
    "Brokers",
    "Candidates",
    "Client",
    "ClientBlock",
    "Closure",
    "ContentCounts",
    "ContentDescription",
    "ContentTotals",
    "ContentWorkload",
    "Groups",
    "HeatMap",
    "Hop",
    "MapPoint",
    "Sites",
    "Space",
    "WrittenClients",
    "balance",
    "build_content_workload",
    "candidates_of",
    "capacities_at",
    "close_links",
    "corner_names",
    "delay_limits",
    "describe_content",
    "factor_value",
    "finish_content_workload",
    "least_load",
    "least_load_factor",
    "load_factor",
    "map_points",
    "metric_closure",
    "overlap_of",
    "read_groups",
    "site_latencies",
    "unit_space",
    "volumes",
    "write_clients_block",
]
