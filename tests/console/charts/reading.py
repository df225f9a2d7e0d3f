"""Read a drawing as a browser does."""

from __future__ import annotations

from xml.etree import ElementTree


def parse_svg(drawing: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawing)  # noqa: S314 (drawn by us)


def list_points(line: ElementTree.Element) -> list[tuple[float, float]]:
    pairs = (point.split(",") for point in line.attrib["points"].split())
    return [(float(x), float(y)) for x, y in pairs]


def read_percent(text: str) -> float:
    assert text.endswith("%"), text
    return float(text.removesuffix("%"))
