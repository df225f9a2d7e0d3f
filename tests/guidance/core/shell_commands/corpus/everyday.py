"""What coding agents run all day: none of it may trip."""

from __future__ import annotations

_LINES = r"""
ls
ls -la src
pwd
cd src && ls
cd ..
cat README.md
cat package.json | jq .scripts
head -n 50 app.py
tail -f log.txt
wc -l **/*.py
tree -L 2
du -sh .
stat app.py
file image.png
find . -name "*.ts" -not -path "./node_modules/*"
find . -type f | head
grep -rn "TODO" src
grep -v '^#' .env.example
rg "def main" -g '*.py'
rg --files | head -20
fd -e py
sed -n '10,40p' src/app.py
sed -i 's/foo/bar/g' src/app.py
awk '{print $2}' data.txt
sort data.txt | uniq -c | sort -rn
cut -d, -f1 data.csv
tr -d '\n' < x.txt
diff -u a.py b.py
patch -p1 < fix.patch
mkdir -p src/components
touch src/__init__.py
cp .env.example .env
mv old.py new.py
ln -s ../shared shared
chmod +x scripts/build.sh
echo "hello" > hello.txt
echo "node_modules" >> .gitignore
printf 'a\nb\n' > list.txt
which node python3 cargo
node --version && npm --version
npm install
npm ci --ignore-scripts
npm test
npm test -- --watch=false
npm run build
npm run lint -- --fix
npm run dev &
npx tsc --noEmit
npx eslint . --ext .ts,.tsx
npx jest src/app.test.ts -t "deletes the item"
npx playwright test --reporter=line
yarn add react
yarn workspace web build
pnpm install --frozen-lockfile
pnpm -r test
bun test
deno task dev
python --version
python -m venv .venv && source .venv/bin/activate
pip install -e ".[dev]"
pip freeze > requirements.txt
python -m pytest tests -x -q
pytest -k "test_delete and not slow" --tb=short
pytest tests/test_app.py::TestDelete::test_force
python -m mypy .
ruff check . --fix
ruff format --check .
black --check src
isort .
flake8 src
python manage.py runserver 0.0.0.0:8000
python manage.py makemigrations
python manage.py createsuperuser
uv sync --all-extras
uv run ruff check
poetry install
poetry add httpx
cargo build --release
cargo test -- --nocapture
cargo clippy --all-targets
cargo fmt -- --check
cargo clean
go build ./...
go test -race ./...
go vet ./...
go mod tidy
gofmt -l .
make
make test
make clean
make -j8 all
cmake -S . -B build && cmake --build build
ctest --test-dir build
gcc -o app app.c -Wall
./gradlew test
./gradlew clean build
mvn -q test
mvn clean install -DskipTests
dotnet build
dotnet test
bundle install
bundle exec rspec spec/models
rails server
rails g model User
composer install
php artisan serve
php artisan cache:clear
mix test
swift build
xcodebuild -scheme App build
flutter test
docker build -t app:dev .
docker compose up -d
docker compose logs web | tail -50
docker ps --format '{{.Names}}'
docker inspect web
docker exec -it web bash
kubectl get pods -n dev
kubectl logs -f deploy/web
helm lint chart
terraform init && terraform plan
terraform validate
aws s3 ls
gcloud config list
az account show
curl -s http://localhost:8000/health
curl -X POST -H 'Content-Type: application/json' -d '{"a": 1}' localhost:8000/api
curl -sSL https://example.com/data.json -o data.json
wget -q https://example.com/file.zip && unzip file.zip
ssh-keygen -t ed25519 -f /tmp/key -N ''
openssl rand -hex 32
psql -c 'select count(*) from users'
psql -c "\d users"
sqlite3 db.sqlite3 ".tables"
redis-cli ping
ps aux | grep node
lsof -i :8000
pkill -f "next dev"
netstat -tlnp
top -b -n 1 | head -20
free -m
df -h
date +%Y-%m-%d
env | grep PATH
export NODE_ENV=test
export PATH="$HOME/bin:$PATH"
source ~/.nvm/nvm.sh && nvm use 20
time npm run build
sleep 5 && curl localhost:3000
timeout 30 npm start || true
tar xzf archive.tar.gz -C /tmp
zip -r out.zip dist
base64 image.png | head -c 100
md5sum file.txt
sha256sum -c checksums.txt
xxd file.bin | head
jq -r '.dependencies | keys[]' package.json
yq '.services' compose.yaml
git init && git add . && git commit -m "Initial commit"
git status -sb
git diff --stat HEAD~3
git log --oneline --graph --all | head -30
git show --stat
git add -p
git checkout -b feature/remove-old-code
git switch main && git pull --ff-only
git merge origin/main
git rebase origin/main
git cherry-pick abc123
git stash && git pull && git stash pop
git push -u origin HEAD
git remote add origin git@github.com:me/app.git
git ls-files | wc -l
gh pr create --fill
gh pr checks 12
gh run view --log-failed
for f in src/*.js; do echo "$f"; done
for i in 1 2 3; do curl -s localhost:$i; done
while ! nc -z localhost 5432; do sleep 1; done
if [ -f .env ]; then source .env; fi
[ -d node_modules ] || npm install
test -f config.yaml && cat config.yaml
if ! command -v jq >/dev/null; then echo missing; fi
VERSION=$(git describe --tags) && echo "$VERSION"
FILES=$(git diff --name-only); echo $FILES | xargs -n1 wc -l
DATABASE_URL=postgres://localhost/test pytest -q
NODE_ENV=production npm run build
CI=1 npx vitest run
(cd web && npm test)
{ echo a; echo b; } > out.txt
cat src/app.py | head -100 | tail -20
ls *.md 2>/dev/null | wc -l
npm outdated || true
set -e; make lint; make test
python - <<'EOF'
""".strip().splitlines()[:-1]

