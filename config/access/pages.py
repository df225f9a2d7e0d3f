"""Who may open which page of the console, and change something there: each address below
a project stands here once, under its rule. `join/`, `password/` and the sign-in are for
whoever has the link or the password, and belong to no project."""

from __future__ import annotations

from collections.abc import Mapping

from accounts.models import Role
from console.access import PageAccess

MEMBERS = PageAccess()
# What is sent there is the sender's own, or changes nothing.
OWN = PageAccess(own=True)
# Read by every member, changed by managers.
MANAGED = PageAccess(changes=Role.MANAGER)
MANAGERS = PageAccess(reads=Role.MANAGER, changes=Role.MANAGER)
SIGHT = PageAccess(reads=Role.MANAGER, changes=Role.MANAGER, auditors=True)
ADMINS = PageAccess(reads=Role.MANAGER, changes=Role.ADMIN, auditors=True)

_RULES: tuple[tuple[PageAccess, tuple[str, ...]], ...] = (
    (
        MEMBERS,
        (
            "backtests/<uuid:code>/",
            "backtests/<uuid:code>/items.csv",
            "backtests/<uuid:code>/items.json",
            "exemptions/<uuid:code>/revoke/",
            "gates/",
            "halts/",
            "halts/new/",
            "halts/new/effect/",
            "ledger/",
            "limits/",
            "limits/halt/",
            "loop/",
            "loop/decisions/<uuid:code>/",
            "loop/incidents/",
            "loop/incidents/<uuid:code>/resolve/",
            "loop/notes/",
            "loop/pause/",
            "loop/recommendations/",
            "loop/week/",
            "newest/",
            "overview/",
            "palette/",
            "permissions/",
            "permissions/<uuid:code>/revoke/",
            "policies/",
            "policies/<str:name>/",
            "policies/<str:name>/compare/",
            "policies/<str:name>/suggestions/",
            "policies/<str:name>/suggestions/<str:setting>/",
            "policies/<str:name>/versions/<int:number>/",
            "queue/",
            "queue/<uuid:code>/",
            "queue/<uuid:code>/agent/",
            "queue/<uuid:code>/amend/",
            "queue/<uuid:code>/assign/",
            "queue/<uuid:code>/claim/",
            "queue/<uuid:code>/comment/",
            "queue/<uuid:code>/delivery/",
            "queue/<uuid:code>/disallow/",
            "queue/<uuid:code>/release/",
            "queue/<uuid:code>/rule/",
            "queue/<uuid:code>/send/",
            "queue/<uuid:code>/snooze/",
            "queue/<uuid:code>/take-back/",
            "queue/decided/",
            "queue/selection/",
            "queue/selection/rule/",
            "queue/selection/send/",
            "queue/selection/take-back/",
            "rulings/",
            "runs.csv",
            "runs/",
            "runs/<uuid:code>/",
            "runs/<uuid:code>/abort/",
            "runs/<uuid:code>/allowances/<uuid:allowance>/revoke/",
            "runs/<uuid:code>/calls/",
            "runs/<uuid:code>/entries/<int:seq>/",
            "runs/<uuid:code>/note/",
            "runs/<uuid:code>/replay/",
            "runs/<uuid:code>/tell/",
            "runs/<uuid:code>/verify/",
            "runs/<uuid:code>/warnings/<uuid:warning>/acknowledge/",
            "runs/compare/",
            "shadows/<uuid:code>/",
        ),
    ),
    (
        OWN,
        (
            "glossary/",
            "introduction/end/",
            "ledger/verify/",
            "queue/<uuid:code>/page/",
            "queue/views/",
            "queue/views/<uuid:code>/remove/",
            "runs/views/",
            "runs/views/<uuid:code>/remove/",
            "settings/",
            "settings/keyboard/",
            "settings/keyboard/change/",
            "settings/keyboard/switch/",
            "settings/notifications/",
            "settings/notifications/change/",
            "settings/notifications/test/",
            "settings/you/",
            "settings/you/address/",
            "settings/you/profile/",
            "settings/you/sign-ins/<uuid:code>/",
            "settings/you/sign-out/",
            "settings/you/tokens/",
            "settings/you/tokens/<uuid:code>/",
        ),
    ),
    (
        MANAGED,
        (
            "agents/<uuid:code>/reviews/",
            "assignments/",
            "calls/<uuid:code>/exempt/",
            "halts/<uuid:code>/release/",
            "limits/raise/",
            "loop/recommendations/<uuid:code>/adopt/",
            "loop/recommendations/<uuid:code>/dismiss/",
            "loop/resume/",
            "loop/wake/",
            "runs/<uuid:code>/reopen/",
        ),
    ),
    (
        MANAGERS,
        (
            "backtests/<uuid:code>/again/",
            "backtests/<uuid:code>/cancel/",
            "backtests/<uuid:code>/publish/",
            "gateway/draft/",
            "new-policy/",
            "policies/<str:name>/edit/",
            "policies/<str:name>/edit/check/",
            "policies/<str:name>/suggestions/draft/",
            "policies/<str:name>/suggestions/search/",
            "policies/<str:name>/versions/<int:number>/activate/",
            "policies/<str:name>/versions/<int:number>/backtest/",
            "policies/<str:name>/versions/<int:number>/shadow/",
            "shadows/<uuid:code>/draft/",
            "shadows/<uuid:code>/stop/",
            "webhooks/<uuid:code>/<slug:action>/",
            "webhooks/<uuid:code>/resend/<uuid:delivery>/",
            "webhooks/add/",
        ),
    ),
    (
        SIGHT,
        (
            "gateway/",
            "settings/agents/",
            "settings/changes/",
            "settings/people/",
            "settings/project/",
            "settings/start/",
            "webhooks/",
            "webhooks/<uuid:code>/",
        ),
    ),
    (
        ADMINS,
        (
            "settings/agents/<uuid:code>/change/",
            "settings/agents/<uuid:code>/disable/",
            "settings/agents/<uuid:code>/enable/",
            "settings/agents/<uuid:code>/keys/",
            "settings/agents/<uuid:code>/keys/<uuid:key>/revoke/",
            "settings/agents/new/",
            "settings/people/<uuid:code>/password/",
            "settings/people/<uuid:code>/remove/",
            "settings/people/<uuid:code>/role/",
            "settings/people/invitations/<uuid:code>/send/",
            "settings/people/invitations/<uuid:code>/withdraw/",
            "settings/people/invite/",
            "settings/project/change/",
            "settings/project/make/",
            "settings/start/agent/",
        ),
    ),
)
PAGES: Mapping[str, PageAccess] = {
    address: access for access, addresses in _RULES for address in addresses
}
assert len(PAGES) == sum(len(addresses) for _, addresses in _RULES)
