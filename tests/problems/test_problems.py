"""The table of families."""

from __future__ import annotations

import pytest

from pubplan.errors import InputError
from pubplan.problems import FAMILIES, family_named


@pytest.mark.parametrize("name", FAMILIES)
def test_every_method_says_what_it_is(name: str) -> None:
    """Guarantee, complexity, source and purpose are filled in, names match their keys."""
    family = family_named(name)
    assert family.name == name
    assert family.default_bound in family.bounds
    for key, method in family.methods.items():
        assert key == method.name
        assert all([method.guarantee, method.complexity, method.paper, method.applies])


def test_unknown_families_are_refused() -> None:
    """With the nearest name."""
    with pytest.raises(InputError, match="Did you mean 'select'"):
        family_named("selct")
