"""Packages that load what they offer when it is first used, so that importing them costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def loader(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package.

    Args:
        package: its name.
        names: by module below the package, the names that it offers; each is in the module or is a module below it.
            The package itself is the module "".
    """
    homes = {name: f"{package}.{module}".rstrip(".") for module, offered in names.items() for name in offered}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        home = homes[name]
        try:
            return import_module(f"{home}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{home}.{name}":
                raise
        return getattr(import_module(home), name)

    return load
