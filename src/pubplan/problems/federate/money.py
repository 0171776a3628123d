"""How money is written: what a window of messages costs may be little, and its parts less."""

from __future__ import annotations

from functools import partial

from pubplan.text import MICROS, dollars_proven, dollars_up, split_changes, split_dollars

CENTS_FROM = 10 * MICROS
"""From 10 dollars on, amounts are in cents; below, a part of them may be less than a cent."""

money_up = partial(dollars_up, cents_from=CENTS_FROM)
money_proven = partial(dollars_proven, cents_from=CENTS_FROM)
split_money = partial(split_dollars, cents_from=CENTS_FROM)
split_money_changes = partial(split_changes, cents_from=CENTS_FROM)
