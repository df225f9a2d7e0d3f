"""What the same command has made, or only looks at, and what merely resembles it."""

from __future__ import annotations

TRIPS = (
    # Whatever listens there next answers in the guard's place.
    ("guard-server", "fuser -k 8000/tcp; npm run dev"),
    ("guard-server", "fuser -k 8000/tcp; python manage.py runserver 8000"),
    ("guard-server", "kill $(lsof -ti :8000); uvicorn app:api --reload &"),
    ("guard-server", "fuser -k 8000/tcp"),
    ("guard-server", "fuser -k 8000/tcp; python -m http.server 8000"),
    ("guard-server", "pkill -f 'checkrail up'; python manage.py runserver"),
    ("cluster-delete", "kind delete cluster --name ci; kind create cluster --name ci"),
    ("cluster-delete", "kind create cluster --name a; kind delete cluster --name b"),
    ("cluster-delete", "kind delete cluster"),
    ("cluster-delete", "k3d cluster delete dev"),
    ("container-delete", "docker build -t a:1 . && docker rmi b:1"),
    ("container-delete", "docker rmi x:1; docker build -t x:1 ."),
    ("delete-folder", "echo --out assets; rm -rf assets"),
    ("delete-folder", "python train.py --out src && rm -rf src"),
    ("delete-folder", "python train.py --out ~/x && rm -rf ~/x"),
    ("delete-folder", "rm -rf runs/a && python train.py --out runs/a"),
    (
        "remote-command",
        "ssh me@build 'bash -s' <<'EOF'\nuptime\nsystemctl restart app\nEOF",
    ),
    ("remote-command", "ssh me@build bash <<'EOF'\nls > /etc/x\nEOF"),
    ("remote-command", "ssh me@build bash <<'EOF'\necho $(rm -rf /srv)\nEOF"),
    ("remote-command", "ssh me@build bash < fix.sh"),
    ("delete-folder", "git push origin (rm -rf assets)"),
    ("delete-folder", "rm -rf assets (git branch)"),
    (
        "windows-remove",
        "Get-ChildItem -Recurse -Include bin,obj | Remove-Item -Recurse -Force",
    ),
    (
        "windows-remove",
        "Get-ChildItem C:\\data -Include obj -Recurse | Remove-Item -Recurse -Force; dotnet build",
    ),
    (
        "windows-remove",
        "Get-ChildItem -Recurse | Remove-Item -Recurse -Force; dotnet build",
    ),
    (
        "windows-remove",
        "Get-ChildItem -Recurse -Include obj | Remove-Item -Recurse -Force C:\\data; dotnet build",
    ),
    (
        "delete-folder",
        "cat > Makefile <<'EOF'\nDIR := assets\nall:\n\t$(RM) -r $(DIR)\nEOF\nmake",
    ),
    (
        "delete-folder",
        "printf 'X = rm -rf\\nall:\\n\\t$(X) assets\\n' > Makefile && make",
    ),
)
_HARMLESS = (
    "kind create cluster --name ci && kubectl apply -f k8s; kind delete cluster --name ci",
    "k3d cluster create t1 && kubectl get nodes && k3d cluster delete t1",
    "k3d cluster list",
    "docker build -t probe:1 . && docker run --rm probe:1; docker rmi probe:1",
    "docker buildx build -t x:dev --load . && docker image rm x:dev",
    "python train.py --output-dir runs/smoke --steps 3 && ls runs/smoke && rm -rf runs/smoke",
    "node bench.js --out=bench-out && cat bench-out/r.json; rm -rf bench-out",
    "ssh me@build 'bash -s' <<'EOF'\nuptime\ndf -h | head -5\ndocker ps\ngit log --oneline -3\nEOF",
    "ssh web1 bash <<EOF\ncd /srv/app\nls -la\ntail -n 20 log/app.log | grep -i error\nEOF",
    "git push -u origin (git branch --show-current)",
    'git commit -m "x"; git diff (git merge-base HEAD main)',
    "Get-ChildItem -Recurse -Directory -Include bin,obj | Remove-Item -Recurse -Force; dotnet build",
    "Get-ChildItem -Path . -Filter __pycache__ -Recurse | Remove-Item -Recurse -Force",
    "cat > Makefile <<'EOF'\nBIN := app\n$(BIN): main.c\n\t$(CC) -O2 -o $@ $<\nclean:\n\t$(RM) -r build\nEOF\nmake && ./app",
    "printf 'all:\\n\\t$(GO) build ./...\\nGO ?= go\\n' > Makefile && make",
)
PASSES = tuple(("", command) for command in _HARMLESS)
