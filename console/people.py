"""People as pages show them: by name, initials and colour."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.models import User
from safetext import make_visible_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Enough to recognise them."""

    code: str
    name: str

    @property
    def initials(self) -> str:
        parts = self.name.split()
        letters = parts[0][:1] + parts[-1][:1] if len(parts) > 1 else self.name[:2]
        return letters.upper()

    @property
    def hue(self) -> str:
        return f"a{int(self.code[-4:], 16) % 3 + 1}"


def build_person(user: User) -> Person:
    return Person(code=str(user.code), name=make_visible_line(user.display_name))
