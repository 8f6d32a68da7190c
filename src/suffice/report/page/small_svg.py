"""SVG files of matplotlib made small, for a page that holds several of them.

Text stays text, coordinates have one decimal, and what no reader sees is left out: metadata, comments, identifiers that
nothing refers to, and styles repeated on every point.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HREF = f"{{{XLINK}}}href"
PLACES = ("d", "x", "y", "points", "transform", "width", "height")  # attributes that hold coordinates
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
FONT = re.compile(r"font: (\d[\d.]*px) '[^;]*")  # as versions before 3.10 write it
FAMILY = re.compile(r"font-family:[^;]*;?")
STILL = re.compile(r"rotate\(-?0 [^)]*\)")
FAMILIES = "DejaVu Sans,Verdana,sans-serif"
PLAIN = ("", "stroke-dashoffset:0", "stroke-linejoin:miter", "stroke-opacity:1", "fill-opacity:1")  # said in vain
QUOTE = "\ue000"  # stands for a quotation mark within text
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def small_svg(text: str) -> str:
    """Return a picture that looks the same and takes less room.

    Parameters
    ----------
    text : str
        As matplotlib writes it with ``svg.fonttype: none``.
    """
    root = ElementTree.fromstring(text)
    for name in ("width", "height"):  # the view box has them, and the page decides
        root.attrib.pop(name, None)
    _tidy(root)
    _join(root)
    _rename(root)
    _leave_out(root)
    root.set("font-family", FAMILIES)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    for element in root.iter():  # single quotes around values, which need no escape within a page's double ones
        element.text = element.text and element.text.replace('"', QUOTE)
        for name, value in element.attrib.items():
            element.set(name, value.replace("'", ""))
    written = ElementTree.tostring(root, encoding="unicode").replace(" />", "/>").replace('"', "'")
    return written.replace(QUOTE, "&quot;")


def _tidy(element: ElementTree.Element) -> None:
    """Shorten numbers and fonts, and drop metadata and blanks."""
    for name, value in element.attrib.items():
        if name in PLACES:
            element.set(name, _short(STILL.sub("", value)))
        elif name == "style":
            element.set(name, FAMILY.sub("", FONT.sub(r"font-size: \1", value)).replace(": ", ":").replace("; ", ";"))
    if element.tag != f"{{{SVG}}}text":
        element.text = element.text.strip() if element.text and element.tag.endswith("style") else None
    for child in list(element):
        child.tail = None
        if child.tag == f"{{{SVG}}}metadata":
            element.remove(child)
        else:
            _tidy(child)


def _short(text: str) -> str:
    """Round coordinates to one decimal, and leave out blanks that separate nothing.

    >>> _short("M 38.233107 0.04 L 224.553252 15.07899 z")
    'M38.2 0L224.6 15.1z'
    """
    rounded = NUMBER.sub(lambda found: f"{round(float(found[0]), 1) + 0.0:g}", text)
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", rounded).strip() if re.match(r"M[ \d-]", rounded) else rounded


def _join(element: ElementTree.Element) -> None:
    """Take groups apart that say nothing, join equal ones, and state once what all points of a group share."""
    children: list[ElementTree.Element] = []
    referred = _referred(element) if element.tag == f"{{{SVG}}}svg" else None
    if referred is not None:
        for inner in element.iter():
            if inner.get("id") is not None and inner.get("id") not in referred:
                del inner.attrib["id"]
    for child in list(element):
        _join(child)
        is_group = child.tag == f"{{{SVG}}}g"
        if is_group and not child.attrib:
            children += list(child)
        elif is_group and children and children[-1].tag == child.tag and children[-1].attrib == child.attrib:
            children[-1].extend(list(child))
        elif not (is_group and len(child) == 0):
            children.append(child)
    for child in list(element):
        element.remove(child)
    seen = set()
    for child in children:
        if child.tag == f"{{{SVG}}}use":  # points that fall upon each other
            key = tuple(sorted(child.attrib.items()))
            if key in seen:
                continue
            seen.add(key)
        element.append(child)
    for group in [element, *element]:
        _state_once(group)


def _state_once(group: ElementTree.Element) -> None:
    """Move a style that all members of a group share to the group."""
    styles = {child.get("style") for child in group}
    if group.tag == f"{{{SVG}}}g" and "style" not in group.attrib and len(group) > 2 and len(styles) == 1:
        style = styles.pop()
        if style:
            group.set("style", style)
            for child in group:
                del child.attrib["style"]


def _referred(root: ElementTree.Element) -> set[str]:
    """Return the identifiers that something refers to."""
    found = set()
    for element in root.iter():
        for value in element.attrib.values():
            found.update(re.findall(r"^#(.+)|url\(#(.+?)\)", value))
    return {a or b for a, b in found}


def _rename(root: ElementTree.Element) -> None:
    """Give identifiers short names."""
    known = [element.get("id", "") for element in root.iter() if element.get("id")]
    short = {name: LETTERS[k % 26] + (str(k // 26) if k >= 26 else "") for k, name in enumerate(dict.fromkeys(known))}
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "id":
                element.set(name, short[value])
            elif "#" in value and (name == HREF or "url(" in value):
                element.set(name, re.sub(r"#([\w.-]+)", lambda found: "#" + short.get(found[1], found[1]), value))


def _leave_out(root: ElementTree.Element) -> None:
    """Leave out what is so without being said."""
    styles = {f"#{element.get('id')}": element.get("style") for element in root.iter() if element.get("id")}
    for element in root.iter():
        if not element.get("transform", "."):
            del element.attrib["transform"]
        if element.get("style") == "" or (
            HREF in element.attrib and element.get("style") == styles.get(element.attrib[HREF])
        ):
            element.attrib.pop("style", None)
        style = element.get("style")
        if style is not None:
            parts = [re.sub(r"#(.)\1(.)\2(.)\3$", r"#\1\2\3", part) for part in style.split(";") if part not in PLAIN]
            element.set("style", ";".join(parts))
