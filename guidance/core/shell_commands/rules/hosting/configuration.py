"""Configuration management: states that are absent, on many machines at once."""

from __future__ import annotations

from guidance.core.shell_commands.rules.rule import Rule

RULES = (
    Rule(
        name="configuration-absent",
        message="Removes something on managed machines",
        why="It happens on every machine that the pattern names, at the same time.",
        safer="Try it on one machine, with --check or --noop.",
        rollback="a backup of what is removed, from each machine.",
        patterns=(
            "ansible !--check|-C|--list-hosts @absent",
            "ansible -m=reboot|-m=ansible.builtin.reboot|--module-name=reboot",
            "ansible-playbook -t|--tags @teardown-tags",
            "puppet apply !--noop @absent",
            "chef-client|chef-solo @teardown-recipe",
            "ansible-playbook !--check|-C|--list-tasks|--list-hosts|--syntax-check @teardown",
            "puppet resource !--noop @absent",
            "puppet node purge|clean|deactivate",
            "puppet cert|certificate clean|revoke|destroy",
            "puppetserver ca clean|revoke",
            "salt|salt-call|salt-ssh @removes-state",
            "salt-key -d|-D|--delete|--delete-all",
            "knife ** delete|bulk",
            "knife ssh @removes-state",
            "chef-server-ctl cleanse|uninstall|*-delete",
            "cf-agent --remove",
        ),
        trips=(
            "ansible web -m file -a 'path=/srv/shop state=absent'",
            "ansible all -m user -a 'name=ann state=absent remove=yes'",
            "ansible-playbook site.yml -e state=absent",
            "ansible-playbook teardown.yml",
            "puppet resource user ann ensure=absent",
            "salt '*' file.remove /srv/shop",
            "salt-key -D -y",
            "knife node delete web1 -y",
        ),
        passes=(
            "ansible web -m file -a 'path=/srv/shop state=directory'",
            "ansible web -m file -a 'path=/srv/shop state=absent' --check",
            "ansible-playbook site.yml",
            "ansible-playbook teardown.yml --check",
            "puppet resource user ann",
            "salt '*' test.ping",
            "knife node list",
        ),
    ),
)
