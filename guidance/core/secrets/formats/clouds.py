"""Tokens of clouds, hosting and infrastructure."""

from __future__ import annotations

from guidance.core.secrets.formats.rule import (
    BASE64,
    HEX,
    LOWER,
    SAFE,
    UPPER,
    UUID,
    TokenRule,
    build_exact_rule,
    build_shape_rule,
    run,
)

RULES: tuple[TokenRule, ...] = (
    build_exact_rule(
        "aws-access-key", "AKIA", "ASIA", "ABIA", "ACCA", length=16, of=UPPER
    ),
    run("aws-bedrock-key", "ABSK", least=100, of=BASE64 + "="),
    build_shape_rule("aws-mws-token", "amzn.mws.", rest=UUID),
    build_exact_rule("google-api-key", "AIza", length=35, of=SAFE),
    run("google-oauth-token", "ya29.", least=20, of=SAFE),
    run("google-client-secret", "GOCSPX-", least=24, of=SAFE),
    run("google-refresh-token", "1//0", least=30, of=SAFE),
    build_shape_rule(
        "azure-client-secret", rest=r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"
    ),
    build_shape_rule("azure-devops-token", rest=r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    build_shape_rule(
        "azure-function-key", rest=r"[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]=="
    ),
    build_shape_rule(
        "azure-search-key", rest=r"[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}"
    ),
    build_exact_rule("alibaba-access-key", "LTAI", length=20),
    build_exact_rule("tencent-secret-id", "AKID", length=32),
    run("yandex-token", "y0_", "AQVN", least=35, of=SAFE),
    build_exact_rule(
        "digitalocean-token", "dop_v1_", "doo_v1_", "dor_v1_", length=64, of=HEX
    ),
    run("heroku-key", "HRKU-", least=30, of=SAFE),
    build_exact_rule("cloudflare-token", "cfut_", "cfat_", "cfk_", length=48),
    build_shape_rule(
        "cloudflare-origin-key", "v1.0-", rest=f"[{HEX}]{{24}}-[{HEX}]{{20}}[{HEX}]*"
    ),
    run("fly-token", "fm1_", "fm2_", "fo1_", least=40, of=BASE64 + r"=_\-"),
    run("netlify-token", "nfp_", least=36),
    run("vercel-token", "vcp_", "vci_", "vca_", "vcr_", "vck_", least=24),
    run("vercel-blob-token", "vercel_blob_rw_", least=30, of=SAFE),
    run("render-key", "rnd_", least=24),
    run("supabase-token", "sbp_", least=40, of=HEX),
    run("supabase-key", "sb_secret_", least=22, of=SAFE),
    run("neon-key", "napi_", least=40, of=LOWER),
    run("planetscale-token", "pscale_tkn_", "pscale_pw_", least=32, of=SAFE + ".="),
    run("planetscale-token", "pscale_oauth_", least=32, of=SAFE + ".="),
    run("mongodb-service-key", "mdb_sa_sk_", least=30, of=SAFE),
    run("aiven-password", "AVNS_", least=19, of=SAFE),
    build_shape_rule(
        "cockroach-key",
        "CCDB1_",
        rest="[A-Za-z0-9]{22}_[A-Za-z0-9]{40}",
        telling=True,
    ),
    run("confluent-secret", "cflt", least=60, of=BASE64),
    run("xata-key", "xau_", least=32),
    run("materialize-password", "mzp_", least=64, of=HEX),
    run("netbird-token", "nbp_", least=36),
    build_shape_rule(
        "bitwarden-token", "0.", rest=rf"{UUID}\.[A-Za-z0-9]{{30}}:[{BASE64}]{{22}}=="
    ),
    run("vault-token", "hvs.", "hvb.", "hvr.", least=24, of=SAFE),
    build_shape_rule(
        "terraform-token",
        rest=r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{20}[A-Za-z0-9_-]*",
    ),
    run("doppler-token", "dp.pt.", "dp.ct.", "dp.sa.", "dp.scim.", least=40),
    build_shape_rule(
        "doppler-token",
        "dp.st.",
        rest=f"(?:[a-z0-9_-]+\\.)?[{LOWER}]{{20}}[A-Za-z0-9]*",
    ),
    run("pulumi-token", "pul-", least=40, of=HEX),
    build_shape_rule(
        "tailscale-key", "tskey-", rest=r"[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,32}"
    ),
    run("infracost-key", "ico-", least=32),
    run("prefect-key", "pnu_", "pnb_", least=36),
    run("databricks-token", "dapi", "dose", "dkea", least=32, most=32, of=HEX),
    run("openshift-token", "sha256~", least=43, of=SAFE),
    run("onepassword-token", "ops_eyJ", least=100, of=BASE64 + "="),
    build_shape_rule(
        "onepassword-key",
        "A3-",
        rest=f"[{UPPER}]{{6}}-[{UPPER}]{{6}}-?[{UPPER}]{{5}}(?:-[{UPPER}]{{5}}){{3}}",
    ),
    run("age-key", "AGE-SECRET-KEY-1", least=58, most=58, of=UPPER),
    run("age-key", "AGE-PLUGIN-", least=30, of=UPPER + r"\-"),
    build_shape_rule(
        "dynatrace-token",
        "dt0c01.",
        "dt0s01.",
        "dt0s02.",
        rest=f"[{UPPER}]{{24}}\\.[{UPPER}]{{20}}[{UPPER}]*",
    ),
)
