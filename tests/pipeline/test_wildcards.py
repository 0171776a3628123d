"""Wildcards against a matcher that walks along the tokens."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from pubplan.errors import InputError
from pubplan.pipeline import Ingest, Source
from pubplan.pipeline.wildcards import Wildcards


def plain_match(syntax: str, pattern: list[str], topic: list[str]) -> bool:
    """Token by token, as the manuals of NATS and MQTT say it."""
    one, rest = ("*", ">") if syntax == "nats" else ("+", "#")
    if syntax == "mqtt" and topic[0].startswith("$") and pattern[0] in (one, rest):
        return False
    for index, token in enumerate(pattern):
        if token == rest and index == len(pattern) - 1:
            return len(topic) >= index + (1 if syntax == "nats" else 0)
        if index >= len(topic) or (token != one and token != topic[index]):
            return False
        if token == one and syntax == "nats" and not topic[index]:
            return False
    return len(topic) == len(pattern)


@pytest.mark.parametrize("syntax", ["nats", "mqtt"])
def test_all_short_patterns_over_random_topics(syntax: str) -> None:
    """Every pattern of up to three tokens matches the topics that the plain matcher accepts, by number."""
    rng = random.Random(3)
    separator = "." if syntax == "nats" else "/"
    words = ["a", "b", "ab", "$SYS", "é"]
    topics = [separator.join(rng.choice(words) for _ in range(rng.randrange(1, 5))) for _ in range(150)]
    topics = sorted(set(topics), key=lambda topic: topic.encode())
    one, rest = ("*", ">") if syntax == "nats" else ("+", "#")
    tokens = ["a", "ab", "$SYS", one, rest]
    patterns = [[x] for x in tokens] + [[x, y] for x in tokens for y in tokens if x != rest]
    patterns += [[*p, z] for p in patterns if len(p) == 2 and p[1] != rest for z in tokens]
    matcher = Wildcards(syntax, pa.array(topics))
    for pattern in patterns:
        name = separator.join(pattern).encode()
        assert matcher.is_pattern(name) == (one in pattern or rest in pattern)
        expected = [n for n, topic in enumerate(topics) if plain_match(syntax, pattern, topic.split(separator))]
        assert matcher.matches(name).tolist() == expected, pattern


def test_letters_inside_tokens_are_no_wildcards() -> None:
    """Only whole tokens are wildcards, and the rest only at the end."""
    matcher = Wildcards("nats", pa.array(["a*", "a.b"]))
    assert not matcher.is_pattern(b"a*")
    assert not matcher.is_pattern(b">.a")
    assert matcher.is_pattern(b"*.>")
    with pytest.raises(InputError, match="nats or mqtt"):
        Ingest(Source("events", "e"), Source("subscriptions", "s"), wildcards="amqp")
