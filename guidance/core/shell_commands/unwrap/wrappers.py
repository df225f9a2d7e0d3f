"""Wrappers: `sudo rm` is judged as `rm`. One line each, so adding one is easy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.code.interpreters import interpret
from guidance.core.shell_commands.program_options import (
    find_option_value,
    read_attached_value,
    takes_next,
)
from guidance.core.shell_commands.rules import PATTERNS
from guidance.core.shell_commands.rules.options import TAKING_VALUES
from guidance.core.shell_commands.shell.patterns import ASSIGNMENT
from guidance.core.shell_commands.unwrap.recipes import run_package_scripts
from guidance.core.shell_commands.walk import Handler, Walk


@dataclass(frozen=True, slots=True)
class Wrapper:
    """`taking` are its options with a value, `skip` its own operands before the command.

    `words` are verbs that must stand first, such as `run` in `uv run`.
    """

    taking: frozenset[str]
    skip: int = 0
    words: tuple[str, ...] = ()


# name, verbs it needs, how many operands of its own : options that take a value
_TABLE = """
sudo 0: -u --user -g --group -h --host -p --prompt -C --close-from -D --chdir -r --role
    -t --type -T --command-timeout -U --other-user -R --chroot
doas 0: -u -C
run0 0: -u --user -g --group -D --chdir --setenv --slice --unit --property --machine
pkexec 0: --user
env 0: -u --unset -C --chdir -a --argv0 --block-signal --default-signal
nohup 0:
setsid 0:
time 0: -f --format -o --output
timeout 1: -k --kill-after -s --signal
nice 0: -n --adjustment
ionice 0: -c --class -n --classdata -t
chrt 1: -T -P -D
taskset 1:
stdbuf 0: -i --input -o --output -e --error
command 0:
builtin 0:
exec 0: -a
busybox 0:
toybox 0:
chroot 1: --userspec --groups
unshare 0: --mount-proc --map-user --map-group -S --setuid -G --setgid -R --root -w --wd
nsenter 0: -t --target -S --setuid -G --setgid -r --root -w --wd
systemd-run 0: -p --property -u --unit --slice --uid --gid -M --machine -H --host
    --description -E --setenv --on-active --on-calendar --working-directory -d
systemd-inhibit 0: --what --who --why --mode
fakeroot 0: -l -s -i -b
strace 0: -e -o -p -s -u -E -P -a -O -S -I -b
ltrace 0: -e -o -p -s -u -a -n -l -x
perf 1: -e --event -o --output -F --freq -p --pid -C --cpu
valgrind 0:
gdb 0: -x -ex -iex -p -c
caffeinate 0: -t -w
firejail 0:
bwrap 0: --bind --ro-bind --dev --proc --tmpfs --chdir --setenv --unsetenv --dev-bind
proxychains 0: -f
proxychains4 0: -f
torsocks 0:
torify 0:
unbuffer 0:
rlwrap 0: -f -H -S -s
winpty 0:
gosu 1:
su-exec 1:
setpriv 0: --reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits
sshpass 0: -p -f -d -P
chronic 0:
ifne 0:
eatmydata 0:
nocache 0:
cgexec 0: -g
numactl 0: -N -m -C -i -p --cpunodebind --membind --physcpubind --interleave
prlimit 0:
setarch 1:
linux32 0:
linux64 0:
xvfb-run 0: -n -s -e -f -l -p -w --server-args --server-num
dbus-run-session 0: --config-file --dbus-daemon
dotenv run 0: -f --file -e
dotenv 0: -f --file -e
cross-env 0:
env-cmd 0: -f --file -r -e
entr 0:
ts 0:
sem 0: -j --jobs --id
wine 0:
wsl 0: -d --distribution -u --user --cd
start 0:
noglob 0:
nocorrect 0:
then 0:
direnv exec 1:
uv run 0: --with --python -p --package --group --extra --env-file --project --directory
    --with-requirements --index -m --module
