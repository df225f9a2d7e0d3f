"""Commands that run on another machine, or inside a container."""

from __future__ import annotations

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.program_options import (
    find_operands,
    find_option_value,
    read_attached_value,
    takes_next,
)
from guidance.core.shell_commands.unwrap.containers import (
    is_own_container,
    unwrap_cluster,
)
from guidance.core.shell_commands.unwrap.escapes import unwrap_ssh_options
from guidance.core.shell_commands.walk import Handler, Walk
from guidance.core.shell_commands.word_lists import split_names

_SSH_TAKING = split_names(
    "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B -P"
)
_RUN_TAKING = split_names(
    "-a --attach --add-host --annotation --blkio-weight --cap-add --cap-drop -c "
    "--cpu-shares --cgroup-parent --cidfile --cpus --cpuset-cpus --device --dns "
    "--domainname --entrypoint -e --env --env-file --expose --gpus --group-add "
    "--health-cmd --hostname -h --ip --ipc --isolation -l --label --label-file --link "
    "--log-driver --log-opt -m --memory --memory-swap --mount --name --network --net "
    "--network-alias --pid --pids-limit --platform -p --publish --pull --restart "
    "--runtime --security-opt --shm-size --stop-signal --stop-timeout --storage-opt "
    "--sysctl --tmpfs --ulimit -u --user --userns --uts -v --volume --volume-driver "
    "--volumes-from -w --workdir --index --detach-keys --arch --pod --secret"
)
_DOCKER_TAKING = split_names(
    "-H --host -c --context --config -l --log-level -f --file -p --project-name "
    "--profile --env-file --project-directory --connection --identity --url --root "
    "--runroot --storage-driver --storage-opt --tlscacert --tlscert --tlskey"
)
_KUBECTL_TAKING = split_names(
    "-n --namespace --context --cluster --user --kubeconfig -s --server -c --container "
    "-l --selector --image --env --overrides --as --token --restart --target "
    "--request-timeout -f --filename --pod-running-timeout -v --v --as-group "
    "--as-uid --cache-dir --certificate-authority --client-certificate --client-key "
    "--password --username --tls-server-name --vmodule --profile --profile-output"
)


def unwrap_ssh(walk: Walk, call: ProgramCall) -> None:
    if "-o" in " ".join(call.argv):
        unwrap_ssh_options(walk, call)
    places = find_operands(call.argv, taking=_SSH_TAKING)
    if not places:
        return
    # Options end at the host: what follows is the command, dashes and all.
    host = places[0]
    if host + 1 < len(call.argv):
        walk.walk_arguments(call, host + 1, f"ssh {call.argv[host]}")
        return
    content = walk.find_stdin(call)
    if content is not None:
        walk.walk_content(content, call, f"ssh {call.argv[host]}")


def unwrap_docker(walk: Walk, call: ProgramCall) -> None:
    """exec and run; everything else by the rules."""
    argv = call.argv
    if is_own_container(walk.known, argv):
        return
    if call.name == "podman" and "unshare" in argv:
        places = find_operands(argv, taking=_DOCKER_TAKING)
        if len(places) > 1 and argv[places[0]] == "unshare":
            walk.run_inner(call, places[1], "podman unshare")
            return
    if "exec" not in argv and "run" not in argv:
        walk.judge(call)
        return
    start = _find_verb(argv)
    if not start:
        walk.judge(call)
        return
    verb = argv[start]
    first = _find_after_name(argv, start + 1)
    if not first:
        return
    place = (
        find_option_value(argv, "--entrypoint") if "--entryp" in " ".join(argv) else 0
    )
    entry = (
        (read_attached_value(argv[place], "--entrypoint") or argv[place])
        if place
        else ""
    )
    if entry and first < len(argv):
        changed = call.replace_arguments(
            [*argv[:first], entry, *argv[first:]], first=-1
        )
        walk.run_inner(changed, first, f"{call.name} {verb}")
    elif first < len(argv):
        walk.run_inner(call, first, f"{call.name} {verb}")


def _find_verb(argv: list[str]) -> int:
    """The place of exec or run, if that is what is asked for."""
    for place in find_operands(argv, taking=_DOCKER_TAKING):
        word = argv[place]
        if word == "exec" or word == "run":
            return place
        if word != "compose" and word != "container":
            return 0
    return 0


def _find_after_name(argv: list[str], index: int) -> int:
    """After the container's or image's name comes the command as it stands."""
    while index < len(argv):
        word = argv[index]
        if word[:1] != "-":
            return index + 1
        index += 2 if takes_next(word, _RUN_TAKING) else 1
    return 0


