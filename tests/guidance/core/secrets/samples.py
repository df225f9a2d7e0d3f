"""Secrets that are none: put together from parts, so that this file holds no token."""

from __future__ import annotations

import base64
from collections.abc import Iterable

_DIGITS = "0123456789"
_LOWER = "abcdefghijklmnopqrstuvwxyz"
WORD = _LOWER + _LOWER.upper() + _DIGITS
HEX = _DIGITS + "abcdef"
UPPER = _LOWER.upper() + "234567"
SAFE = WORD + "_-"
LOWER = _LOWER + _DIGITS


def body(length: int, alphabet: str = WORD, seed: int = 7) -> str:
    """Characters that look drawn by chance and are always the same."""
    state = seed * 2_654_435_761 % 2**32
    drawn = []
    for _ in range(length):
        state = (state * 1_664_525 + 1_013_904_223) % 2**32
        drawn.append(alphabet[(state >> 16) % len(alphabet)])
    return "".join(drawn)


def numbered(labels: Iterable[str]) -> list[str]:
    """Names for test cases: short, and never the same twice."""
    return [f"{number}-{label[:40]!r}" for number, label in enumerate(labels)]


def uuid(seed: int = 3) -> str:
    return "-".join(body(size, HEX, seed + size) for size in (8, 4, 4, 4, 12))


def pem(kind: str, *, lines: int = 4, block: str = "") -> str:
    begin = f"-----BEGIN {kind}PRIVATE KEY{block}-----"
    rows = [body(64, WORD + "+/", seed) for seed in range(lines)]
    return "\n".join([begin, *rows, begin.replace("BEGIN", "END")])


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def jwt() -> str:
    parts = (
        b64('{"alg":"HS256","typ":"JWT"}'),
        b64('{"sub":"1234567890"}'),
        body(43, SAFE),
    )
    return ".".join(part.rstrip("=") for part in parts)


