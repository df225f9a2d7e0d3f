"""Requests over HTTP that delete."""

from __future__ import annotations

from guidance.core.shell_commands.rules.rule import Rule

RULES = (
    Rule(
        name="http-delete",
        severity="medium",
        message="Asks a service over HTTP to delete something",
        why="Most services delete at once, and some delete whole collections.",
        safer="GET the same address first and see what it names.",
        rollback="an export of what it names.",
        patterns=(
            "curl|http|wget|invoke-restmethod|invoke-webrequest|irm|iwr @deleting",
            "curl|http|wget|invoke-restmethod|invoke-webrequest|irm|iwr @deleting-by-path",
        ),
        trips=(
            "curl -X DELETE https://api.example.com/users/1",
            "curl -XDELETE http://localhost:9200/_all",
            "http DELETE api.example.com/x",
            "wget --method=DELETE https://api.example.com/x",
            "curl -X DELETE http://localhost:6333/collections/people",
            "curl -XPOST localhost:9200/people/_delete_by_query -d '{}'",
            "curl -X POST https://api.example.com/v1/people/purge",
            "curl --unix-socket /var/run/docker.sock -X POST http://x/volumes/prune",
            'curl https://api.example.com/graphql -d \'{"query":"mutation { deleteUser(id: 1) }"}\'',
        ),
        passes=(
            "curl https://api.example.com/delete",
            "curl -X POST https://api.example.com/x",
            "curl -X DELETE http://localhost:8000/items/1",
            "curl -X POST http://localhost:8000/items/purge",
            "curl localhost:9200/people/_search -d '{}'",
            'curl https://api.example.com/graphql -d \'{"query":"{ deletedUsers { id } }"}\'',
        ),
    ),
)
