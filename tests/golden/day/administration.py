"""Administration: the project, people, invitations, tokens, profiles, agents, keys."""

from __future__ import annotations

from tests.golden.stage import Stage

ABSENT = "01900000-0000-7000-8000-000000000000"


def play(stage: Stage) -> None:
    stage.begin("01_administration", hour=0.5)
    _change_project(stage)
    _invite_people(stage)
    _change_people(stage)
    _change_own(stage)
    _manage_agents(stage)
    for path in ("/healthz", "/readyz", "/status"):
        stage.ask("nobody", f"GET {path}")


def _change_project(stage: Stage) -> None:
    stage.ask("bob", "GET /project")
    stage.refuse("nobody", "GET /project", status=401)
    change = {"name": "The shop", "retention_days": 400}
    stage.ask("cleo", "PATCH /project", change)
    stage.refuse("bob", "PATCH /project", change, status=403)
    made = {"name": "Another", "slug": "another"}
    stage.ask("cleo", "POST /projects", made)
    stage.refuse("cleo", "POST /projects", made)


def _invite_people(stage: Stage) -> None:
    invited = {"email": "fred@example.com", "role": "reviewer"}
    wanted = "?project=shop"
    first = stage.ask(
        "cleo", "POST /people/invitations", {**invited, "project": "shop"}
    )
    stage.refuse("alice", "POST /people/invitations", invited, status=403)
    stage.ask("cleo", f"POST /invitations/{first['id']}/send{wanted}")
    stage.refuse("cleo", f"POST /invitations/{ABSENT}/send{wanted}", status=404)
    other = {"email": "gina@example.com", "role": "manager", "project": "shop"}
    link = stage.ask("cleo", "POST /people/invitations", other)["link"]
    stage.kept["join"] = "/join/" + link.partition("/join/")[2]
    stage.ask("cleo", f"DELETE /invitations/{first['id']}{wanted}")
    stage.refuse("cleo", f"DELETE /invitations/{first['id']}{wanted}", status=404)


def _change_people(stage: Stage) -> None:
    hugo = f"/people/{stage.users['hugo'].code}"
    wanted = "?project=shop"
    stage.ask("cleo", f"PATCH {hugo}{wanted}", {"role": "auditor"})
    stage.refuse("alice", f"PATCH {hugo}{wanted}", {"role": "admin"}, status=403)
    stage.sign_in("cleo")
    stage.ask("cleo in a browser", f"POST {hugo}/password-link{wanted}")
    stage.refuse("bob", f"POST {hugo}/password-link{wanted}", status=403)
    stage.ask("cleo", f"DELETE {hugo}{wanted}")
    stage.refuse("cleo", f"DELETE {hugo}{wanted}", status=404)
    stage.ask("dora", "GET /people")
    stage.refuse("robo", "GET /people", status=403)


def _change_own(stage: Stage) -> None:
    stage.ask("bob", "GET /me/profile")
    profile = {"name": "Bob Builder", "time_zone": "Europe/Zurich"}
    stage.ask("bob", "PUT /me/profile", profile)
    stage.refuse("bob", "PUT /me/profile", {"time_zone": "Nowhere/Here"})
    made = stage.ask("bob", "POST /me/tokens", {"name": "terminal"})
    stage.refuse("bob", "POST /me/tokens", {"name": ""})
    stage.ask("bob", "POST /me/tokens", {"name": "phone"})
    stage.ask("bob", "GET /me/tokens")
    stage.ask("bob", f"DELETE /me/tokens/{made['id']}")
    stage.refuse("bob", f"DELETE /me/tokens/{made['id']}", status=404)


def _manage_agents(stage: Stage) -> None:
    body = {"name": "builder", "owner": "alice", "description": "Builds the shop"}
    made = stage.ask("cleo", "POST /agents", {**body, "project": "shop"})
    stage.refuse("cleo", "POST /agents", {**body, "project": "shop"})
    agent = f"/agents/{made['id']}"
    stage.ask("cleo", f"PATCH {agent}", {"limits": {"tokens": 500_000}})
    stage.refuse("bob", f"PATCH {agent}", {"disabled": True}, status=403)
    given = {"name": "ci", "expires_at": "2031-08-01T00:00:00Z"}
    key = stage.ask("cleo", f"POST {agent}/keys", given)
    stage.ask("cleo", f"POST {agent}/keys", {"name": "laptop"})
    stage.refuse("cleo", f"POST {agent}/keys", {"name": ""})
    stage.ask("cleo", f"DELETE {agent}/keys/{key['id']}")
    stage.refuse("cleo", f"DELETE {agent}/keys/{ABSENT}", status=404)
    stage.ask("dora", "GET /agents")
    stage.refuse("nobody", "GET /agents", status=401)
