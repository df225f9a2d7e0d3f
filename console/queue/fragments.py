"""Fragments of the queue: its rows, its edges and its counts."""

from __future__ import annotations

import json
from collections.abc import Iterable

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.fragments import render_fragment
from console.queue.floods import FillingNotices
from console.queue.folds.groups import Edge, ListRow, QueueList
from reviews.queue.tally import Tally
from reviews.rulings.take_overs import TakeOver


def render_list_row(row: ListRow) -> SafeString:
    """Of one review, or of several that are alike."""
    return render_fragment(row.template, row=row)


def render_fold_removal(key: str, *, seq: int) -> SafeString:
    return format_html('<li id="alike-{}" data-seq="{}" data-gone></li>', key, seq)


def render_removal(code: object, *, seq: int) -> SafeString:
    """Sent to a list that may still show the row."""
    return format_html('<li id="review-{}" data-seq="{}" data-gone></li>', code, seq)


def render_list(listed: QueueList) -> SafeString:
    return render_fragment("console/queue/_queue_list.html", list=listed)


def render_edge(edge: Edge | None) -> SafeString:
    return render_fragment("console/queue/_queue_edge.html", edge=edge)


def render_counts(tally: Tally) -> SafeString:
    """Every number of the queue; the screen knows whose and which filter it shows."""
    return render_fragment("console/queue/_queue_counts.html", tally=tally)


def render_floods(found: FillingNotices) -> SafeString:
    return render_fragment("console/queue/_floods.html", filling=found)


def render_take_overs(found: Iterable[TakeOver], *, slug: str) -> SafeString:
    """Who took what over from whom; each page tells its viewer what is for them."""
    notices = json.dumps(
        [
            {
                "from": each.claimer,
                "text": each.text,
                "url": reverse("console:review", args=[slug, each.review]),
            }
            for each in found
        ]
    )
    return format_html('<i id="take-overs" data-take-overs="{}" hidden></i>', notices)
