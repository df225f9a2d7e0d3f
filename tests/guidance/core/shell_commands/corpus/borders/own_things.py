"""What the command itself has made, or makes again."""

from __future__ import annotations

TRIPS = (
    ("container-delete", "docker rm -f shop; docker run --name shop img"),
    ("container-delete", "docker run --name a img; docker rm -f a shop"),
    ("container-delete", "docker run --name a img; docker -H tcp://h:1 rm -f a"),
    ("container-delete", "docker volume create a; docker rm -f a"),
    ("sql-drop", "sqlite3 shop.db 'drop table orders'"),
    ("sql-drop", "sqlite3 /tmp/x.db \"attach 'shop.db' as s; drop table s.orders\""),
    ("delete-folder", "sqlite3 /tmp/x.db '.shell rm -rf assets'"),
    ("delete-folder", "rm -rf dist"),
    ("delete-folder", "rm -rf src && npm run build"),
    ("delete-folder", "rm -rf ../dist && npm run build"),
    ("delete-folder", "rm -rf ~/dist && npm run build"),
    ("delete-folder", "npm run build && rm -rf dist"),
    ("delete-folder", "rm -rf dist || npm run build"),
    ("delete-folder", "rm -rf build && cmake -B other"),
    ("delete-folder", "rm -rf notes.txt assets"),
    ("delete-folder", "ssh host 'rm -rf notes.txt'"),
    ("delete-folder", "rm -rf ~/Library/Developer/Xcode/DerivedData/../.."),
    ("delete-named-file", "rm -rf notes.txt"),
)
_HARMLESS = (
    "docker run -d --name a img && docker exec a true; docker rm -f a",
    "docker volume create a && docker volume rm a",
    "id=$(docker run -d img); docker logs $id; docker rm -f $id",
    "podman network create n; podman network rm n",
    "sqlite3 /tmp/x.db 'create table a(b); drop table a'",
    "sqlite3 :memory: 'create table a(b); delete from a'",
    "cd /tmp/work && sqlite3 x.db 'drop table a'",
    "rm -rf dist && npm run build && ls dist",
    "rm -rf build && cmake -S . -B build && cmake --build build",
    "rm -rf packages/core/dist && npx tsc",
    "rm -rf target && cargo test",
    "rm -rf dist && python -m build",
    "rm -rf htmlcov .coverage && pytest --cov",
    "rm -rf ~/Library/Developer/Xcode/DerivedData/Shop-*",
)
PASSES = tuple(("", command) for command in _HARMLESS)
