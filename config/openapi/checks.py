"""The system check that the OpenAPI document can be built."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Error, register


@register()
def check_schema_names(**_options: Any) -> list[CheckMessage]:
    # The API needs every app to be loaded, and takes long to load itself.
    from config.api import api
    from config.openapi.document import NameTaken

    try:
        api.get_openapi_schema()
    except NameTaken as error:
        return [Error(str(error), id="config.E001")]
    return []
