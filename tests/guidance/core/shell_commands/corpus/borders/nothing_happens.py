"""Dry runs and requests for help, and how they are taken back."""

from __future__ import annotations

TRIPS = (
    ("mirror-delete", "rsync -an --no-dry-run --delete new/ live/"),
    ("mirror-delete", "rsync --dry-run --no-dry-run -a --delete new/ live/"),
    ("git-clean", "git clean -nfd --no-dry-run"),
    ("kubernetes-delete", "kubectl delete ns shop --dry-run=client --dry-run=none"),
    ("delete-folder", "rm -rf assets --help"),
    ("delete-folder", "rm -rf assets --dry-run"),
    ("delete-folder", "rm -rf -- assets --help"),
    ("git-push-force", "git push --force origin -- --dry-run"),
    ("helm-uninstall", "helm uninstall web --dry-run=false"),
    ("kill-all", "kill -9 -- -1"),
    ("kill-all", "kill -s KILL 1"),
    ("empty-file", "truncate -s 0 vm.img"),
    ("empty-file", "truncate -s 1M customers.db"),
    ("disk-format", "mkfs.ext4 /dev/vdb"),
    ("disk-partition", "parted -s /dev/vdb mklabel gpt"),
    ("disk-write", "echo x > /dev/vdb"),
    ("disk-write", "cat image.iso > /dev/nvme0n1"),
    ("infrastructure-destroy", "terraform -chdir=infra destroy"),
)
_HARMLESS = (
    "kubectl delete ns shop --help",
    "az group delete -h",
    "docker system prune -h",
    "docker compose down -v --dry-run",
    "aws s3 rb help",
    "aws ec2 terminate-instances --instance-ids i-1 --dry-run",
    "git help clean",
    "git clean -fd -h",
    "npm unpublish left-pad --dry-run",
    "rails db:drop --dry-run",
    "php artisan migrate:fresh --pretend",
    "terraform destroy -help",
    "kill -0 1",
    "kill -s 0 1",
    "truncate -s 4G vm.img",
    "mkfs.ext4 -F rootfs.img",
    "parted -s disk.raw mklabel gpt",
    "echo ready > /dev/ttyUSB0",
    "printf '\\a' > /dev/console",
)
PASSES = tuple(("", command) for command in _HARMLESS)