poetry run 0: -C --directory -P --project
pipenv run 0:
pdm run 0: -p --project
hatch run 0: -e --env
rye run 0:
conda run 0: -n --name -p --prefix --cwd
mamba run 0: -n --name -p --prefix --cwd
micromamba run 0: -n --name -p --prefix --cwd
pixi run 0: -e --environment --manifest-path
bundle exec 0:
rbenv exec 0:
pyenv exec 0:
asdf exec 0:
mise exec 0: -C --cd -j --jobs
mise x 0: -C --cd -j --jobs
volta run 0: --node --npm --yarn
fnm exec 0: --using
nvm exec 1:
npx 0: -p --package --userconfig --cache
bunx 0:
pnpx 0:
uvx 0: --from --with --python -p
pipx run 0: --spec --python
npm exec 0: -p --package
npm x 0: -p --package
pnpm exec 0: -C --dir --filter -F
pnpm dlx 0: --package
yarn exec 0:
yarn dlx 0: -p --package
bun x 0:
op run 0: --env-file --account
doppler run 0: -p --project -c --config --token
infisical run 0: --env --path --projectId
aws-vault exec 1: -d --duration
chamber exec 1:
vault-env 0:
k3s 0:
microk8s 0:
minikube kubectl 0:
zellij run 0: -n --name -d --direction --cwd
retry 0: -t --times -d --delay
ld.so 0: --library-path --preload --argv0 --audit --inhibit-rpath --glibc-hwcaps-prepend
arch 0: -arch -d -e
runcon 1: -t -u -r -l
chpst 0: -u -U -b -/ -e -m -d -o -p -f -c -n -L -l -v
setuidgid 1:
s6-setuidgid 1:
softlimit 0: -m -d -s -l -a -o -p -f -c -r -t
envdir 1:
tini 0: -p -e
dumb-init 0: -r
faketime 1: -f
fakechroot 0: -c -e -b
proot 0: -r -b -w -q -R -S
schroot 0: -c -u -d -p
systemd-nspawn 0: -D -i -M -u -E --directory --image --machine --bind --bind-ro
apptainer exec 1: -B --bind --env -H --pwd -W
singularity exec 1: -B --bind --env -H --pwd -W
limactl shell 1: --workdir
lima 0:
orb 0: -m -u -w --machine --user
machinectl shell 1: -E --setenv --uid
colima ssh 0: -p --profile
buildah unshare 0: -m --mount
buildah run 1: -v --volume --user --workingdir
toolbox run 0: -c --container -d --distro -r --release
distrobox enter 1: -n --name -a
distrobox-enter 1: -n --name -a
flatpak-spawn 0: --env --directory
guix shell 0: -m --manifest -f --file -L -e
guix environment 0: -m --manifest -l
devbox run 0: -c --config -e
foreman run 0: -e --env -f
honcho run 0: -e --env -f
dotenvx run 0: -f --env-file -e --env
rr record 0: -o
samply record 0: -o
heaptrack 0: -o
catchsegv 0:
ccache 0:
distcc 0:
mpirun 0: -n -np -c -H --host --hostfile -x
mpiexec 0: -n -np -c -H --host --hostfile -x
srun 0: -n -N -c -p -t -J -w --ntasks --nodes --partition --time --mem
bsub 0: -q -n -o -e -J -W -R
tsp 0: -L -N -D
nq 0:
ip netns exec 1:
ip vrf exec 1:
vrun 0:
rtx exec 0: -C
cargo-watch 0: -w -i -C
reflex 0: -r -g -R -G -d
nix-shell 0: -p -I -A
mosh 1: --ssh --port -p --server
"""


def _read_table(table: str) -> dict[str, tuple[Wrapper, ...]]:
    found: dict[str, list[Wrapper]] = {}
    lines: list[str] = []
    for line in table.strip().splitlines():
        if line.startswith(" "):
            lines[-1] += line
        else:
            lines.append(line)
    for line in lines:
        head, _, options = line.partition(":")
        name, *words, skip = head.split()
        wrapper = Wrapper(frozenset(options.split()), int(skip), tuple(words))
        found.setdefault(name, []).append(wrapper)
    return {name: tuple(wrappers) for name, wrappers in found.items()}


WRAPPERS: Mapping[str, tuple[Wrapper, ...]] = _read_table(_TABLE)

# They run scripts of the package, and texts after -c.
PACKAGE_RUNNERS = ("npm", "npx", "pnpm", "yarn", "bun", "bunx", "pnpx")
# They run a package's programs by name alone.
RUNNERS = ("yarn", "pnpm")
# Without a command they start a shell.
_SHELLS = ("sudo", "doas")
_SHELL_FLAGS = frozenset(("-s", "-i", "--shell", "--login"))
# Names of packages stand before the two dashes.
_DASHED = ("guix",)
# Options after which they run nothing.
_ASKING = {
    "wsl": ("--unregister", "--shutdown", "--terminate", "-t", "--list", "-l"),
    "command": ("-v", "-V"),
    "sudo": ("-l", "-v", "-k", "-K", "-e", "--list", "--validate", "-V"),
}


def unwrap_wrapper(walk: Walk, call: ProgramCall) -> None:
    """Judge what the wrapper runs, and the wrapper by its own rules if it has any."""
    wrappers = WRAPPERS[call.name]
    if call.name in PACKAGE_RUNNERS:
        run_package_scripts(walk, call)
        place = find_option_value(call.argv, "-c", "--call", "--shell-mode")
        text = read_attached_value(call.argv[place], "--call") if place else None
        if place and (text or not call.argv[place].startswith("-")):
            text = text or call.argv[place]
            origin = walk.report.make_origin(call, place)
            walk.walk_shell(text, origin=origin, via=(*call.via, f"{call.name} -c"))
    for wrapper in wrappers:
        index = _find_inner(call, wrapper)
        if index:
            via = " ".join((call.name, *wrapper.words))
            if call.name in PACKAGE_RUNNERS and index == len(call.argv) - 1:
                # One word may be a whole line, which they hand to a shell.
                walk.walk_argument(call, index, via)
            else:
                walk.run_inner(call, index, via)
            return
    if call.name == "pnpm" and call.argv[1:2] == ["rm"]:
        # Short for remove: its words are packages.
        walk.judge(call)
    elif call.name in RUNNERS and len(call.argv) > 1 and call.argv[1] in PATTERNS:
        walk.run_inner(call, 1, call.name)
    elif call.name in _SHELLS and not _SHELL_FLAGS.isdisjoint(call.argv):
        content = walk.find_stdin(call)
        if content is not None:
            walk.walk_content(content, call, call.name)
    else:
        walk.judge(call)


def unwrap_bun(walk: Walk, call: ProgramCall) -> None:
    """`bun x` runs what npx does; all else of it is an interpreter's."""
    unwrap = unwrap_wrapper if call.argv[1:2] == ["x"] else interpret
    unwrap(walk, call)


