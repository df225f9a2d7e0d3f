"""The people's side: reading the queue, ruling, and following runs from a program."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from checkrail.answers import (
    Halt,
    LedgerEntry,
    ListedNote,
    NoteList,
    Review,
    ReviewDetail,
    RunState,
    Verification,
)
from checkrail.answers.parsing import A, Answer, parse_answer
from checkrail.errors import ProtocolError, Unreachable
from checkrail.intents import Intent
from checkrail.money import format_money
from checkrail.transport.connection import RETRY_SECONDS, build_connection
from checkrail.transport.driver import Driver
from checkrail.transport.effects import (
    NoResponse,
    Request,
    drop_unset,
    get,
    post_once,
    quote_part,
)
from checkrail.transport.responses import parse_problem
from checkrail.transport.retry import send_request

if TYPE_CHECKING:
    import httpx

PAGE = 100
# A stopped run may be reopened: it has not ended.
FINAL = frozenset({"completed", "failed", "aborted", "abandoned"})


@dataclass(frozen=True, kw_only=True)
class Page(Answer):
    items: tuple[Any, ...]
    next_cursor: str | None = None
    previous_cursor: str | None = None
    total: int | None = None


class Desk:
    """A person's way to the server, by CHECKRAIL_URL and CHECKRAIL_TOKEN.

    Reading is tried again when the network fails; a ruling is sent once, because the
    server knows no key by which it could tell a second one from the first.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        retry_seconds: float = RETRY_SECONDS,
        connect_timeout: float = 5.0,
        read_timeout: float = 30.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.connection = build_connection(
            url,
            token,
            name="CHECKRAIL_TOKEN",
            retry_seconds=retry_seconds,
            connect_timeout=connect_timeout,
            read_timeout=read_timeout,
        )
        self.driver = Driver(self.connection, transport=transport)

    # Reviews

    def reviews(
        self,
        *,
        state: str | None = "open",
        kind: str | None = None,
        run: str | None = None,
        assignee: str | None = None,
    ) -> Iterator[Review]:
        """The newest first; more are fetched as they are needed."""
        wanted = drop_unset(state=state, kind=kind, run=run, assignee=assignee)
        return self._list_pages(Review, "/reviews", wanted)

    def review(self, review_id: str) -> ReviewDetail:
        """All that is needed to rule: content, digest, version, and what was done."""
        return self._send(ReviewDetail, get(f"/reviews/{quote_part(review_id)}"))

    def rule(
        self,
        review: Review | str,
        action: str,
        *,
        note: str = "",
        answer: str | None = None,
        amended: Mapping[str, Any] | None = None,
        remember: Mapping[str, Any] | None = None,
        allowance: Mapping[str, Any] | None = None,
    ) -> Review:
        """Rule on a review as it was read. One that is named by its id is read first.

        Raises StaleVersion if it has changed since, AlreadyRuled if somebody was faster.
        """
        seen = self.review(review) if isinstance(review, str) else review
        body = {
            "action": action,
            "version": seen.version,
            "content_digest": seen.content_digest,
            **drop_unset(
                note=note,
                answer=answer,
                amended=amended,
                remember=remember,
                allowance=allowance,
            ),
        }
        return self._post(Review, f"/reviews/{quote_part(seen.id)}/ruling", body)

    def approve(
        self,
        review: Review | str,
        *,
        note: str = "",
        remember: Mapping[str, Any] | None = None,
        allowance: Mapping[str, Any] | None = None,
    ) -> Review:
        """`remember`: for example `{"scope": "exact", "hours": 8, "uses": 50}`.
        `allowance`, of a pause: for example `{"steps": 20, "up_to": 0.9}`."""
        return self.rule(
            review, "approve", note=note, remember=remember, allowance=allowance
        )

    def abort(self, review: Review | str, *, note: str = "") -> Review:
        return self.rule(review, "abort", note=note)

    def deny(self, review: Review | str, *, note: str = "") -> Review:
        return self.rule(review, "deny", note=note)

    def retry(self, review: Review | str, *, note: str = "") -> Review:
        return self.rule(review, "retry", note=note)

    def skip(self, review: Review | str, *, note: str) -> Review:
        return self.rule(review, "skip", note=note)

    def answer(self, review: Review | str, text: str, *, note: str = "") -> Review:
        return self.rule(review, "answer", answer=text, note=note)

    def amend(
        self,
        review: Review | str,
        amended: Mapping[str, Any],
        *,
        note: str = "",
        remember: Mapping[str, Any] | None = None,
    ) -> Review:
        """Let a changed call run instead: `amended` holds the parts that change."""
        return self.rule(review, "amend", amended=amended, note=note, remember=remember)

    def claim(self, review: Review | str) -> Review:
        """Tell the others that you look at it. Anybody may still rule."""
        return self._post(Review, f"/reviews/{quote_part(_get_id(review))}/claim", {})

    def release(self, review: Review | str) -> Review:
        return self._post(Review, f"/reviews/{quote_part(_get_id(review))}/release", {})

    def assign(
        self,
        review: Review | str,
        to: str,
        *,
        note: str = "",
        how: str = "least_loaded",
    ) -> Review:
        """Give it to a person, or to one of a role: `to="role:reviewer"`."""
        path = f"/reviews/{quote_part(_get_id(review))}/assign"
        return self._post(Review, path, {"to": to, "note": note, "how": how})

    def snooze(self, review: Review | str, until: str | None) -> Review:
        """Set it aside until a time, "run" or "comment"; None brings it back."""
        path = f"/reviews/{quote_part(_get_id(review))}/snooze"
        return self._post(Review, path, {"until": until})

    def hand_over(
        self, review: Review | str, note: str, *, to: str | None = None
    ) -> Review:
        """Pass on what you have; without `to` everybody may take it."""
        path = f"/reviews/{quote_part(_get_id(review))}/handover"
        return self._post(Review, path, {"note": note, "to": to})

    def comment(
        self, review: Review | str, text: str, *, reply_to: str | None = None
    ) -> Review:
        """`@name` mentions a person; `reply_to` is the id of the comment it answers."""
        path = f"/reviews/{quote_part(_get_id(review))}/comments"
        return self._post(Review, path, {"text": text, "reply_to": reply_to})

    # Runs

    def runs(
        self,
        *,
        status: str | None = None,
        agent: str | None = None,
        intent: Intent | None = None,
        label: str | None = None,
        model: str | None = None,
        since: str | None = None,
        until: str | None = None,
        q: str | None = None,
        sort: str | None = None,
    ) -> Iterator[RunState]:
        """The newest first, unless `sort` says otherwise; more are fetched as they are
        needed. `since` and `until` are times with their zone."""
        wanted = drop_unset(
            status=status,
            agent=agent,
            intent=intent,
            label=label,
            model=model,
            since=since,
            until=until,
            q=q,
            sort=sort,
        )
        return self._list_pages(RunState, "/runs", wanted)

    def run(self, run_id: str) -> RunState:
        return self._send(RunState, get(f"/runs/{quote_part(run_id)}"))

    def abort_run(
        self, run_id: str, *, reason: str = "", children: bool = False
    ) -> RunState:
        """`children`: also every open run below it, however deep."""
        return self._post(
            RunState,
            f"/runs/{quote_part(run_id)}/abort",
            {"reason": reason, "children": children},
        )

    def tell(self, run_id: str, text: str, *, tags: Sequence[str] = ()) -> ListedNote:
        """Write to a running agent, which goes on, and hears it with its next answer."""
        body = {"text": text, "tags": list(tags)}
        return self._post(ListedNote, f"/runs/{quote_part(run_id)}/notes", body)

    def list_notes(self, run_id: str) -> list[ListedNote]:
        """What people told the agent of a run, and what became of it."""
        request = get(f"/runs/{quote_part(run_id)}/notes")
        return list(self._send(NoteList, request).items)

    def reopen_run(
        self, run_id: str, *, reason: str, budget: Mapping[str, Any] | None = None
    ) -> RunState:
        """Let a stopped run go on, with a new budget if one is given (manager)."""
        limits = dict(budget or {})
        if limits.get("cost_usd") is not None:
            limits["cost_usd"] = format_money(limits["cost_usd"])
        body = {"reason": reason, "budget": limits}
        return self._post(RunState, f"/runs/{quote_part(run_id)}/reopen", body)

    def revoke_allowance(self, run_id: str, allowance_id: str) -> RunState:
        """From the next step on the run asks again."""
        run, allowance = quote_part(run_id), quote_part(allowance_id)
        path = f"/runs/{run}/allowances/{allowance}/revoke"
        return self._post(RunState, path, {})

    # Halts

    def halts(self, *, state: str | None = "standing") -> Iterator[Halt]:
        """The newest first; None also lists those that were released."""
        return self._list_pages(Halt, "/halts", drop_unset(state=state))

    def halt(
        self, scope: Mapping[str, Any], reason: str, *, project: str | None = None
    ) -> Halt:
        """Stop everything of a scope at once: `{"project": True}`, `{"agent": "robo"}`,
        `{"label": "team:shop"}` or `{"run": "…", "children": True}`."""
        body = {"scope": dict(scope), "reason": reason}
        request = post_once("/halts", body)
        return self._send(Halt, replace(request, params=drop_unset(project=project)))

    def release_halt(
        self, halt_id: str, reason: str, *, keep: Sequence[Mapping[str, Any]] = ()
    ) -> Halt:
        """Let it go on (manager); the scopes in `keep` stay halted."""
        body = {"reason": reason, "keep": [dict(each) for each in keep]}
        request = post_once(f"/halts/{quote_part(halt_id)}", body)
        return self._send(Halt, replace(request, method="DELETE"))

    # The ledger

    def ledger(self, run_id: str) -> Iterator[str]:
        """The lines of the run's ledger, as `checkrail.verify` reads them."""
        # Here and not above: `import checkrail` must not take the time of httpx.
        from checkrail.transport.pools import RefusedStream

        request = get(f"/runs/{quote_part(run_id)}/ledger")
        try:
            yield from self.driver.get_pool().read_lines(request)
        except RefusedStream as refused:
            raise parse_problem(refused.answer) from None
        except NoResponse as error:
            raise Unreachable(f"{self.connection.base} broke off: {error}") from error

    def tail(
        self, run_id: str, *, seconds: float = 1.0, after: int = 0
    ) -> Iterator[LedgerEntry]:
        """Every entry after the given one as it comes, by asking every few seconds.

        Ends with the run.
        """
        while True:
            run = self.run(run_id)
            if run.head.seq > after:
                for line in self.ledger(run_id):
                    entry = _parse_entry(line)
                    if entry.seq > after:
                        after = entry.seq
                        yield entry
            if run.status in FINAL:
                return
            time.sleep(seconds)

    def verify(self, run_id: str) -> Verification:
        """Have the server recompute the chain; `checkrail.verify` needs no server."""
        return self._send(Verification, get(f"/runs/{quote_part(run_id)}/verify"))

    def close(self) -> None:
        self.driver.close()

    def __enter__(self) -> Desk:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _list_pages(
        self, kind: type[A], path: str, wanted: Mapping[str, str]
    ) -> Iterator[A]:
        cursor: dict[str, str] = {}
        while True:
            query = {**wanted, **cursor, "limit": str(PAGE)}
            page = self._send(Page, get(path, query))
            yield from (parse_answer(kind, item) for item in page.items)
            if page.next_cursor is None:
                return
            cursor = {"cursor": page.next_cursor}

    def _post(self, kind: type[A], path: str, body: Mapping[str, Any]) -> A:
        return self._send(kind, post_once(path, body))

    def _send(self, kind: type[A], request: Request) -> A:
        return self.driver.drive(send_request(self.connection, kind, request))


def _get_id(review: Review | str) -> str:
    return review if isinstance(review, str) else review.id


def _parse_entry(line: str) -> LedgerEntry:
    try:
        return parse_answer(LedgerEntry, json.loads(line))
    except ValueError:
        raise ProtocolError("A line of the ledger is no JSON.") from None
