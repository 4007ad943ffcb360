"""Tokens for programs: `Authorization: Bearer askew_...`."""

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from annotation.accounts import rate_limits
from annotation.models import ApiToken, Membership, Person
from annotation.workflow.projects import hash_token

KEYWORDS = (b"bearer", b"token")


class TokenAuthentication(BaseAuthentication):
    """Finds the token by its hash: secrets are never compared byte by byte."""

    def authenticate(self, request: Request) -> tuple[Person, ApiToken] | None:
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() not in KEYWORDS:
            return None
        if len(parts) != 2:
            raise AuthenticationFailed("Send the token as: Authorization: Bearer TOKEN")
        secret = parts[1].decode("ascii", "replace")
        token = ApiToken.objects.select_related("person").filter(token_hash=hash_token(secret)).first()
        now = timezone.now()
        if (
            token is None
            or token.revoked_at is not None
            or token.expires_at <= now
            or not token.person.is_active
        ):
            raise _not_valid(request)
        memberships = Membership.objects.filter(
            person=token.person, project_id=token.project_id, removed_at__isnull=True
        )
        if not token.person.is_administrator and not memberships.exists():
            raise _not_valid(request)
        return token.person, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="askew"'


def _not_valid(request: Request) -> AuthenticationFailed:
    """What a token that is not valid is answered with; too many of them from one address are too many attempts."""
    rate_limits.count_failure(rate_limits.WRONG_TOKEN, request._request, now=timezone.now())
    return AuthenticationFailed("This token is wrong, expired or revoked. Create a new one under API tokens.")


class TokenScheme(OpenApiAuthenticationExtension):
    """How the schema describes the tokens."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
