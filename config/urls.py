"""Every address: the API, the console, and what stands beside them."""

from __future__ import annotations

from importlib import import_module

from django.urls import include, path
from django.views.decorators.cache import never_cache

from config import pages
from config.access.enforce import guard_pages
from config.api import api
from config.health.api import healthz, readyz, status_page
from config.health.metrics import metrics

urlpatterns = [
    path("api/v1/docs", pages.api_docs, name="api-docs"),
    path("api/v1/metrics", never_cache(metrics)),
    path("api/v1/", api.urls),
    path("problems/<slug:slug>", pages.problem, name="problem"),
    path("healthz", never_cache(healthz)),
    path("readyz", never_cache(readyz)),
    path("status", never_cache(status_page), name="status"),
    path("metrics", never_cache(metrics)),
    path("", include("accounts.urls")),
    path("", include("console.urls")),
]

# Once: Django reads this module at its first request.
guard_pages(import_module("console.urls").urlpatterns)

handler400 = "config.pages.bad_request"
handler403 = "config.pages.forbidden"
handler404 = "config.pages.not_found"
handler500 = "config.pages.server_error"
