"""Tokens of code hosts, package registries and build services, and our own."""

from __future__ import annotations

from guidance.core.secrets.formats.rule import (
    HEX,
    LOWER,
    SAFE,
    UPPER,
    UUID,
    WORD,
    TokenRule,
    build_exact_rule,
    build_shape_rule,
    run,
)

RULES: tuple[TokenRule, ...] = (
    run("checkrail-agent-key", "crk_", least=32, of=SAFE),
    run("checkrail-token", "crt_", least=32, of=SAFE),
    run(
        "github-token", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", least=36, of=WORD + "_"
    ),
    run("github-token", "github_pat_", least=22, of=WORD + "_"),
    run("gitlab-token", "glpat-", "gldt-", "glrt-", "glrtr-", least=20, of=SAFE + "."),
    run(
        "gitlab-token", "glptt-", "glft-", "glsoat-", "glimt-", least=20, of=SAFE + "."
    ),
    run("gitlab-token", "glcbt-", "glagent-", "gloas-", "glffct-", least=20, of=SAFE),
    run("gitlab-runner-token", "GR1348941", least=20, of=SAFE),
    run("bitbucket-token", "ATBB", "BBDC-", least=24, of=WORD + "+/"),
    run("atlassian-token", "ATATT3", "ATCTT3", "ATSTT3", least=50, of=SAFE + "="),
    build_exact_rule("npm-token", "npm_", length=36),
    run("pypi-token", "pypi-", least=50, of=SAFE),
    run("packagist-token", "packagist_", least=60, of=SAFE),
    run("depot-token", "depot_", least=40),
    build_exact_rule("rubygems-key", "rubygems_", length=48, of=HEX),
    build_exact_rule("crates-token", "cio", length=32),
    build_exact_rule("nuget-key", "oy2", length=43, of=LOWER),
    build_exact_rule("clojars-token", "CLOJARS_", length=60, of=LOWER),
    run("docker-token", "dckr_pat_", "dckr_oat_", least=20, of=SAFE),
    build_exact_rule("artifactory-key", "AKCp", length=69),
    build_exact_rule("artifactory-token", "cmVmd", length=59),
    build_shape_rule(
        "circleci-token",
        "CCIPAT_",
        "CCIPRJ_",
        rest=f"[{WORD}]{{22}}_[{HEX}]{{20}}[{HEX}]*",
    ),
    build_exact_rule(
        "buildkite-token", "bkua_", "bkaj_", "bkct_", "bkpt_", length=40, of=HEX
    ),
    build_exact_rule("sonar-token", "squ_", "sqp_", "sqa_", length=40, of=HEX),
    build_shape_rule(
        "sourcegraph-token", "sgp_", rest=f"(?:[{WORD}]{{5,16}}_)?[{HEX}]{{40}}"
    ),
    build_shape_rule("sourcegraph-token", "slk_", rest=f"[{HEX}]{{64}}"),
    run("deno-token", "ddp_", "ddo_", "ddw_", least=36),
    run("snyk-token", "snyk_uat.", "snyk_sat.", least=40, of=SAFE + "."),
    run("semgrep-token", "sgrp_", least=40),
    build_shape_rule("octopus-key", "API-", rest=f"[{UPPER}]{{26}}"),
    build_shape_rule(
        "harness-token",
        "pat.",
        "sat.",
        rest=rf"[{SAFE}]{{22}}\.[{HEX}]{{24}}\.[{WORD}]{{20}}",
    ),
    build_shape_rule("postman-key", "PMAK-", rest=f"[{HEX}]{{24}}-[{HEX}]{{34}}"),
    build_shape_rule(
        "snowflake-token", "ver:1-hint:", rest=f"[0-9]+-[{SAFE}]{{40}}[{SAFE}]*"
    ),
    build_shape_rule(
        "plaid-token", "access-", rest=f"(?:sandbox|development|production)-{UUID}"
    ),
    build_shape_rule(
        "linear-key", "lin_", rest=f"(?:api|oauth|wh)_[{WORD}]{{32}}[{WORD}]*"
    ),
    run("trello-token", "ATTA", least=64, of=HEX + "A-F"),
    build_shape_rule("clickup-token", "pk_", rest=f"[0-9]{{6,9}}_[{UPPER}]{{32}}"),
    run("notion-token", "ntn_", least=40),
    build_exact_rule("notion-token", "secret_", length=43),
    run("figma-token", "figd_", "figo_", "figu_", "figoh_", least=36, of=SAFE),
    build_shape_rule("airtable-token", "pat", rest=rf"[{WORD}]{{14}}\.[{HEX}]{{64}}"),
    build_shape_rule(
        "asana-token", rest=f"[12]/[0-9]{{16}}(?:/[0-9]{{16}})?:[{HEX}]{{32}}"
    ),
    run("contentful-token", "CFPAT-", least=40, of=SAFE),
    run("readme-key", "rdme_", least=70, most=70, of=LOWER),
    run("typeform-token", "tfp_", least=40, of=SAFE + ".="),
    run("adafruit-key", "aio_", least=28, most=28),
    build_shape_rule("frameio-token", "fio-u-", rest=f"[{SAFE}]{{64}}"),
    build_shape_rule("duffel-token", "duffel_", rest=f"(?:test|live)_[{SAFE}]{{43}}"),
    run("dropbox-token", "sl.", least=60, of=SAFE),
)