def _find_inner(call: ProgramCall, wrapper: Wrapper) -> int:
    """Where the inner command begins, 0 if there is none."""
    argv = call.argv
    skip = wrapper.skip
    words = list(wrapper.words)
    before_verb = wrapper.taking | TAKING_VALUES.get(call.name, frozenset())
    asking = _ASKING.get(call.name, ())
    index = 1
    if call.name in _DASHED and "--" in argv and argv[1:2] == words[:1]:
        return argv.index("--") + 1 if argv[-1] != "--" else 0
    while index < len(argv):
        word = argv[index]
        index += 1
        if word == "--" and not words:
            if skip and index < len(argv):
                skip -= 1
                index += 1
                continue
            return index if index < len(argv) else 0
        if word.startswith("-") and word != "-":
            if word in asking:
                return 0
            if takes_next(word, before_verb if words else wrapper.taking):
                index += 1
            continue
        if word == "-" and call.name == "env":
            # The same as -i.
            continue
        if words:
            if word != words.pop(0):
                return 0
            continue
        if ASSIGNMENT.match(word) and call.name in _ASSIGNING:
            continue
        if skip:
            skip -= 1
            continue
        return index - 1
    return 0


_ASSIGNING = frozenset(("env", "sudo", "doas", "cross-env", "systemd-run", "exec"))

HANDLERS: dict[str, Handler] = dict.fromkeys(WRAPPERS, unwrap_wrapper)