# kind, token: written from what each issuer says about its own.
TOKENS: list[tuple[str, str]] = [
    ("aws-access-key", "AK" + "IA" + body(16, UPPER)),
    ("aws-access-key", "AS" + "IA" + body(16, UPPER)),
    ("aws-bedrock-key", "AB" + "SK" + body(110) + "="),
    ("google-api-key", "AI" + "za" + body(35, SAFE)),
    ("google-oauth-token", "ya" + "29." + body(60, SAFE)),
    ("google-client-secret", "GOC" + "SPX-" + body(28, SAFE)),
    ("azure-client-secret", body(3) + "8Q" + "~" + body(34)),
    ("azure-devops-token", body(76) + "AZ" + "DO" + body(4)),
    ("alibaba-access-key", "LT" + "AI" + body(20)),
    ("digitalocean-token", "dop" + "_v1_" + body(64, HEX)),
    ("heroku-key", "HR" + "KU-" + body(60, SAFE)),
    ("cloudflare-token", "cf" + "ut_" + body(40) + body(8, HEX)),
    ("cloudflare-origin-key", "v1" + ".0-" + body(24, HEX) + "-" + body(146, HEX)),
    ("fly-token", "fm" + "2_" + body(120, WORD + "+/")),
    ("netlify-token", "nf" + "p_" + body(36)),
    ("supabase-token", "sb" + "p_" + body(40, HEX)),
    ("supabase-key", "sb_" + "secret_" + body(31, SAFE)),
    ("planetscale-token", "pscale" + "_tkn_" + body(43, SAFE)),
    ("vault-token", "hv" + "s." + body(90, SAFE)),
    ("terraform-token", body(14) + ".atlas" + "v1." + body(67, SAFE)),
    ("doppler-token", "dp" + ".pt." + body(43)),
    ("pulumi-token", "pu" + "l-" + body(40, HEX)),
    ("tailscale-key", "ts" + "key-auth-" + body(12) + "CNTRL-" + body(32)),
    ("databricks-token", "da" + "pi" + body(32, HEX)),
    ("onepassword-token", "ops" + "_eyJ" + body(260)),
    ("age-key", "AGE-SECRET" + "-KEY-1" + body(58, _LOWER.upper() + _DIGITS)),
    ("dynatrace-token", "dt0" + "c01." + body(24, UPPER) + "." + body(64, UPPER)),
    ("checkrail-agent-key", "cr" + "k_" + body(43, SAFE)),
    ("checkrail-token", "cr" + "t_" + body(43, SAFE)),
    ("github-token", "gh" + "p_" + body(36)),
    ("github-token", "gh" + "o_" + body(36)),
    ("github-token", "gh" + "s_" + body(36)),
    ("github-token", "git" + "hub_pat_" + body(22) + "_" + body(59)),
    ("gitlab-token", "gl" + "pat-" + body(20, SAFE)),
    ("gitlab-token", "gl" + "rt-" + body(20, SAFE)),
    ("gitlab-runner-token", "GR13" + "48941" + body(20, SAFE)),
    ("bitbucket-token", "AT" + "BB" + body(32)),
    (
        "atlassian-token",
        "ATA" + "TT3xFfGF0" + body(177, SAFE) + "=" + body(8, HEX).upper(),
    ),
    ("npm-token", "np" + "m_" + body(36)),
    ("pypi-token", "py" + "pi-AgEIcHlwaS5vcmc" + body(120, SAFE)),
    ("rubygems-key", "ruby" + "gems_" + body(48, HEX)),
    ("crates-token", "ci" + "o" + body(32)),
    ("docker-token", "dck" + "r_pat_" + body(27, SAFE)),
    ("artifactory-key", "AK" + "Cp" + body(69)),
    ("circleci-token", "CCI" + "PAT_" + body(22) + "_" + body(40, HEX)),
    ("buildkite-token", "bk" + "ua_" + body(40, HEX)),
    ("sonar-token", "sq" + "u_" + body(40, HEX)),
    ("sourcegraph-token", "sg" + "p_" + body(40, HEX)),
    ("postman-key", "PM" + "AK-" + body(24, HEX) + "-" + body(34, HEX)),
    ("linear-key", "lin" + "_api_" + body(40)),
    ("notion-token", "nt" + "n_" + body(46)),
    ("notion-token", "sec" + "ret_" + body(43)),
    ("figma-token", "fi" + "gd_" + body(40, SAFE)),
    ("airtable-token", "pa" + "t" + body(14) + "." + body(64, HEX)),
    ("asana-token", "1/" + body(16, _DIGITS) + ":" + body(32, HEX)),
    ("openai-key", "s" + "k-" + body(20) + "T3BlbkFJ" + body(20)),
    ("openai-key", "s" + "k-proj-" + body(150, SAFE)),
    ("anthropic-key", "s" + "k-ant-api03-" + body(93, SAFE) + "AA"),
    ("openrouter-key", "s" + "k-or-v1-" + body(64, HEX)),
    ("hugging-face-token", "h" + "f_" + body(34)),
    ("replicate-token", "r" + "8_" + body(37)),
    ("groq-key", "gs" + "k_" + body(52)),
    ("perplexity-key", "pp" + "lx-" + body(48)),
    ("xai-key", "xa" + "i-" + body(80)),
    ("nvidia-key", "nv" + "api-" + body(64, SAFE)),
    ("langsmith-key", "lsv" + "2_pt_" + body(32, HEX) + "_" + body(10, HEX)),
    ("stripe-key", "sk" + "_live_" + body(24)),
    ("stripe-key", "rk" + "_test_" + body(99)),
    ("webhook-secret", "wh" + "sec_" + body(32)),
    ("shopify-token", "shp" + "at_" + body(32, HEX)),
    ("square-token", "sq0" + "atp-" + body(22, SAFE)),
    ("shippo-token", "ship" + "po_live_" + body(40, HEX)),
    (
        "slack-token",
        "xo" + "xb-" + body(12, _DIGITS) + "-" + body(12, _DIGITS) + "-" + body(24),
    ),
    (
        "slack-token",
        "xa" + "pp-1-A" + body(10) + "-" + body(13, _DIGITS) + "-" + body(64, HEX),
    ),
    ("telegram-token", body(10, "123456789") + ":A" + "A" + body(33, SAFE)),
    ("discord-token", "M" + body(25) + "." + body(6) + "." + body(38, SAFE)),
    ("twilio-key", "S" + "K" + body(32, HEX)),
    ("sendgrid-key", "S" + "G." + body(22, SAFE) + "." + body(43, SAFE)),
    ("mailgun-key", "ke" + "y-" + body(32, HEX)),
    ("mailchimp-key", body(32, HEX) + "-u" + "s21"),
    ("brevo-key", "xkey" + "sib-" + body(64, HEX) + "-" + body(16)),
    ("facebook-token", "EA" + "AC" + body(150)),
    ("hubspot-token", "pa" + "t-na1-" + uuid()),
    ("sentry-token", "sn" + "trys_eyJ" + body(120)),
    ("sentry-token", "sn" + "tryu_" + body(64, HEX)),
    ("newrelic-key", "NR" + "AK-" + body(27, _LOWER.upper() + _DIGITS)),
    ("grafana-token", "gl" + "sa_" + body(32) + "_" + body(8, HEX)),
    ("posthog-key", "ph" + "x_" + body(43)),
    ("launchdarkly-key", "sd" + "k-" + uuid()),
    ("mapbox-token", "s" + "k.eyJ" + body(70, SAFE) + "." + body(22, SAFE)),
    ("gemini-key", "AQ." + "Ab8" + body(50, SAFE)),
    ("jina-key", "ji" + "na_" + body(60, SAFE)),
    ("llamacloud-key", "ll" + "x-" + body(48)),
    ("firecrawl-key", "f" + "c-" + body(32, HEX)),
    ("e2b-key", "e2" + "b_" + body(40, HEX)),
    ("wandb-key", "wan" + "db_v1_" + body(60, SAFE)),
    ("runpod-key", "rp" + "a_" + body(42, UPPER)),
    ("modal-secret", "a" + "s-" + body(22)),
    ("apify-token", "api" + "fy_api_" + body(36)),
    ("cursor-key", "cr" + "sr_" + body(64, HEX)),
    ("context7-key", "ctx" + "7sk-" + uuid()),
    ("helicone-key", "sk-" + "helicone-" + body(40, SAFE)),
    ("mem0-key", "m" + "0-" + body(40)),
    ("aiven-password", "AV" + "NS_" + body(19, SAFE)),
    ("cockroach-key", "CC" + "DB1_" + body(22) + "_" + body(40)),
    ("confluent-secret", "cf" + "lt" + body(60, WORD + "+/")),
    ("xata-key", "xa" + "u_" + body(32)),
    ("materialize-password", "mz" + "p_" + body(64, HEX)),
    ("netbird-token", "nb" + "p_" + body(36)),
    ("bitwarden-token", "0." + uuid() + "." + body(30) + ":" + body(22) + "=="),
    ("packagist-token", "pack" + "agist_uut_" + body(68, HEX)),
    ("depot-token", "de" + "pot_" + body(60)),
    ("trello-token", "AT" + "TA" + body(72, HEX)),
    ("clickup-token", "pk" + "_1234567_" + body(32, _LOWER.upper())),
    (
        "paddle-key",
        "pd" + "l_live_apikey_" + body(26, LOWER) + "_" + body(22) + "_" + body(3),
    ),
    ("polar-token", "po" + "lar_oat_" + body(40)),
    ("mailersend-token", "ml" + "sn." + body(64, HEX)),
    ("axiom-token", "xa" + "at-" + uuid()),
    ("elastic-cloud-key", "es" + "su_" + body(60)),
    ("linkedin-secret", "WPL" + "_AP1." + body(24) + "=="),
    ("zapier-webhook", "hooks.zapier.com/hooks" + "/catch/1234567/" + body(8)),
    (
        "teams-webhook",
        "outlook.office.com" + f"/webhook/{uuid()}@{uuid(5)}/IncomingWebhook/"
        f"{body(32, HEX)}/{uuid(9)}",
    ),
    ("lark-webhook", "open.feishu.cn/open-apis" + "/bot/v2/hook/" + uuid()),
    ("jwt", jwt()),
]
