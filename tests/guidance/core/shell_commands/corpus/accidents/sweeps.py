"""Many things taken one by one: in a cloud, in production, in a home; and look-alikes."""

from __future__ import annotations

_VOLUMES = (
    "python3 - <<'E'\nimport boto3\nec2 = boto3.resource('ec2')\n"
    "for volume in ec2.volumes.all():\n    print(volume.id)\n    volume.{}()\nE"
)
TRIPS = (
    ("code-delete", _VOLUMES.format("delete")),
    (
        "code-delete",
        "python3 - <<'E'\nfrom google.cloud import firestore\n"
        "db = firestore.Client()\nfor each in db.collections():\n"
        "    db.recursive_delete(each)\nE",
    ),
    (
        "code-delete",
        "python3 - <<'E'\nfrom azure.mgmt.resource import Client\n"
        "for group in client.resource_groups.list():\n"
        "    client.resource_groups.begin_delete(group.name)\nE",
    ),
    (
        "code-delete",
        "python3 - <<'E'\nimport pathlib\nfor p in pathlib.Path.home().rglob('*.md'):\n"
        "    p.write_text(p.read_text().strip())\nE",
    ),
    (
        "code-delete",
        "python3 - <<'E'\nimport os\nfor top, _, names in os.walk('/'):\n"
        "    for n in names:\n        open(os.path.join(top, n), 'w').write(n)\nE",
    ),
    (
        "code-delete",
        "RAILS_ENV=production bin/rails runner 'Cart.where(old: 1).delete_all'",
    ),
    (
        "code-delete",
        "bin/rails runner -e production <<'R'\nCart.old.find_each(&:destroy)\nR",
    ),
    ("code-delete", "rails runner -e production 'Blob.unattached.find_each(&:purge)'"),
    (
        "code-delete",
        "DJANGO_SETTINGS_MODULE=shop.settings.production python manage.py shell -c "
        '"Cart.objects.filter(old=1).delete()"',
    ),
    (
        "unknown-destroying-verb",
        "Get-AzResource -TagName env | ForEach-Object { Remove-AzResource -Id $_.Id -Force }",
    ),
    ("unknown-destroying-verb", "Get-AzVM | % { Remove-AzVM -Name $_.Name -Force }"),
    ("database-restore", "mysql -u root shop < dumps/shop-2021-03.sql"),
    ("database-restore", "psql shop < backups/monday.sql"),
    ("delete-file", "fdupes -rdN ~/Pictures"),
    ("delete-file", "rdfind -deleteduplicates true ~/Music"),
    ("disk-format", "fastboot erase userdata"),
    ("archive-over", "7z x -aoa old.7z -o/srv/www"),
    ("overwrite-file", "dos2unix $(find ~/data -type f)"),
    ("overwrite-file", "find /home/ann/Documents -type f -exec sed -i s/a/b/ {} +"),
)
_HARMLESS = (
    _VOLUMES.format("describe"),
    "python3 - <<'E'\nfor each in names:\n    each.delete()\nE",
    "python3 - <<'E'\nimport pathlib\nfor p in pathlib.Path.home().rglob('*.md'):\n    print(p)\nE",
    "python3 - <<'E'\nimport pathlib\nfor p in pathlib.Path('src').rglob('*.py'):\n"
    "    p.write_text(p.read_text().strip())\nE",
    "RAILS_ENV=production bin/rails runner 'puts Cart.where(old: 1).count'",
    "RAILS_ENV=test bin/rails runner 'Cart.where(old: 1).delete_all'",
    "Get-AzVM | ForEach-Object { $_.Name }",
    "mysql shop_test < dumps/shop-2021-03.sql",
    "mysql shop < db/schema.sql",
    "psql -h localhost shop_dev < backups/monday.sql",
    "fdupes -r ~/Pictures",
    "rdfind -dryrun true ~/Music",
    "fastboot devices",
    "7z x -aoa old.7z -o/tmp/www",
    "dos2unix $(find src -type f)",
    "find /home/ann/work/shop/src -type f -exec sed -i s/a/b/ {} +",
    "find ~/Documents -type f -exec sed -n 1p {} +",
)
PASSES = tuple(("", command) for command in _HARMLESS)
