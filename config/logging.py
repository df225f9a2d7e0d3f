"""One log record is one line without secrets: nobody can forge a second one."""

from __future__ import annotations

import json
import logging

from guidance.redactor import clean

BRIEF_LENGTH = 150


class OneLineFormatter(logging.Formatter):
    """`time level logger message`; line breaks and controls appear as escapes."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        text = clean(super().format(record))
        if text.isprintable():
            return text
        return json.dumps(text, ensure_ascii=False)[1:-1]


class Brief(logging.Filter):
    """For what strangers can cause: a warning of one short line, without a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if len(message) > BRIEF_LENGTH:
            message = message[:BRIEF_LENGTH] + "…"
        record.msg, record.args = message, None
        record.exc_info = record.exc_text = None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True
