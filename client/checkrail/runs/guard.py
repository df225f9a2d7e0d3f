"""Guarded functions: the gates judge each call by its name and bound arguments."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from checkrail.errors import CheckrailError
from checkrail.flows.call_results import REPR_KEY, CallCore
from checkrail.flows.reviewer_words import describe_change, quote_note, take_untold
from checkrail.outcomes import NotReplayable

Tell = Callable[[Any, str], Any]


def tell_beside(value: Any, words: str) -> Any:
    """The value of a guarded function, with words for the model beside it."""
    if value is None:
        return words
    if isinstance(value, str):
        return f"{words}\n\n{value}"
    return {"note": words, "result": value}


class GuardedFunction:
    """How calls of one function look to the gates; `ignore` names what they never see."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        tool: str | None,
        ignore: Sequence[str],
        tell: Tell = tell_beside,
    ) -> None:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(
            function
        ):
            raise TypeError(
                "A generator cannot be guarded: it runs later, and in pieces."
            )
        name = tool or getattr(function, "__name__", None)
        if not isinstance(name, str):
            raise TypeError("What is guarded needs a name: guard(tool=…).")
        self.tool = name
        self.ignore = frozenset(ignore)
        self.tell = tell
        self.signature = inspect.signature(function)
        unknown = self.ignore - set(self.signature.parameters)
        if unknown:
            raise TypeError(
                f"{self.tool} has no parameter {', '.join(sorted(unknown))}."
            )

    def bind(self, args: tuple[Any, ...], more: dict[str, Any]) -> BoundCall:
        arguments = self.signature.bind(*args, **more)
        arguments.apply_defaults()
        return BoundCall(self, arguments)


class BoundCall:
    """One call of a guarded function: what is judged, and what runs."""

    def __init__(
        self, guarded: GuardedFunction, arguments: inspect.BoundArguments
    ) -> None:
        self.guarded = guarded
        self._arguments = arguments
        self._judged = self._encode_arguments()

    @property
    def judged_arguments(self) -> dict[str, Any]:
        arguments: dict[str, Any] = json.loads(self._judged)
        return arguments

    def get_granted_arguments(self, call: CallCore) -> inspect.BoundArguments:
        """The arguments that were granted: the caller's own, or a person's."""
        if call.amended:
            return self._bind_amended(call.arguments)
        if self._encode_arguments() != self._judged:
            raise CheckrailError(
                f"The arguments of {self.guarded.tool} were changed while it was judged."
            )
        return self._arguments

    @contextmanager
    def keep_words(self, call: CallCore) -> Iterator[None]:
        """Keep what was to be told: where the function raises, the next result tells it."""
        try:
            yield
        except BaseException:
            call.run.untold.extend(self._list_words(call))
            raise

    def add_words(self, call: CallCore, value: Any) -> Any:
        """The value, with what a reviewer changed and wrote, for the model."""
        words = "\n".join([*self._list_words(call), *take_untold(call.run)])
        return self.guarded.tell(value, words) if words else value

    def _list_words(self, call: CallCore) -> list[str]:
        words = []
        if call.amended:
            words.append(describe_change(call.arguments, self.judged_arguments))
        if call.ruling is not None and call.ruling.note:
            words.append(quote_note(call.ruling))
        return words

    def _encode_arguments(self) -> str:
        """What the gates see. Further keyword arguments stand beside the named ones."""
        shown: dict[str, Any] = {}
        for name, value in self._arguments.arguments.items():
            if name in self.guarded.ignore:
                continue
            if self._get_kind(name) is inspect.Parameter.VAR_KEYWORD:
                shown.update(value)
            else:
                shown[name] = value
        try:
            return json.dumps(shown, allow_nan=False, sort_keys=True)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{self.guarded.tool} cannot be judged by arguments that are no JSON "
                f"({error}). Name what the gates need not see: guard(ignore=[…])."
            ) from None

    def _bind_amended(self, granted: Mapping[str, Any]) -> inspect.BoundArguments:
        """Bound anew: what a person took out falls back to its default."""
        rest = dict(granted)
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for name, parameter in self.guarded.signature.parameters.items():
            own = self._arguments.arguments[name]
            if parameter.kind is parameter.VAR_KEYWORD:
                named.update(own if name in self.guarded.ignore else {})
                continue
            if name in self.guarded.ignore:
                value = own
            elif name in rest:
                value = rest.pop(name)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                value = ()
            elif parameter.default is not parameter.empty:
                value = parameter.default
            else:
                raise TypeError(
                    f"The amended call of {self.guarded.tool} has no {name}."
                )
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional += value
            elif parameter.kind is parameter.KEYWORD_ONLY:
                named[name] = value
            else:
                positional.append(value)
        return self.guarded.signature.bind(*positional, **named, **rest)

    def _get_kind(self, name: str) -> Any:
        return self.guarded.signature.parameters[name].kind


def get_stored_result(call: CallCore) -> Any:
    """The result of an idempotent tool that the server has kept."""
    if isinstance(call.output, dict) and REPR_KEY in call.output:
        raise NotReplayable(
            f"The stored result of {call.tool} is only a text: let it return plain JSON, "
            "or take it out of the policy's idempotent tools."
        )
    return call.output
