"""Rights raised, by the ways that people know."""

from __future__ import annotations

TRIPS = (
    ("privilege-root", "sudo su"),
    ("privilege-root", "sudo -i"),
    (
        "privilege-account-file overwrite-system-file",
        "echo 'me ALL=(ALL) NOPASSWD:ALL' | sudo tee /etc/sudoers.d/me",
    ),
    ("privilege-setuid", "chmod u+s /bin/bash"),
    ("privilege-setuid", "chmod 4755 ./x"),
    ("privilege-setuid", "setcap cap_net_admin+ep ./x"),
    ("privilege-container", "docker run --privileged -v /:/h alpine"),
    (
        "privilege-container",
        "docker run -v /var/run/docker.sock:/var/run/docker.sock x",
    ),
    (
        "privilege-grant",
        "kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=me",
    ),
    (
        "privilege-grant",
        "aws iam attach-user-policy --user-name me --policy-arn arn:aws:iam::aws:policy/AdministratorAccess",
    ),
    (
        "privilege-grant",
        "gcloud projects add-iam-policy-binding p --member=user:me --role=roles/owner",
    ),
    ("privilege-grant", "az role assignment create --role Owner --assignee me"),
    ("privilege-kernel", "setenforce 0"),
    ("privilege-kernel", "sysctl -w kernel.yama.ptrace_scope=0"),
    ("privilege-account-file", "usermod -aG docker me"),
    ("privilege-account-file", "passwd root"),
    ("privilege-setuid", "chmod 777 /etc/passwd"),
    ("privilege-kernel", "mount -o remount,rw /"),
    ("privilege-kernel", "nsenter -t 1 -m -u -i -n sh"),
    ("privilege-root", "unshare -r sh"),
    ("firewall-flush", "ufw disable"),
    ("privilege-grant", "psql -c 'alter user app superuser'"),
    ("privilege-grant", "psql -c 'grant all on all tables in schema public to public'"),
    ("privilege-grant", "mysql -e \"grant all on *.* to 'x'@'%'\""),
    (
        "privilege-grant",
        "gh api -X PUT repos/o/r/collaborators/eve -f permission=admin",
    ),
    (
        "privilege-grant repository-delete",
        "gh api -X DELETE repos/o/r/branches/main/protection",
    ),
    (
        "privilege-grant",
        "kubectl auth can-i --list --as=system:admin && kubectl --as=system:admin get secrets",
    ),
    ("permissions-root", "sudo chown -R me /usr/local"),
    (
        "overwrite-system-file privilege-account-file",
        "echo 0 > /proc/sys/kernel/randomize_va_space",
    ),
    ("privilege-kernel", "insmod x.ko"),
    ("privilege-kernel", "csrutil disable"),
    ("privilege-kernel", "Set-MpPreference -DisableRealtimeMonitoring $true"),
)
_HARMLESS = (
    "sudo apt-get update",
    "chmod +x run.sh",
    "docker run --rm -v $PWD:/w node npm test",
    "kubectl auth can-i list pods",
)
PASSES = tuple(("", command) for command in _HARMLESS)
