"""Tokens of models, and of what agents use beside them."""

from __future__ import annotations

from guidance.core.secrets.formats.rule import (
    HEX,
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
    run("openai-key", "sk-", least=20),
    run("openai-key", "sk-proj-", "sk-svcacct-", "sk-admin-", least=20, of=SAFE),
    run("anthropic-key", "sk-ant-", least=20, of=SAFE),
    run("openrouter-key", "sk-or-", least=20, of=SAFE),
    build_shape_rule("langfuse-key", "sk-lf-", rest=UUID),
    run("hugging-face-token", "hf_", "api_org_", least=30),
    run("replicate-token", "r8_", least=37),
    run("groq-key", "gsk_", least=40),
    run("perplexity-key", "pplx-", least=40),
    run("xai-key", "xai-", least=60),
    run("nvidia-key", "nvapi-", least=40, of=SAFE),
    run("pinecone-key", "pcsk_", least=40, of=WORD + "_"),
    run("cerebras-key", "csk-", least=40),
    run("together-key", "tgp_v1_", least=30, of=SAFE),
    run("tavily-key", "tvly-", least=24, of=SAFE),
    run("fireworks-key", "fw_", least=22, most=24),
    build_shape_rule(
        "langsmith-key", "lsv2_", rest=f"(?:pt|sk)_[{HEX}]{{32}}_[{HEX}]{{10}}"
    ),
    build_exact_rule("elevenlabs-key", "sk_", length=48, of=HEX),
    run("openai-key", "sk-None-", "sk-service-", "sess-", least=40, of=SAFE),
    run("helicone-key", "sk-helicone-", least=20, of=SAFE),
    run("gemini-key", "AQ.Ab8", least=40, of=SAFE),
    run("jina-key", "jina_", least=50, of=SAFE),
    run("llamacloud-key", "llx-", least=40),
    build_exact_rule("firecrawl-key", "fc-", length=32, of=HEX),
    build_exact_rule("e2b-key", "e2b_", length=40, of=HEX),
    run("wandb-key", "wandb_v1_", least=40, of=SAFE),
    run("voyage-key", "pa-", least=43, most=43, of=SAFE),
    run("runpod-key", "rpa_", least=34, of=UPPER + "a-z"),
    build_exact_rule("modal-secret", "as-", length=22),
    run("apify-token", "apify_api_", least=30),
    run("anyscale-secret", "esecret_", least=20, of=SAFE),
    build_exact_rule("cursor-key", "crsr_", "key_", length=64, of=HEX),
    build_shape_rule("context7-key", "ctx7sk-", rest=UUID, telling=True),
    run("browserbase-key", "bb_live_", least=24, of=SAFE),
    run("mem0-key", "m0-", least=40, most=40),
)
