"""The words that rules about names and values are made of."""

from __future__ import annotations


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Said after the noun, these change nothing.
TRAILERS = _split_words(
    "prod production dev development test testing stage staging live old new value"
    " b64 base64 plain plaintext raw string str text env default current"
)

SHORT_PASSWORDS = _split_words(
    "dbpass userpass rootpass adminpass mypass ftppass smtppass mailpass mysqlpass"
    " dbpw rootpw adminpw userpw sshpass"
)

# api_key, accessKey, "signing key": a key of this sort is secret, other keys are not.
KEYS = _split_words(
    "api access private secret signing sign encryption encrypt crypto auth master"
    " account service app application storage shared subscription license session hmac"
    " jwt cipher ssh deploy consumer root admin server write host function aes webhook"
    " ingest merchant client gpg pgp tls ssl"
)

# Tokens that only count, page, mark or mean a piece of text.
OPEN_TOKENS = _split_words(
    "page next continuation cancellation cancel pad eos bos unk sep cls mask start end"
    " stop special per max min num total input output completion prompt first last"
    " previous current separator sync resume pagination cursor list scroll design"
    " syntax lexer string identifier csrf xsrf"
)

NONSECRET_LEADS = _split_words("public publishable no has is show hide use require")

# A hash of the secret, not the secret.
HASHES = _split_words("hash hashed digest checksum encrypted sha1 sha256 sha512 md5")

# What is done with a secret: the value is seldom one, unless it is random.
VERBS = _split_words(
    "reset forgot forgotten change update validate check verify compare toggle prompt ask"
    " enter request send missing invalid wrong incorrect mismatched expired"
)

# Tokens and keys that may be a UUID without being secret.
UUID_KEYS = _split_words(
    "api access private secret signing encryption auth master account license deploy admin"
    " webhook ingest subscription service"
)
UUID_TOKENS = _split_words(
    "session request client device push idempotency correlation trace invite invitation"
    " verification confirmation reset email unsubscribe share upload delete activation"
    " magic registration tracking cart order job task lock lease fencing batch change"
    " state nonce id uuid"
)

# Types, states and labels that stand behind such a name in code and in forms.
PLAIN_WORDS = _split_words(
    "string str text int integer number bool boolean bytes byte object any char varchar"
    " secretstr optional required hidden null none nil undefined true false yes no on"
    " off enabled disabled missing invalid incorrect empty unset unknown default inherit"
    " auto never always wrong expired forgotten forgot reset changed protected encrypted"
    " saved stored ok valid weak strong short long input field label type name value"
    " test testing tests tester demo guest foo bar baz qux example sample dummy anonymous"
    " basic bearer digest oauth oauth2 jwt md5 sha1 sha256 sha512 base64 utf8 argon2"
    " bcrypt scrypt pbkdf2 sensitive confidential private public pointer nullable"
    " mandatory needed rotated revoked leaked generated provided given self this"
    " passwort contraseña senha wachtwoord lösenord salasana hasło parola пароль 密码"
    " パスワード 비밀번호 kennwort adgangskode passord heslo jelszó şifre parole geheim"
    " clave mot de passe"
)

NOUNS = _split_words(
    "password passwd passphrase passcode pwd pass pw secret token key credential"
    " credentials cred creds auth authorization bearer apikey"
)

# What every example database on one's own machine has.
LOCAL_DEFAULTS = _split_words(
    "password passwd pass pw postgres root admin secret test user guest mysql dev tiger"
)

# The passwords that images, emulators and tutorials come with.
DEFAULT_VALUES = LOCAL_DEFAULTS | _split_words(
    "minio minioadmin mariadb mongo mongodb redis rabbitmq elastic opensearch keycloak"
    " grafana airflow superset wordpress symfony laravel homestead django rails mysecret"
    " changeit changeme default vagrant keyboard cat my mypassword mysecretpassword somepassword app db api jwt"
)

# One of these among plain words says that the value is for trying out.
TRIAL_WORDS = _split_words(
    "dev devel development test tests testing tester local localhost demo example sample"
    " dummy fake mock stub fixture ci e2e sandbox throwaway playground changeme changeit"
    " placeholder todo unused notasecret nosecret notreal testtest"
)

# Names whose value names somebody or something, and names whose value says where it is.
OWNER_NAMES = _split_words("user username login account name database dbname db uid")
HOST_NAMES = _split_words("host hostname server address url uri endpoint")
