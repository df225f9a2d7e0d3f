"""Requests over HTTP that delete, whatever method they name."""

from __future__ import annotations

TRIPS = (
    (
        "http-delete",
        "curl --request DELETE --unix-socket /var/run/docker.sock http://localhost/volumes/pgdata",
    ),
    (
        "http-delete",
        "curl --unix-socket /run/docker.sock -X DELETE http://d/v1.41/containers/db?force=true",
    ),
    (
        "http-delete",
        "curl -sX POST -H 'X-HTTP-Method-Override: DELETE' https://api.example.com/v2/customers/1",
    ),
    ("http-delete", "curl -XPOST -H 'X-HTTP-Method: DELETE' https://api.example.com/x"),
    (
        "http-delete",
        'curl -X POST -H "X-Method-Override: delete" https://api.example.com/x',
    ),
    ("http-delete", "curl -X POST https://api.example.com/users/7?_method=DELETE"),
    ("http-delete", "curl -X POST -d _method=delete https://api.example.com/users/7"),
    (
        "http-delete",
        "http POST https://api.example.com/users/7 X-HTTP-Method-Override:DELETE",
    ),
    (
        "http-delete",
        "wget --method=POST --header='X-HTTP-Method-Override: DELETE' https://api.example.com/x",
    ),
    ("exfil-upload", "curl -X$(echo DELETE) https://api.example.com/users"),
    ("http-delete", "m=DELETE; curl -X $m https://api.example.com/users"),
    (
        "http-delete",
        "python3 -c \"import requests; requests.delete('https://api.example.com/users')\"",
    ),
    (
        "http-delete",
        "node -e \"fetch('https://api.example.com/users',{method:'DELETE'})\"",
    ),
    (
        "http-delete",
        "node -e \"fetch('https://api.example.com/users',{method:'DEL'+'ETE'})\"",
    ),
)
_HARMLESS = (
    "curl --unix-socket /var/run/docker.sock http://localhost/containers/json",
    "curl -X POST -H 'X-HTTP-Method-Override: GET' https://api.example.com/search",
    "curl -X POST -H 'X-HTTP-Method-Override: PATCH' https://api.example.com/search -d '{}'",
    "curl -X POST -d _method=delete http://localhost:3000/items/7",
    "curl -X POST -H 'X-HTTP-Method-Override: DELETE' http://localhost:3000/items/7",
)
PASSES = tuple(("", command) for command in _HARMLESS)
