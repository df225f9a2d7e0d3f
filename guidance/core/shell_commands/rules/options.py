"""Options that take a value, for the next word is then neither a verb nor a path.

A key of two words holds for what follows that verb, instead of the first line.
"""

from __future__ import annotations

from collections.abc import Mapping

_TABLE = """
git: -C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path
git push: -o --push-option --receive-pack --exec --repo
git clean: -e --exclude
git checkout: -b -B --orphan --conflict --pathspec-from-file
git restore: -s --source --conflict --pathspec-from-file
git branch: -u --set-upstream-to --sort --format --contains --merged --points-at
git stash: -m --message --pathspec-from-file
git tag: -m --message -F --file -u --local-user --sort --format
git commit: -m --message -F --file -C -c --author --date --fixup --squash -t
git reset: --pathspec-from-file
kubectl: -n --namespace --context --cluster --user --kubeconfig -s --server --as
    --as-group --token --request-timeout -f --filename -l --selector -c --container
    --grace-period --timeout --field-selector -k --kustomize -o --output -v --replicas -p
    --patch --type
helm: -n --namespace --kube-context --kubeconfig --kube-apiserver --timeout
docker: -H --host -c --context --config -l --log-level
docker compose: -f --file -p --project-name --profile --env-file --project-directory
    --ansi --parallel -t --timeout
docker-compose: -f --file -p --project-name --profile --env-file --project-directory
    -t --timeout
docker system: --filter
docker image: --filter
docker volume: --filter
podman: --connection --identity --url --root --runroot --log-level -c
terraform: -chdir
aws: --region --profile --output --endpoint-url --query --cli-input-json --ca-bundle
    --status --desired-count --desired-capacity --max-size --min-size --backup-retention-period
gcloud: --project --zone --region --account --format --configuration --location
    --num-nodes --lifecycle-file
pg_ctl: -D --pgdata -m --mode -l --log -t --timeout -o
restic: -r --repo -p --password-file --host --tag
azcopy: --delete-destination
sequel: -M -m
aerich: -v
sqlx: --target-version --source
ace: --batch
stop-process: -name -id
remove-item: -erroraction -ea -warningaction -include -exclude -filter
ri: -erroraction -ea -warningaction -include -exclude -filter
cdk: --require-approval -a --app -c --context --profile
phinx: -t --target -e --environment -c --configuration
cake: -t --target
lvresize: -L --size -l --extents
iscsiadm: -m --mode -o --op -T -p
ansible: -m --module-name -a --args -i --inventory -u -e --extra-vars -l --limit
ansible-playbook: -i --inventory -e --extra-vars -l --limit -t --tags --skip-tags -u
gh repo: -R --repo --visibility --description --homepage
setfacl:
az: --mode --subscription --output -o --query -g --resource-group -n --name
redis-cli: -h -p -s -a -u -r -i -n --user --pass --sni --cacert --cert --key --tls
mysqladmin: -h -P -u -p -S --host --port --user --socket
rabbitmqctl: -n --node -p --vhost -t --timeout
celery: -A --app -b --broker -Q --workdir --result-backend --loader --config
npm: --prefix --registry --otp --tag -w --workspace
pip: --python --log --proxy --timeout
curl: --output-dir -X --request -H --header -d --data --data-raw --data-binary -o --output -u --user
    -A -b -c -e -F -m -T -w -x -K --url --retry --max-time --connect-timeout --cacert
    --json --data-urlencode --form --resolve --limit-rate
rsync: -e --rsh --exclude --include --filter -f --rsync-path --bwlimit --partial-dir
    --backup-dir --suffix --log-file --files-from --exclude-from --port --password-file
aria2c: -d --dir -o --out -i --input-file -x -s
find: -name -iname -path -ipath -type -mtime -mmin -size -user -group -perm -newer
    -maxdepth -mindepth -regex -iregex -wholename -atime -ctime -amin -cmin -printf
    -fprint -fprintf -fls -regextype -links -inum -samefile -uid -gid -fstype
tar: -C --directory -f --file -T -X --exclude --transform --strip-components
unzip: -d -x -P
sed: -e --expression -f --file
install: -m --mode -o --owner -g --group -t
cp: -t --target-directory -S --suffix
mv: -t --target-directory -S --suffix
truncate: -s --size -r --reference
shred: -n --iterations -s --size --random-source
chown: --reference --from
chmod: --reference
rm:
userdel: -R --root -P --prefix
systemctl: -H --host -M --machine -t --type -p --property -n -o --output --root
crontab: -u
iptables: -t --table -A -I -D -p -s -d -j -i -o -m --dport --sport
ip6tables: -t --table
nft: -f --file -D --define -I
ufw:
kill: -s -n -q
pkill: -u -U -g -G -P -t -s --signal
pulumi: -s --stack -C --cwd --color -m --message -t --target
hg: -R --repository --cwd --config
svn: --username --password --depth --config-dir
gh: -R --repo --hostname
gh api: -X --method -H --header -f -F --field --raw-field -q --jq --input -t --template
parted: -a --align
sfdisk:
zfs: -o -t
mongorestore: --uri -h --host -d --db -c --collection -u -p --port
pg_restore: -d --dbname -h --host -p --port -U --username -j --jobs -n -t -T -f -F -l -L
dropdb: -h --host -p --port -U --username --maintenance-db
rclone: --config --filter --include --exclude --transfers --checkers
wget: -O --output-document --method --header --post-data -o -P -U --timeout -t --tries
http: -a --auth -A --timeout -o --output
vault: -address -namespace
etcdctl: --endpoints --cacert --cert --key --user
consul: -http-addr -token -datacenter
gsutil: -h -o -u
bq: --project_id --location --dataset_id
manage.py: --settings --pythonpath -v --verbosity --database
rails:
flyway: -url -user -password -configFiles
alembic: -c --config -n --name -x
kafka-topics: --bootstrap-server --topic --zookeeper --command-config --partitions
lvremove:
virsh: -c --connect
multipass:
btrfs:
diskutil:
"""


def _read_table(table: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    key = ""
    for line in table.strip().splitlines():
        head, colon, options = line.partition(":")
        if colon and not line.startswith(" "):
            key = head
        else:
            options = line
        found.setdefault(key, set()).update(options.split())
    return {key: frozenset(options) for key, options in found.items()}


TAKING_VALUES: Mapping[str, frozenset[str]] = _read_table(_TABLE)
