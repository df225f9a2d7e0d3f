"""Addresses that are a secret themselves: whoever knows one may post there."""

from __future__ import annotations

from guidance.core.secrets.formats.rule import (
    HEX,
    SAFE,
    UUID,
    WORD,
    TokenRule,
    build_shape_rule,
    run,
)

RULES: tuple[TokenRule, ...] = (
    run("slack-webhook", "hooks.slack.com/services/T", least=16, of=WORD + "/"),
    run("slack-webhook", "hooks.slack.com/workflows/T", least=16, of=WORD + "/"),
    run("slack-webhook", "hooks.slack.com/triggers/T", least=16, of=WORD + "/"),
    run("discord-webhook", "discord.com/api/webhooks/", least=60, of=SAFE + "/"),
    run("discord-webhook", "discordapp.com/api/webhooks/", least=60, of=SAFE + "/"),
    build_shape_rule(
        "teams-webhook",
        "outlook.office.com/webhook/",
        "outlook.office365.com/webhook/",
        rest=f"{UUID}@{UUID}/[A-Za-z]+/[{HEX}]{{32}}/{UUID}",
        telling=True,
    ),
    build_shape_rule(
        "teams-webhook",
        "webhook.office.com/webhookb2/",
        rest=f"{UUID}@{UUID}/[A-Za-z]+/[{HEX}]{{32}}/{UUID}(?:/[{SAFE}]+)?",
        telling=True,
    ),
    build_shape_rule(
        "zapier-webhook",
        "hooks.zapier.com/hooks/catch/",
        rest=f"[0-9]{{5,9}}/[{WORD}]{{6}}[{WORD}]*",
        telling=True,
    ),
    build_shape_rule(
        "google-chat-webhook",
        "chat.googleapis.com/v1/spaces/",
        rest=rf"[{SAFE}]+/messages\?key=[{SAFE}]{{39}}(?:&token=[{SAFE}%]+)?",
        telling=True,
    ),
    build_shape_rule(
        "lark-webhook",
        "open.feishu.cn/open-apis/bot/v2/hook/",
        "open.larksuite.com/open-apis/bot/v2/hook/",
        rest=UUID,
        telling=True,
    ),
    build_shape_rule(
        "ifttt-webhook",
        "maker.ifttt.com/trigger/",
        rest=f"[{SAFE}]+/(?:json/)?with/key/[{SAFE}]{{20}}[{SAFE}]*",
        telling=True,
    ),
)
