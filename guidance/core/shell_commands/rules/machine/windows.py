"""Windows: PowerShell's removing commands, and tools that delete backups or keys."""

from __future__ import annotations

from guidance.core.shell_commands.rules.rule import Rule

RULES = (
    Rule(
        name="windows-remove",
        message="Deletes items with PowerShell",
        why="Remove-Item uses no recycle bin, and -Force takes hidden files along.",
        safer="Run it with -WhatIf first.",
        rollback="a copy of the folder to restore from.",
        patterns=("remove-item|ri|rni !-whatif|-wi @outside",),
        trips=(
            "Remove-Item -Recurse -Force C:\\data",
            "powershell -Command \"Remove-Item 'C:\\data' -Recurse\"",
            "pwsh -c 'Get-ChildItem C:\\x | Remove-Item'",
            'powershell -c "gci | % { ri $_ -Force }"',
        ),
        passes=(
            "Remove-Item -WhatIf C:\\data",
            "powershell -Command Get-ChildItem",
            "Remove-Item $env:TEMP\\x -Recurse",
        ),
    ),
    Rule(
        name="windows-backup-delete",
        severity="critical",
        message="Deletes backups or restore points, or makes them useless",
        why="This is what ransomware does before it encrypts.",
        safer="Delete the one old restore point by its id.",
        rollback="a backup on another machine.",
        patterns=(
            "vssadmin delete|resize",
            "wmic shadowcopy ** delete",
            "wmic ** delete",
            "wbadmin delete",
            "bcdedit /delete|/deletevalue",
            "bcdedit /set ** no|ignoreallfailures",
            "remove-computerrestorepoint|disable-computerrestore",
            "fsutil usn deletejournal",
        ),
        trips=("vssadmin delete shadows /all /quiet", "wbadmin delete catalog"),
        passes=("vssadmin list shadows", "wbadmin get versions"),
    ),
    Rule(
        name="windows-settings-delete",
        message="Deletes registry keys, services or drivers",
        why="Programs or Windows itself may not start again.",
        safer="Export the key first (reg export).",
        rollback="the exported key.",
        patterns=(
            "reg delete",
            "sc delete",
            "remove-itemproperty|rp|remove-service|remove-windowsdriver !-whatif",
            "pnputil /delete-driver",
            "manage-bde -forcerecovery|-fr|-off",
        ),
        trips=("reg delete HKLM\\Software\\X /f", "sc delete Spooler"),
        passes=("reg query HKLM\\Software", "sc query Spooler"),
    ),
)