def unwrap_kubectl(walk: Walk, call: ProgramCall) -> None:
    """kubectl exec, run and debug: what follows the two dashes."""
    argv = call.argv
    places = find_operands(argv, taking=_KUBECTL_TAKING)
    verb = argv[places[0]] if places else ""
    if verb not in ("exec", "run", "debug", "rsh"):
        walk.judge(call)
        return
    if "--" in argv:
        first = argv.index("--") + 1
    else:
        first = places[2] if len(places) > 2 else 0
    if first and first < len(argv):
        walk.run_inner(call, first, f"{call.name} {verb}")


def unwrap_container_exec(walk: Walk, call: ProgramCall) -> None:
    """lxc exec, multipass exec, nomad alloc exec: name, then the command."""
    argv = call.argv
    if "exec" not in argv:
        walk.judge(call)
        return
    start = argv.index("exec")
    if "--" in argv:
        walk.run_inner(call, argv.index("--") + 1, f"{call.name} exec")
        return
    places = find_operands(argv, start=start + 1)
    if len(places) > 1:
        walk.run_inner(call, places[1], f"{call.name} exec")


def unwrap_hosts(walk: Walk, call: ProgramCall) -> None:
    """ansible -m shell -a '…', salt '*' cmd.run '…', pdsh -w hosts …"""
    argv = call.argv
    walk.judge(call)
    if call.name == "ansible":
        module = find_option_value(argv, "-m", "--module-name")
        name = argv[module].rpartition(".")[2] if module else "command"
        place = find_option_value(argv, "-a", "--args")
        if place and name in ("shell", "command", "raw", "script"):
            walk.walk_argument(call, place, "ansible")
    elif call.name == "salt":
        for index, word in enumerate(argv[:-1]):
            if word.startswith("cmd."):
                walk.walk_argument(call, index + 1, "salt")
    else:
        taking = ("-w", "-x", "-g", "-h", "-H", "-l", "-t", "-u", "-f", "-p", "-i")
        for place in find_operands(argv, taking=taking):
            walk.walk_arguments(call, place, call.name)
            return


def unwrap_remote_text(walk: Walk, call: ProgramCall) -> None:
    """heroku run, adb shell, vagrant ssh -c, gcloud compute ssh --command, fly ssh."""
    argv = call.argv
    place = find_option_value(argv, "--command", "-C", "-c")
    verbs = argv[1:4]
    if place and "pg:psql" in verbs:
        origin = walk.report.make_origin(call, place)
        walk.walk_sql(argv[place], origin=origin, via=(*call.via, "heroku pg:psql"))
        return
    if place and ("ssh" in verbs or "console" in verbs or "shell" in verbs):
        value = read_attached_value(argv[place], "--command")
        if value is None:
            walk.walk_argument(call, place, f"{call.name} ssh")
        else:
            origin = walk.report.make_whole_origin(call)
            walk.walk_shell(value, origin=origin, via=(*call.via, f"{call.name} ssh"))
        return
    for verb in ("run", "shell", "run:detached"):
        if verb in argv[1:3] and call.name in ("heroku", "adb", "dokku", "eb"):
            taking = ("-a", "--app", "-s", "-r", "--size", "-e", "--env")
            start = argv.index(verb) + 1
            for index in find_operands(argv, taking=taking, start=start):
                walk.walk_arguments(call, index, f"{call.name} {verb}")
                return
    walk.judge(call)


HANDLERS: dict[str, Handler] = {
    "ssh": unwrap_ssh,
    "autossh": unwrap_ssh,
    "slogin": unwrap_ssh,
    "docker": unwrap_docker,
    "podman": unwrap_docker,
    "docker-compose": unwrap_docker,
    "kubectl": unwrap_kubectl,
    "lxc": unwrap_container_exec,
    "incus": unwrap_container_exec,
    "multipass": unwrap_container_exec,
    "nomad": unwrap_container_exec,
    "crictl": unwrap_container_exec,
    "kind": unwrap_cluster,
    "k3d": unwrap_cluster,
    "ansible": unwrap_hosts,
    "salt": unwrap_hosts,
    "pdsh": unwrap_hosts,
    "clush": unwrap_hosts,
    "pssh": unwrap_hosts,
    "parallel-ssh": unwrap_hosts,
    "dsh": unwrap_hosts,
    "heroku": unwrap_remote_text,
    "adb": unwrap_remote_text,
    "vagrant": unwrap_remote_text,
    "gcloud": unwrap_remote_text,
    "fly": unwrap_remote_text,
    "dokku": unwrap_remote_text,
    "eb": unwrap_remote_text,
}
