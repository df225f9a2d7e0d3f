"""Who is signed in here: the address and the token, in a file only its owner reads."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from checkrail.errors import ConfigurationError
from checkrail.people import Desk

# Somebody sits there and can try again.
RETRY_SECONDS = 5.0


@dataclass(frozen=True)
class Login:
    url: str
    token: str = field(repr=False)


def get_login_path() -> Path:
    """CHECKRAIL_CONFIG, or the user's configuration folder."""
    named = os.environ.get("CHECKRAIL_CONFIG")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "checkrail" / "login.json"


def store_login(login: Login) -> Path:
    path = get_login_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"url": login.url, "token": login.token})
    # Made for its owner alone from the first byte on, and whole or not at all.
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(draft, path)
    return path


def delete_login() -> bool:
    path = get_login_path()
    there = path.exists()
    path.unlink(missing_ok=True)
    return there


def read_login() -> Login | None:
    path = get_login_path()
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return Login(url=document["url"], token=document["token"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise ConfigurationError(
            f"{path} cannot be read ({error}). Sign in again: checkrail login"
        ) from None


def open_desk() -> Desk:
    """The environment first, then what was saved."""
    known = read_login()
    url = os.environ.get("CHECKRAIL_URL") or (known.url if known else None)
    token = os.environ.get("CHECKRAIL_TOKEN")
    if known and url and not token:
        # The environment may be a project's: it must not get hold of a person's token.
        if url.rstrip("/") != known.url.rstrip("/"):
            raise ConfigurationError(
                f"You are signed in to {known.url}, but CHECKRAIL_URL names {url}. Sign "
                "in there with checkrail login, or leave out CHECKRAIL_URL."
            )
        token = known.token
    if not url or not token:
        raise ConfigurationError(
            "You are not signed in. Sign in with: checkrail login "
            "(or set CHECKRAIL_URL and CHECKRAIL_TOKEN)"
        )
    return Desk(url, token, retry_seconds=RETRY_SECONDS)