_LONG = (
    "cat > src/app.py <<'EOF'\nimport os\n\n\ndef main():\n    os.remove('x')\nEOF",
    "cat <<'EOF' > Dockerfile\nFROM node:20\nRUN rm -rf /var/lib/apt/lists/*\nEOF",
    "cat > Makefile <<'EOF'\nclean:\n\trm -rf build\nEOF\nmake -n",
    "cat > .github/workflows/ci.yml <<'EOF'\nsteps:\n  - run: git push --force\nEOF",
    "python3 - <<'EOF'\nimport json\nd = json.load(open('p.json'))\nd['x'] = 1\n"
    "json.dump(d, open('p.json', 'w'))\nEOF",
    "python3 <<'EOF'\nimport re, pathlib\np = pathlib.Path('a.py')\n"
    "p.write_text(re.sub('a', 'b', p.read_text()))\nEOF",
    "git commit -F - <<'EOF'\nRemove the old cleanup\n\nIt ran rm -rf on the wrong folder.\nEOF",
    "git commit -m \"$(cat <<'EOF'\nfix: never DROP TABLE in tests\n\n"
    'Co-authored-by: Bob <bob@example.com>\nEOF\n)"',
    "gh pr create --title 'x' --body \"$(cat <<'EOF'\n## Summary\n- stop using `git push -f`\n"
    'EOF\n)"',
    "psql <<'SQL'\nSELECT count(*) FROM users WHERE name = 'drop table';\nSQL",
    'for d in api web; do\n  (cd "$d" && npm ci && npm test) || exit 1\ndone',
    "if git diff --quiet; then\n  echo clean\nelse\n  git add -A\n  git commit -m wip\nfi",
    'while read -r url; do\n  curl -s "$url" | jq .\ndone < urls.txt',
    'case "$1" in\n  start) npm start ;;\n  *) echo usage ;;\nesac',
    "build() {\n  npm run build\n}\nbuild && echo ok",
    'docker run --rm \\\n  -v "$PWD:/app" \\\n  -w /app \\\n  node:20 \\\n  npm test',
    "find . -name '*.py' -print0 |\n  xargs -0 grep -l 'import os' |\n  sort",
    "curl -s https://api.github.com/repos/a/b/releases/latest | grep tag_name | cut -d'\"' -f4",
    'export A=1\nexport B=2\n./run.sh --flag "$A"',
    "# Install dependencies\nnpm ci\n\n# Run the tests\nnpm test",
)

PASSES = tuple(("", line) for line in (*_LINES, *_LONG))
