"""Management commands that start quickly.

Django looks at everything before a command: at the addresses of all pages and at the
whole API, which takes longer to load than most commands take to run. Ours look at the
settings alone; `manage.py check` and a starting server look at the rest.
"""

from __future__ import annotations

from django.core.management.base import BaseCommand

# The tag of the checks that look at settings, whichever app registers them.
SETTINGS = "settings"


class QuickCommand(BaseCommand):
    requires_system_checks = (SETTINGS,)
