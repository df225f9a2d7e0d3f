"""Operations on a person's own profile and tokens."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from accounts.api_auth import get_person
from accounts.models import User
from common.paging import refuse_unknown_parameters
from common.responses import build_empty_response, build_json_response
from reviews.administration.own import tokens
from reviews.administration.own.profile import ProfileChange, change_profile
from reviews.administration.own.schemas import (
    NewTokenOut,
    ProfileIn,
    ProfileOut,
    StoredProfileOut,
    TokenIn,
    TokenPage,
    serialize_profile,
    serialize_token,
)

router = Router(tags=["People"])


@router.get("/me/profile", response=ProfileOut)
def get_profile(request: HttpRequest) -> HttpResponse:
    """Your name, where mail reaches you, and the time zone of your mail."""
    refuse_unknown_parameters(request.GET, ())
    user = User.objects.get(pk=get_person(request).user_id)
    return build_json_response(serialize_profile(user))


@router.put("/me/profile", response=StoredProfileOut)
def put_profile(request: HttpRequest, body: ProfileIn) -> HttpResponse:
    """Change them. A new address counts once you have opened the link that is mailed to it,
    signed in; so a token alone turns no mail away."""
    change = ProfileChange(
        name=body.name, address=body.address, time_zone=body.time_zone
    )
    stored = change_profile(by=get_person(request), change=change)
    return build_json_response(serialize_profile(stored.user, mailed=stored.mailed))


@router.get("/me/tokens", response=TokenPage)
def list_tokens(request: HttpRequest) -> HttpResponse:
    """Your own tokens that work, newest first."""
    refuse_unknown_parameters(request.GET, ())
    rows = tokens.list_tokens(user_id=get_person(request).user_id)
    return build_json_response({"items": [serialize_token(row) for row in rows]})


@router.post("/me/tokens", response={201: NewTokenOut})
def make_token(request: HttpRequest, body: TokenIn) -> HttpResponse:
    """A token with your role in each project. It is shown only here.

    A token made with a token does not outlive it: it ends with it.
    """
    token, secret = tokens.create_token(
        by=get_person(request), name=body.name, expires_at=body.expires_at
    )
    return build_json_response(serialize_token(token, token=secret), status=201)


@router.delete("/me/tokens/{token}", response={204: None})
def revoke_token(request: HttpRequest, token: str) -> HttpResponse:
    """End one of your tokens: here at once, in other processes within 5 seconds.

    Those made with it end too.
    """
    tokens.revoke_token(by=get_person(request), code=token)
    return build_empty_response()
