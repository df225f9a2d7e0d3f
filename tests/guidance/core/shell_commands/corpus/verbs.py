"""Verbs: in which position, by which name, and whether they are taken back."""

from __future__ import annotations

TRIPS = (
    # Whatever follows the verb is a name, also where it looks like a harmless verb.
    ("cloud-delete", "gcloud compute instances delete list --quiet"),
    ("cloud-delete", "gcloud compute disks delete describe --zone=b"),
    ("cloud-delete", "az vm delete --yes --name x show"),
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
    ("", "rm -f -i assets/logo.png"),
    ("", "rm -rfi assets"),
    ("", "npm unpublish --help"),
    ("", "vault kv delete --help"),
    ("", "doctl help compute droplet delete"),
    ("", "terraform destroy --help"),
)
