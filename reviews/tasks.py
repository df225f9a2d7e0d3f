"""Celery tasks of reviews. Both are safe to repeat."""

from __future__ import annotations

from celery import shared_task

from reviews.rulings.expiry import abandon_silent_runs, expire_due_reviews


@shared_task
def expire_reviews() -> int:
    return expire_due_reviews()


@shared_task
def abandon_runs() -> int:
    return abandon_silent_runs()
