"""The system check that the OpenAPI document can be built."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Error, register

from config.openapi.document import NameTaken


@register()
def check_schema_names(**_options: Any) -> list[CheckMessage]:
    from config.api import api  # the API needs every app to be loaded

    try:
        api.get_openapi_schema()
    except NameTaken as error:
        return [Error(str(error), id="config.E001")]
    return []
