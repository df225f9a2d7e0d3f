"""A receiver that may be called, and a clean table: the worker serves every project."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test.utils import override_settings

from tests.webhooks.receivers import Receiver, receiving
from webhooks.models import WebhookEndpoint


@pytest.fixture
def receiver(database: None) -> Iterator[Receiver]:
    with receiving() as server, override_settings(WEBHOOK_ALLOW=("127.0.0.0/8",)):
        yield server


@pytest.fixture(autouse=True)
def nothing_left(database: None) -> Iterator[None]:
    """Neither to the tests after this one, nor from those before."""
    WebhookEndpoint.objects.all().delete()
    yield
    WebhookEndpoint.objects.all().delete()
