"""What others rely on: published, replaced or emptied from a program or a pipe."""

from __future__ import annotations


def _python(code: str) -> str:
    return f'python -c "{code}"'


def _node(code: str) -> str:
    return f"node -e '{code}'"


TRIPS = (
    ("package-publish", "twine upload dist/*"),
    ("package-publish", "python -m twine upload dist/*"),
    ("package-publish", "npm publish"),
    ("package-publish", "uv publish"),
    ("package-publish", "cargo publish -p shop-core"),
    ("package-publish", "dotnet nuget push shop.nupkg -s nuget.org"),
    ("git-push-delete", "svn rm -m old https://svn.example.com/core/branches/shop"),
    ("*", "unzip -o release.zip -d /opt/shop"),
    ("*", "unzip -oq site.zip -d /var/www/shop"),
    ("sql-drop", "snowsql -q 'create or replace database finance'"),
    ("sql-drop", "snowsql -q 'create or replace schema shop.orders'"),
    ("package-remove", "pip freeze | xargs pip uninstall -y"),
    ("package-remove", "brew list | xargs brew uninstall"),
    ("code-delete", _python("b = s3.Bucket('a'); b.object_versions.delete()")),
    ("code-delete", _python("c.delete_bucket(Bucket='a')")),
    ("code-delete", _python("ec2.terminate_instances(InstanceIds=ids)")),
    ("code-delete", _python("api.delete_namespace('shop')")),
    ("code-delete", _python("docker.from_env().volumes.prune()")),
    ("code-delete", _python("session.query(Order).delete()")),
    ("code-delete", _node("await prisma.order.deleteMany()")),
    ("code-delete", _node('await knex("orders").del()')),
    ("code-delete", _node("await sequelize.sync({ force: true })")),
    ("code-delete", _node('await s3.send(new DeleteBucketCommand({Bucket: "a"}))')),
    ("sql-delete-all", _node("await sql`delete from orders`")),
    ("sql-truncate", _node("await prisma.$executeRaw`TRUNCATE orders`")),
)
_HARMLESS = (
    "twine check dist/*",
    "twine upload -r testpypi dist/*",
    "npm publish --dry-run",
    "npm publish --registry http://localhost:4873",
    "npm pack",
    "cargo publish --dry-run",
    "svn rm notes.txt",
    "svn rm -m old https://svn.example.com/core/trunk/docs/old/notes.txt",
    "unzip -o tool.zip -d /tmp/tool",
    "unzip tool.zip -d vendor",
    "snowsql -q 'create or replace view v as select 1'",
    "pip uninstall -y requests",
    "pip freeze | xargs pip download",
    _python("s3.delete_object(Bucket=b, Key=k)"),
    _python("Order.objects.filter(id=1).delete()"),
    _python("session.query(Order).filter_by(id=1).delete()"),
    _python(
        "c = boto3.client('s3', endpoint_url='http://localhost:4566'); c.delete_bucket(Bucket='a')"
    ),
    _python("cache.delete_user(user)"),
    _python("api.delete_user('ann')"),
    _node("await prisma.order.deleteMany({ where: { id: 1 } })"),
    _node('await knex("orders").where({ id: 1 }).del()'),
    _node("await sequelize.sync()"),
    _node("await sql`delete from orders where id = ${id}`"),
    _node("console.log(chalk`delete ${name}`)"),
    "cat > a.test.ts <<'EOF'\nbeforeEach(() => db.order.deleteMany());\nEOF\nnpx vitest run",
)
PASSES = tuple(("", command) for command in _HARMLESS)
