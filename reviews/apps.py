"""Django's handle on this app."""

from __future__ import annotations

from django.apps import AppConfig

from common.append_only import register_append_only


class ReviewsConfig(AppConfig):
    name = "reviews"

    def ready(self) -> None:
        # Needs the models, which are loaded by now and not before.
        from accounts.models import register_store_of_hashes
        from ledger.verification.project import register_preparation
        from ledger.verification.row_checks import register_comparison
        from ledger.writer.halts import register_mover
        from reviews.administration.chain import record_known
        from reviews.administration.own.sign_ins import store_stronger_hash
        from reviews.halts.deadlines import find_move
        from reviews.halts.row_checks import compare_halts, move_expected
        from reviews.models import Kind
        from reviews.plan import register_closed_hook
        from reviews.policies.chain import ensure_chain
        from reviews.policies.row_checks import compare_policies
        from reviews.policies.second_manager import load_activation_endings
        from reviews.row_checks import compare_with_chain, register_entry_rows
        from reviews.row_checks.administration import compare_administration
        from reviews.row_checks.agent_notes import register_note_rows
        from reviews.statistics.counts import register_counts
        from reviews.transitions import register_entry_types

        register_entry_types()
        register_counts()
        register_note_rows()
        register_append_only("reviews_ruling", ("id",), ("code",), ("review_id",))
        register_append_only(
            "reviews_reviewapproval", ("id",), ("review_id", "version")
        )
        register_comparison(compare_with_chain)
        register_comparison(compare_policies)
        register_comparison(compare_halts)
        register_comparison(compare_administration)
        register_preparation(record_known)
        register_preparation(ensure_chain)
        register_store_of_hashes(store_stronger_hash)
        register_mover(find_move)
        register_entry_rows("run.deadlines_moved", move_expected)
        register_closed_hook(Kind.POLICY_CHANGE, load_activation_endings)
