"""Vaults, tokens, keys and certificates: revoked, sealed, deleted."""

from __future__ import annotations

from guidance.core.shell_commands.rules.rule import Rule

RULES = (
    Rule(
        name="secret-delete",
        message="Deletes secrets, or revokes what others log in with",
        why="Programs that use them stop at once, and a secret has no other copy.",
        safer="Make the new one first, move its users over, then revoke the old one.",
        rollback="a sealed copy of the secret, or the way to issue it again.",
        patterns=(
            "vault delete|destroy|unwrap",
            "vault kv delete|destroy|rollback",
            "vault kv metadata delete",
            "vault secrets|auth|policy|audit|namespace disable|delete|move",
            "vault lease|token revoke",
            "vault operator seal|rekey|generate-root|step-down|rotate",
            "vault operator raft remove-peer",
            "vault operator raft snapshot restore",
            "vault write @revokes",
            "consul acl * delete",
            "consul leave|force-leave",
            "consul config|intention delete",
            "doppler|infisical ** delete",
            "op item|vault|document|user delete",
            "bw delete",
            "pass|gopass rm|remove|delete",
            "lpass rm",
            "chamber delete",
            "credstash delete",
            "keepassxc-cli rm|rmdir",
        ),
        trips=(
            "vault kv destroy -versions=2 app/db",
            "vault lease revoke -prefix db/creds/",
            "vault operator seal",
            "consul acl token delete -id 1",
            "op item delete database",
        ),
        passes=(
            "vault kv get app/db",
            "vault kv metadata get app/db",
            "vault operator raft list-peers",
            "vault token lookup",
            "op item list",
        ),
    ),
    Rule(
        name="key-delete",
        message="Deletes keys, certificates or identities",
        why="What was encrypted or signed with them cannot be opened or renewed again.",
        safer="Export it to a safe place first, or disable it.",
        rollback="the exported key.",
        patterns=(
            "gpg|gpg2 --delete-key*|--delete-secret*",
            "security delete-*",
            "keytool -delete",
            "certutil -delstore|-D",
            "certbot delete|revoke",
            "acme.sh --remove|--revoke",
            "step ca revoke",
            "kadmin|kadmin.local @deletes-principal",
            "kdb5_util destroy",
            "ipa *-del",
            "samba-tool ** delete|remove",
            "ssh-add -D",
        ),
        trips=(
            "gpg --delete-secret-keys ann",
            "keytool -delete -alias web -keystore web.jks",
            "certbot revoke --cert-path x.pem",
            "ipa user-del ann",
        ),
        passes=("gpg --list-keys", "keytool -list", "certbot renew", "ssh-add -l"),
    ),
)
