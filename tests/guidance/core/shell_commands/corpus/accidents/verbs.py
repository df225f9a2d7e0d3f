"""Verbs: in which position, by which name, and whether they are taken back."""

from __future__ import annotations

TRIPS = (
    # Whatever follows the verb is a name, also where it looks like a harmless verb.
    ("cloud-delete", "gcloud compute instances delete list --quiet"),
    ("cloud-delete", "gcloud compute disks delete describe --zone=b"),
    ("cloud-delete", "az vm delete --yes --name x show"),
    # Abbreviations that the tool accepts, and its other spellings.
    ("firewall-flush", "ip ro fl table main"),
    ("firewall-flush", "ip l s eth1 down"),
    ("git-discard", "hg up -C tip"),
    ("git-discard", "svn del --force docs"),
    ("volume-remove", "btrfs subv del /data/old"),
    ("package-settings", "npm dist-tag remove shop beta"),
    ("platform-delete", "vercel project remove shop"),
    ("platform-delete", "heroku config:unset KEY -a shop"),
    # Applied before anybody has seen the plan.
    ("infrastructure-apply", "terraform apply -input=false -auto-approve"),
    ("infrastructure-apply", "echo yes | tofu apply"),
    ("infrastructure-apply", "terragrunt run-all apply --terragrunt-non-interactive"),
    ("infrastructure-destroy", "tofu plan -destroy -out x && tofu apply x"),
    # Tokens, seals, leases and snapshots.
    ("secret-delete", "vault token revoke -self"),
    ("secret-delete", "vault audit disable file"),
    ("secret-delete", "vault operator raft snapshot restore -force old.snap"),
    ("database-restore", "etcdctl snapshot restore old.db"),
    ("key-delete", "security delete-keychain login.keychain"),
    # States that are absent.
    (
        "configuration-absent",
        "ansible db -b -m postgresql_db -a 'name=shop state=absent'",
    ),
    ("configuration-absent", "salt 'web*' pkg.purge nginx"),
    ("configuration-absent", "knife client bulk delete '.*' -y"),
    # Registries, code hosts, requests.
    ("package-unpublish", "vsce unpublish acme.shop"),
    ("repository-delete", "gh release delete-asset v1 shop.zip"),
    ("repository-settings", "gh repo edit acme/shop --visibility=private"),
    ("http-delete", "curl -sX DELETE localhost:7700/indexes/people"),
    ("http-delete", "curl -d '' https://shop.invalid/api/accounts/delete-all"),
    # The system.
    ("permissions-root", "chmod -R -x ."),
    ("permissions-root", "chmod -R 600 config"),
    ("kill-all", "pkill -KILL mongod"),
    ("access-cut", "sudo systemctl mask ssh.service"),
    ("settings-reset", "gsettings reset-recursively org.gnome.desktop"),
    ("schedule-remove", "sudo crontab -u www /dev/null"),
    ("database-reset", "npx sequelize-cli db:seed:undo:all"),
    ("database-flush", "redis-cli function flush"),
    (
        "topic-delete",
        "kafka-configs --alter --entity-name a --add-config retention.ms=100",
    ),
    # A dry run that is taken back.
    ("mirror-delete", "rsync -an --delete --no-dry-run site/ web:/srv/site/"),
    ("mirror-delete", "rsync --dry-run --no-dry-run -a --delete a/ b/"),
    ("kubernetes-delete", "kubectl delete deploy api --dry-run=client --dry-run=none"),
    ("kubernetes-delete", "kubectl delete pvc data --dry-run=false"),
    # A prompt that is taken back.
    ("delete-folder", "rm -Irf assets"),
    ("delete-folder", "rm -i -r -f assets"),
    ("delete-folder", "rm -r --interactive=never assets"),
    ("delete-file", "rm -if /srv/app/notes.txt"),
)

PASSES = (
    ("", "gcloud compute instances list --filter=name:delete"),
    ("", "gcloud compute instances create delete --zone=b"),
    ("", "rsync -a --delete --no-owner --dry-run site/ web:/srv/site/"),
    ("", "kubectl delete deploy api --dry-run=server"),
    ("", "ip route show table main"),
    ("", "ip -4 addr show dev eth0"),
    ("", "hg up tip"),
    ("", "btrfs device stats /data"),
    ("", "npm dist-tag ls shop"),
    ("", "heroku config:set KEY=1 -a shop"),
    ("", "tofu plan -out x && tofu show x"),
    ("", "vault token capabilities app/db"),
    ("", "vault audit list"),
    ("", "etcdctl snapshot save new.db"),
    ("", "ansible db -m postgresql_db -a 'name=shop state=present'"),
    ("", "salt 'web*' pkg.version nginx"),
    ("", "knife client list"),
    ("", "gh release view v1"),
    ("", "gh extension remove dash"),
    ("", "curl -d '{}' https://shop.invalid/api/accounts"),
    ("", "curl -X DELETE http://127.0.0.1:5173/api/todos/4"),
    ("", "chmod -R u+rwX,go-w config"),
    ("", "chmod 600 config/key.pem"),
    ("", "pkill mongod"),
    ("", "pkill -9 -f 'next dev'"),
    ("", "systemctl --user stop shop.service"),
    ("", "redis-cli debug object key"),
    ("", "rm -f -i assets/logo.png"),
    ("", "rm -rfi assets"),
    ("", "npm unpublish --help"),
    ("", "vault kv delete --help"),
    ("", "doctl help compute droplet delete"),
    ("", "terraform destroy --help"),
)
