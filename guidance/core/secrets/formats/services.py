"""Tokens of payments, messages, monitoring and other services."""

from __future__ import annotations

from guidance.core.secrets.formats.rule import (
    ANYHEX,
    BASE64,
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
    # Payments and shops.
    build_shape_rule(
        "stripe-key", "sk_", "rk_", rest=f"(?:live|test|prod)_[{WORD}]{{10}}[{WORD}]*"
    ),
    run("webhook-secret", "whsec_", least=24, of=BASE64 + "="),
    build_exact_rule(
        "shopify-token", "shpat_", "shpca_", "shppa_", "shpss_", length=32, of=ANYHEX
    ),
    run("square-token", "sq0atp-", "sq0csp-", "sq0idp-", least=22, of=SAFE),
    build_exact_rule("square-token", "EAAA", length=60, of=SAFE),
    build_shape_rule(
        "paypal-token", "access_token$", rest=rf"[a-z]+\$[a-z0-9]{{16}}\$[{HEX}]{{32}}"
    ),
    build_shape_rule(
        "flutterwave-key", "FLWSECK", rest=f"(?:_TEST|_LIVE)?-[{HEX}h]{{12,32}}(?:-X)?"
    ),
    build_shape_rule("shippo-token", "shippo_", rest=f"(?:live|test)_[{HEX}]{{40}}"),
    build_exact_rule("easypost-key", "EZAK", "EZTK", length=54),
    build_shape_rule("razorpay-key", "rzp_", rest=f"(?:live|test)_[{WORD}]{{14}}"),
    run("polar-token", "polar_oat_", "polar_pat_", least=30, of=SAFE),
    build_shape_rule(
        "paddle-key",
        "pdl_",
        rest=f"(?:live|sdbx)_apikey_[{LOWER}]{{26}}_[{WORD}]{{22}}_[{WORD}]{{3}}",
        telling=True,
    ),
    # Messages and mail.
    run("slack-token", "xoxb-", "xoxp-", "xoxa-", "xoxr-", least=10, of=SAFE),
    run("slack-token", "xoxs-", "xoxo-", "xoxe-", "xoxe.xoxp-", least=10, of=SAFE),
    run("slack-token", "xoxe.xoxb-", least=10, of=SAFE),
    run("slack-token", "xoxc-", "xoxd-", "xwfp-", "xapp-", least=10, of=SAFE + "%"),
    build_shape_rule("telegram-token", rest=r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    build_shape_rule(
        "discord-token",
        rest=rf"[MNO][{SAFE}]{{23,27}}\.[{SAFE}]{{6}}\.[{SAFE}]{{27,38}}",
    ),
    build_exact_rule("twilio-key", "SK", length=32, of=HEX),
    build_shape_rule(
        "sendgrid-key", "SG.", rest=rf"[{SAFE}]{{16,24}}\.[{SAFE}]{{20}}[{SAFE}]*"
    ),
    build_exact_rule("mailgun-key", "key-", length=32, of=HEX),
    build_shape_rule("mailgun-key", rest=f"[{HEX}]{{32}}-[{HEX}]{{8}}-[{HEX}]{{8}}"),
    build_shape_rule("mailchimp-key", rest=f"[{HEX}]{{32}}-us[0-9]{{1,2}}"),
    build_shape_rule(
        "brevo-key", "xkeysib-", "xsmtpsib-", rest=f"[{HEX}]{{64}}-[{WORD}]{{16}}"
    ),
    run("mailersend-token", "mlsn.", least=60, of=HEX),
    build_shape_rule("telnyx-key", "KEY0", rest=f"[{UPPER}]{{31}}_[{WORD}]{{22}}"),
    build_shape_rule("resend-key", "re_", rest=f"[{WORD}]{{8}}_[{WORD}]{{20,28}}"),
    run("facebook-token", "EAAC", "EAAM", "EAAG", "EAAB", least=90),
    build_shape_rule(
        "twitter-token",
        "AAAAAAAAAAAAAAAAAAAAA",
        rest=f"[{WORD}]+%[{WORD}%]{{20}}[{WORD}%]*",
    ),
    build_shape_rule("hubspot-token", "pat-", rest=f"(?:na|eu|ap)[0-9]-{UUID}"),
    run("salesforce-token", "00D", least=90, of=WORD + "!._"),
    run("intercom-token", "dG9rOj", least=40, of=BASE64 + "="),
    build_shape_rule(
        "mapbox-token", "sk.eyJ", rest=rf"[{SAFE}]{{20}}[{SAFE}]*\.[{SAFE}]{{20,24}}"
    ),
    run("linkedin-secret", "WPL_AP1.", least=20, of=WORD + ".="),
    # Monitoring.
    build_shape_rule("axiom-token", "xaat-", "xapt-", rest=UUID, telling=True),
    run("honeybadger-token", "hbp_", least=36),
    run("elastic-cloud-key", "essu_", least=40, of=BASE64 + "="),
    build_shape_rule(
        "sentry-token", "sntrys_eyJ", rest=f"[{BASE64}=_\\-]{{40}}[{BASE64}=_\\-]*"
    ),
    build_exact_rule("sentry-token", "sntryu_", "sntrya_", length=64, of=HEX),
    build_exact_rule("newrelic-key", "NRAK-", "NRRA-", length=27, of=UPPER),
    run("newrelic-key", "NRJS-", "NRII-", "NRAA-", least=19, of=SAFE),
    build_shape_rule("grafana-token", "glsa_", rest=f"[{WORD}]{{32}}_[{ANYHEX}]{{8}}"),
    run("grafana-token", "glc_", least=32, of=BASE64 + "="),
    run("grafana-key", "eyJrIjoi", least=40, of=WORD + "="),
    run("posthog-key", "phx_", "phs_", least=40),
    run("honeycomb-key", "hcaik_", "hcaic_", "hcxik_", "hcxmk_", least=50),
    build_shape_rule("launchdarkly-key", "sdk-", "api-", rest=UUID),
    # Signed tokens of any service.
    build_shape_rule(
        "jwt",
        "eyJ",
        rest=rf"[{SAFE}]{{10}}[{SAFE}]*(?:\.[{SAFE}]*){{2,4}}",
    ),
)
