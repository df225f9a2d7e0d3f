"""Words in the names of tools and of their arguments, by what they promise."""

from __future__ import annotations

import re

from guidance.core.shell_commands.word_lists import split_names

# Arguments that name a file, as `normalize_name` gives them.
PATHS = split_names(
    "path paths file files filepath filepaths filename filenames notebookpath source "
    "sourcepath src from uri uris targetfile absolutepath attachment attachments "
    "inputfile localpath relativepath workspacepath documentpath destination dest dst to "
    "target"
)
WORD = re.compile(r"[a-z]+|[A-Z][a-z]*")
READING = split_names(
    "read view get open cat load show download fetch grep search upload attach send "
    "share post copy head tail print dump export file"
)
WRITING = split_names(
    "write edit create update insert replace append move rename delete remove patch "
    "put set save add modify str edits"
)
SEARCHING = split_names("grep search find rg ripgrep")
PATTERNS = split_names("pattern query regex text search searchquery")
SECRETS = split_names(
    "secret secrets credential credentials password passwords keychain"
)
SHOWING = split_names(
    "read get show fetch reveal access dump export view decrypt retrieve lookup copy "
    "download"
)
# Where passwords are kept; a vault of notes is another thing.
MANAGERS = split_names(
    "onepassword bitwarden lastpass keepass keepassxc dashlane keeper passbolt doppler "
    "infisical vault keychain keyring secretsmanager"
)
# Single secrets by their names, and values that are asked to be decrypted.
VARIABLES = split_names("env environment variable variables config setting")
DECRYPTING = split_names("withdecryption decrypt reveal showsecret showvalues")
NOTES = split_names("obsidian note notes markdown logseq")
CONTENTS = split_names(
    "content contents newstring newtext newstr text newsource filetext code body data "
    "insertline inserttext new edits patch diff"
)
SQL = split_names("sql query queries statement statements")
# Who may do what, and what gives more of it.
RIGHTS = split_names(
    "collaborator collaborators role roles permission permissions policy policies member "
    "members iam acl"
)
GRANTING = split_names("update add grant set put attach assign create change edit")
PROTECTION = split_names("protection protections ruleset rulesets firewall mfa")
LOOSENING = split_names("update delete remove disable set put change edit")
# Files that go out with a message, and addresses that carry a key.
SENDING = split_names("send email mail upload attach share post publish message")
ATTACHED = split_names(
    "attachment attachments file files filepath filepaths paths attachmentpaths bodyfile "
    "datafile"
)
# The same, where the tool says that it handles files.
SENT_PATHS = split_names(
    "path localpath sourcepath source src local document documents filename photo "
    "absolutepath inputfile"
)
FILES = split_names("upload attach file files document documents photo share")
STORES = split_names(
    "object ftp sftp gcs dropbox gdrive drive bucket blob webdav onedrive"
)
PATH = re.compile(r".*[/\\].*|.*\.\w{1,6}")
# Shown to be looked at, as a screenshot is.
PICTURE = re.compile(r".*\.(?:png|jpe?g|gif|webp|svg|mp4|webm)", re.IGNORECASE)
ADDRESSES = split_names("url urls uri address href endpoint link")
KEY_IN_ADDRESS = re.compile(
    r"[?&/=:](?:AKIA[0-9A-Z]{12}|gh[pousr]_\w{16}|sk[-_]\w{16}|xox[abp]-|glpat-|eyJ[\w-]{16})"
)
# Tools that ask or press something somewhere; the others only speak of it.
ACTING = split_names(
    "fetch request http get post put patch navigate click press tap browser web call "
    "invoke open goto submit evaluate api curl type fill"
)
# Code that a tool runs.
EVALUATING = split_names("evaluate eval execute exec run script")
CODE = split_names("function code script expression javascript js source")
# The files that a patch names.
PATCHED = re.compile(
    r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to):(.{1,1000})$", re.MULTILINE
)
# Passwords by their address in a manager.
SECRET_ADDRESS = re.compile(r"(?:op|vault|bws|keyring)://.*", re.DOTALL)
# Places that everybody reads, and arguments that say who may read.
PASTES = split_names("gist gists paste pastebin snippet snippets")
READERS = split_names("type visibility access scope audience sharing shareWith acl")
EVERYBODY = re.compile(
    r"anyone|anyonewithlink|everyone|allusers|public[-_]?(?:read)?|world", re.IGNORECASE
)
# Longer texts are prose, in which the page of a review and a word such as approve may
# stand side by side.
SHORT = 500
# Commands run somewhere else, and the arguments that say where.
RUNNING = split_names("exec execute run ssh invoke shell command")
PLACES = split_names(
    "namespace context cluster environment env host hostname server target stage instance"
)
# Tools that press what they find on a page.
PRESSING = split_names(
    "click press tap submit navigate fill type browser goto evaluate page"
)
APPLYING = split_names("apply deploy run install")
# What a cluster is given to run, and switches that open something to everybody.
MANIFESTS = split_names("manifest manifests yaml resource resources spec")
KEPT_PRIVATE = split_names(
    "repo repository repositories bucket share page document file files project dashboard "
    "snapshot image notebook database gist"
)
OPENING = {"private": False, "public": True, "ispublic": True, "isprivate": False}
