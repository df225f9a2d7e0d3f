"""Both sides of each border: what is let alone, and what looks like it and is found.

In the second lists, § stands for the secret beside it.
"""

from __future__ import annotations

from tests.guidance.core.secrets.samples import HEX, SAFE, UPPER, WORD, b64, body, uuid

HUNTER = "hun" + "ter2"
MIXED = "Tr0ub4" + "dor&3"
RANDOM = body(32)
LETTERS = body(28, "bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ")

Border = tuple[list[str], list[tuple[str, str]]]

BORDERS: dict[str, Border] = {
    "made or filled in by the command": (
        [
            "printf 'SECRET_KEY=%s\\n' \"$(openssl rand -hex 32)\" >> .env",
            "curl -H 'Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbg' :80",
            "CREATE USER IF NOT EXISTS 'blog'@'%' IDENTIFIED BY 'blog';",
        ],
        [
            ("printf 'SECRET_KEY=§\\n' >> .env", RANDOM),
            ("token: §", f"eyJ{body(20)}.eyJ{body(20)}.{body(43)}"),
            ("CREATE USER IF NOT EXISTS 'blog'@'%' IDENTIFIED BY '§';", HUNTER),
        ],
    ),
    "made up": (
        [
            "FAKE_KEY = 'sk_test_000000000000000000000000'",
            "STRIPE_SECRET_KEY=sk_test_1234567890 pytest",
            "{'value': 'xoxb-0000000000-FAKEFAKEFAKE'}",
            "{'value': 'xoxb-1111111111-2222222222-TESTTEST'}",
            "token = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ0ZXN0In0.'",
            "token = 'eyJ0eXAiOiJKV1QiLCJhbGciOiJub25lIn0.eyJzdWIiOiJ0ZXN0In0.'",
            "-----BEGIN TEST PRIVATE KEY-----\nbm90IGEga2V5\n-----END TEST PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\nfake\n-----END RSA PRIVATE KEY-----",
            "data:\n  PASSWORD: cGFzc3dvcmQ=\n",
            "docker run -e SA_PASSWORD=YourStrong@Passw0rd mssql",
            "git commit -m 'Stop logging Authorization: Bearer headers'",
            "dotnet user-secrets set 'Db' 'Server=localhost;User Id=sa;Password=Dev_password1;'",
        ],
        [
            ("STRIPE_SECRET_KEY=§ pytest", "sk_test_" + body(24)),
            ("{'value': '§'}", "xoxb-0000000000-" + body(24)),
            ("{'value': '§'}", "xoxb-0000000000-FAKE" + body(24)),
            ("token = '§'", f"eyJhbGciOiJIUzI1NiJ9.eyJ{body(20)}.{body(43)}"),
            (
                "-----BEGIN PRIVATE KEY-----\n§\n-----END PRIVATE KEY-----",
                body(64),
            ),
            ("data:\n  PASSWORD: §\n", b64(body(24))),
            ("docker run -e SA_PASSWORD=§ mssql", RANDOM),
            ("curl -H 'Authorization: Bearer §' x", RANDOM),
            (
                "dotnet user-secrets set 'Db' 'Server=db.example.org;Password=§;'",
                RANDOM,
            ),
        ],
    ),
    "development defaults": (
        [
            "docker run -d -e POSTGRES_PASSWORD=postgres -p 5432:5432 postgres:17",
            "services:\n  db:\n    image: postgres\n    environment:\n"
            "      POSTGRES_PASSWORD: postgres\n      POSTGRES_DB: shop\n",
            "MINIO_ROOT_USER=minioadmin\nMINIO_ROOT_PASSWORD=minioadmin\n",
            "RABBITMQ_DEFAULT_USER: rabbit\nRABBITMQ_DEFAULT_PASS: rabbit",
            "environment:\n  MYSQL_USER: blog\n  MYSQL_PASSWORD: blog",
            "GF_SECURITY_ADMIN_PASSWORD=admin docker compose up -d grafana",
            "PGPASSWORD=postgres psql -h localhost -U postgres -c 'select 1'",
            "liquibase -username=shop -password=shop status",
            "JWT_SECRET=dev SECRET_KEY=insecure npm run dev",
            "SESSION_SECRET=local-dev-only pnpm test",
            "AUTH_SECRET=test-secret-for-ci-only pytest -q",
            'APP_SECRET: "change-me-in-production"',
            'password = "password"',
            'password: "password123"',
            'client_secret = "my-test-secret"',
            "DJANGO_SUPERUSER_PASSWORD=admin123 python manage.py createsuperuser",
            "docker run -e 'MSSQL_SA_PASSWORD=YourStrong!Passw0rd' mssql/server",
            "docker run -e NEO4J_AUTH=neo4j/password neo4j:5",
            "redis-cli -h localhost -a devpassword1 ping",
            "docker run --name db -e POSTGRES_PASSWORD=mysecretpassword -d postgres",
            "docker run -e MYSQL_ROOT_PASSWORD=my-secret-pw -d mysql",
            "docker run -e POSTGRES_PASSWORD=postgres123 postgres",
            "docker run -e POSTGRES_PASSWORD=rootPassword77 postgres",
            "WORDPRESS_DB_PASSWORD: examplepass",
        ],
        [
            ("docker run -e POSTGRES_PASSWORD=§ postgres:17", HUNTER),
            ("docker run -e POSTGRES_PASSWORD=§ postgres", "secret" + "Tiger77"),
            ("docker run -e POSTGRES_PASSWORD=§ -d postgres", "secret" + body(10)),
            ("WORDPRESS_DB_PASSWORD: §", "example" + body(12)),
            ("PGPASSWORD=§ psql -h db.shop-prod.io -U postgres", "post" + "gres"),
            ("environment:\n  MYSQL_USER: blog\n  MYSQL_PASSWORD: §", "blo" + "g7k2"),
            ("SESSION_SECRET=§ npm start", "dev-" + body(20)),
            ("JWT_SECRET=§ npm run dev", "test" + body(24)),
            ('password: "§"', "Sommer" + "2024!"),
            ("DB_PASSWORD=§", "let" + "mein"),
            ("docker run -e NEO4J_AUTH=neo4j/§ neo4j:5", body(14)),
            ("redis-cli -h localhost -a § ping", "dev" + body(12)),
            ("redis-cli -h cache.shop-prod.io -a § ping", "dev" + "password1"),
        ],
    ),
    "a framework's key for development": (
        [
            'SECRET_KEY = "django-insecure-' + body(50, WORD + "!@#$%^&*(-_=+)") + '"',
            "SECRET_KEY='insecure-" + body(24) + "'",
        ],
        [('SECRET_KEY = "§"', body(50, WORD + "!@#%^&*(-_=+)"))],
    ),
    "credentials in addresses": (
        [
            "postgres://postgres:postgres@localhost:5433/test",
            "DATABASE_URL=postgresql://shop:shop@db:5432/shop",
            "amqp://guest:guest@rabbitmq:5672//",
            "mongodb://root:root@mongo/admin?authSource=admin",
            "redis://:redis@cache:6379/1",
            "mysql://app:password@mysql.test:3306/app",
            "curl -u admin:admin http://localhost:3000/api/health",
            "curl -s --user guest:guest http://127.0.0.1:15672/api/queues",
        ],
        [
            ("postgres://postgres:§@db.shop-prod.io/shop", "post" + "gres"),
            ("postgres://shop:§@db:5432/shop", HUNTER),
            ("curl -u admin:§ https://grafana.shop-prod.io/api", "adm" + "in"),
            ("redis://:§@cache:6379/1", body(18)),
            ("curl -u :§ https://api.host.io", body(24)),
            ("curl --user ':§' https://api.host.io", HUNTER),
        ],
    ),
    "tests": (
        [
            "cat > spec/models/user_spec.rb <<'RUBY'\nRSpec.describe User do\n"
            '  let(:user) { build(:user, password: "s3cret-pass") }\nend\nRUBY',
            "def test_login(client):\n"
            "    client.post('/login', {'user': 'kim', 'password': 'Passw0rd!'})\n",
            "describe('login', () => {\n  it('refuses', async () => {\n"
            "    await login({ password: 'wrongone' });\n  });\n});",
            'func TestLogin(t *testing.T) {\n\tpassword := "opensesame"\n}',
            "def test_token():\n    assert parse(token='abc123def456')\n",
        ],
        [
            ("def test_live():\n    login(password='§')\n", "kX9vQ2" + "mZ7tPw"),
            ("def login():\n    connect(password='§')\n", "open" + "sesame"),
            (
                "describe('api', () => {\n  const key = '§';\n});",
                "gh" + "p_" + body(36),
            ),
        ],
    ),
    "accounts at domains that nobody has": (
        [
            "UserCreate(email='kim@example.com', password='correct-horse-1')",
            '{"email": "kim@example.org", "password": "sunflower"}',
        ],
        [
            ("UserCreate(email='kim@example.com', password='§')", body(16)),
            ("UserCreate(email='kim@shop-prod.io', password='§')", "sun" + "flower"),
        ],
    ),
    "keys from documentation": (
        [
            "AWS_ACCESS_KEY_ID=AK" + "IAIOSFODNN7EXAMPLE",
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
            "cast send --private-key 0x" + "ac0974bec39a17e36ba4a6b4d238ff94"
            "4bacb478cbed5efcae784d7bf4f2ff80 0xabc",
            "PRIVATE_KEY=0x" + "59c6995e998f97a5a0044966f0945389"
            "dc9e86dae88c7a8412f4603b6b78690d",
            "token = 'ey" + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.ey"
            "JzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ."
            "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c'",
            "AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1"
            "OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;",
            "https://hooks.slack.com/services/T00000000/B00000000/" + "X" * 24,
        ],
        [
            ("AWS_ACCESS_KEY_ID=§", "AK" + "IA" + body(16, UPPER)),
            ("cast send --private-key §", "0x" + body(64, HEX)),
            ("aws_secret_access_key = §", "EXAMPLE" + body(33, WORD + "/+")),
            (
                "https://§",
                "hooks.slack.com" + "/services/T0" + body(9, UPPER) + "/B0" + body(36),
            ),
        ],
    ),
    "hashes": (
        [
            'hashed_password = "' + body(64, HEX) + '"',
            "password_digest: " + body(60),
            '"encrypted_password": "' + body(60) + '"',
            "PASSWORD_HASH=" + body(64, HEX),
            "api_key_sha256: " + body(64, HEX),
            "token: sha256:" + body(64, HEX),
            "kim:$2y$10$" + body(53),
            "password: '{SSHA}" + body(38) + "'",
        ],
        [("api_key: §", body(64, HEX)), ('token = "§"', body(40, HEX))],
    ),
    "files and the environment": (
        [
            "tool --password @secrets/db.txt",
            "http -a kim: password=@./password.txt",
            "curl -H @headers.txt --data password=@/run/secrets/db https://h.io",
            "api_token: !env API_TOKEN",
            "kubectl create secret generic db --from-literal=password=$DB_PASSWORD",
            "kubectl create secret generic db --from-file=password=./pw.txt",
            'gh secret set TOKEN --body "$TOKEN"',
        ],
        [("tool --password §", "kim@" + "Home1"), ("password=§", "a@" + "b.txt9x")],
    ),
    "names alone": (
        [
            'renamed = {"form.pwd": "form.password", "a.token": "auth.access_token"}',
            "pwd=build make -C $pwd",
            "PWD=work OLDPWD=home env",
            "pwd: workspace",
            'resetPassword: "update",',
            "forgot_password = 'mailer'",
            "const changePassword = 'POST'",
            'it "asks for a password" "twice"',
            'grep -n token "src/login.ts"',
            "rg -i password 'src/auth'",
            'label password "Choose one"',
            '{"secret": "Client secret", "api_key": "API-Schlüssel"}',
            'CSRF_SESSION_KEY = "_csrftoken"',
        ],
        [
            ("pwd=§", HUNTER),
            ('pwd = "§"', "let" + "mein"),
            ("DB_PWD=§", "Super" + "Geheim"),
            ('reset_password = "§"', body(16)),
            ('#define WIFI_PASSWORD "§"', "sun" + "flower"),
            ('password "§"', body(14)),
        ],
    ),
    "flags of other programs": (
        [
            "docker run --name mysql -p3306:3306 mysql:8",
            "docker compose exec mysql true; ssh -p2222x kim@host",
            "cd mysql && patch -p1x < fix.patch",
            "apt-get install -y mysql | tee -path.log",
            "systemctl restart mysql && nmap -pT:80,443 localhost",
            "mysql -uroot -proot -h 127.0.0.1 shop",
        ],
        [
            ("docker exec db mysql -uroot -p§ shop", HUNTER),
            ("mysql -h db.shop-prod.io -uroot -p§ shop", "ro" + "ot"),
            ("cd x && mysql -uroot -p§ shop", MIXED),
        ],
    ),
    "tokens put together by the program": (
        [
            "headers={'Authorization': 'Bearer ' + os.environ['TOKEN']}",
            'h.Set("Authorization", "Bearer "+token)',
            "'Authorization: Bearer ' . $accessToken",
        ],
        [("Authorization: Bearer '§'", body(30))],
    ),
    "UUIDs": (
        [
            'token = "' + uuid() + '"',
            "request_token=" + uuid(),
            "CLIENT_TOKEN=" + uuid(),
            "session_key: " + uuid(),
            "deployment_id=" + uuid(),
            "primary_key = '" + uuid() + "'",
        ],
        [
            ("HEROKU_API_KEY=§", uuid()),
            ("X-Api-Key: §", uuid()),
            ('api_key = "§"', uuid()),
            ("snyk auth --token §", uuid()),
            ("CODECOV_TOKEN=§", uuid()),
            ("access_token: §", uuid()),
            ("authToken: '§'", uuid()),
            ("Authorization: GenieKey §", uuid()),
        ],
    ),
    "commands that make a secret": (
        [
            "kubectl create secret generic db --from-literal=username=shop",
            "kubectl create configmap c --from-literal=mode=production",
            "gh secret list --repo kim/shop",
            "gh secret set TOKEN < token.txt",
            "aws ssm put-parameter --name /shop/mode --type String --value production",
            "vault kv put secret/shop ttl=1h user=shop",
        ],
        [
            ("kubectl create secret generic db --from-literal=pin=§", "x9-" + "q2kz7"),
            ("kubectl create secret generic db \\\n  --from-literal=key=§", body(12)),
            ("kubectl create secret generic db --from-literal key=§", body(20)),
            ("gh secret set TOKEN --body §", body(20)),
            ("gh secret set TOKEN -b'§'", "blue-" + "Tiger-77"),
            ("aws secretsmanager create-secret --name x --secret-string '§'", body(12)),
            ("aws ssm put-parameter --name /x --type SecureString --value §", body(9)),
            ("az keyvault secret set --vault-name v -n x --value §", body(12)),
            ("vault kv put secret/shop cert=§", body(22)),
            ("fly secrets set STRIPE=§", body(22)),
            ("echo -n § | docker secret create db -", body(22)),
            ("printf '§' | gcloud secrets versions add db --data-file=-", body(22)),
            ("security add-generic-password -a kim -s shop -w §", body(12)),
        ],
    ),
    "headers": (
        [
            "Authorization: Bearer",
            "Authorization: required for every request",
            'curl -H "Authorization: ApiKey $KEY" h.io',
            "Authorization: <scheme> <credentials>",
            "The Authorization header: see the guide for details",
        ],
        [
            ("Authorization: ApiKey §", body(30)),
            ("Authorization: Splunk §", uuid()),
            ("curl -H 'Authorization: Key §' h.io", body(24)),
            ('"Authorization": "Token token=§"', body(24)),
            ("Authorization: §", body(40)),
            ('curl h.io \\\n  -H "Authorization: Bearer \\\n  §"', body(30)),
            ("Authorization:\n  Bearer §", body(30)),
            ("Authorization: Bearer\n  §", body(30)),
            ("curl https://h.io \\\n  -u kim:§ \\\n  -o x", HUNTER),
        ],
    ),
    "letters only": (
        [
            "API_KEY=production",
            "api_key = 'somethingelse'",
            "token: authentication",
            "access_key = 'InternationalizationService'",
        ],
        [
            ("API_KEY=§", LETTERS),
            ("API_KEY=§", LETTERS.lower()),
            ("api_key: '§'", LETTERS.upper()),
            ("ACCESS_TOKEN=§", body(14, "bcdfghjklmnpqrstvwxz")),
        ],
    ),
    "webhooks": (
        [
            "https://outlook.office.com/webhook/",
            "https://hooks.zapier.com/hooks/catch/",
            "https://discord.com/api/webhooks/{id}/{token}",
        ],
        [
            (
                "https://§",
                "outlook.office.com/web" + f"hook/{uuid()}@{uuid(5)}/IncomingWebhook/"
                f"{body(32, HEX)}/{uuid(9)}",
            ),
            ("https://§", "hooks.zapier.com/hooks/cat" + "ch/1234567/" + body(7)),
            (
                "https://ptb.§",
                "discord.com/api/web" + "hooks/987654321098765432/" + body(68, SAFE),
            ),
            (
                "https://§",
                "chat.googleapis.com/v1/spa" + "ces/AAAAxyz12/messages?key=" + body(39),
            ),
            ("curl -H 'Authorization: Basic §' h.io", b64("kim:" + MIXED)),
        ],
    ),
}
