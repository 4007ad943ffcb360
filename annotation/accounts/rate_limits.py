"""How often a person may try: passwords, links, tokens, and the way in for a crowd.

Every limit is a bucket that leaks (the generic cell rate algorithm of ITU-T I.371): some attempts at once, then one in
each interval. Buckets are rows of the database, changed in one statement each, so that they hold over any number of
processes and machines. They are named by keyed hashes: the table holds no names, no e-mail addresses and no addresses.

Accounts are not locked. Guesses of a password are refused for that account and address; at other addresses the
account stays open, and a whole laboratory behind one address has a bucket so large that only a machine fills it. Sign-ins
that succeed cost nothing. A link or a token that is right always works: it is too long to be guessed at any rate.
"""

import ipaddress
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import DateTimeField, F, Value
from django.db.models.functions import Greatest
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, ngettext

from annotation.models import Attempts
from annotation.platform.refusals import ActionRefused


@dataclass(frozen=True)
class Limit:
    """`at_once` attempts at once, and one more in each interval."""

    name: str
    at_once: int
    then_every: timedelta


def _limit(name: str, at_once: int, seconds: int) -> Limit:
    return Limit(name, at_once, timedelta(seconds=seconds))


SIGN_IN_HERE: Final = _limit("signing in to one account from one address", 10, 60)
SIGN_IN_ACCOUNT: Final = _limit("signing in to one account from new addresses", 100, 30)
SIGN_IN_ADDRESS: Final = _limit("signing in to any account from one address", 100, 3)
OWN_PASSWORD: Final = _limit("saying one's own password again", 10, 60)
RESET_ACCOUNT: Final = _limit("asking for a new password for one e-mail address", 3, 1200)
RESET_ADDRESS: Final = _limit("asking for new passwords from one address", 30, 60)
WRONG_LINK: Final = _limit("links that do not work, from one address", 30, 10)
WRONG_TOKEN: Final = _limit("tokens that are not valid, from one address", 60, 5)
REGISTER: Final = _limit("making an account by one invitation", 20, 60)
CROWD_ENTRY: Final = _limit("coming in by one crowd link from one address", 60, 10)

KNOWN_FOR = timedelta(days=90)
"""How long an address from which a person signed in is no new one: attempts from elsewhere do not count there."""
CLEARED = 500
"""Rows that say nothing any more, cleared away at a time."""

# -- who asks ---------------------------------------------------------------------------------------


def address_of(request: HttpRequest) -> str:
    """The network that a request comes from, "" if unknown.

    Behind a proxy that is trusted it is the last word of X-Forwarded-For: the proxy's own; what is before it came from
    outside. Of IPv6 it is the /64, which is what one household or machine has. A loopback address is a proxy's that is not
    trusted, or this machine: it identifies no person.
    """
    client_address = request.META.get("REMOTE_ADDR", "")
    if settings.TRUST_PROXY:
        client_address = (
            request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip() or client_address
        )
    try:
        address = ipaddress.ip_address(client_address.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or address
    if address.is_loopback:
        return ""
    if address.version == 6:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


# -- what is counted --------------------------------------------------------------------------------


def begin_sign_in(*, account: str, address: str, now: datetime) -> Callable[[], None]:
    """Count an attempt to sign in. Gives what to call when it succeeded. Raises ActionRefused (too_many_attempts)."""
    account = account.strip().lower()[:254]
    known_key = _key("known", account, address)
    counted: list[tuple[Limit, tuple[str, ...]]] = [(SIGN_IN_HERE, (account, address))]
    if address:
        counted.append((SIGN_IN_ADDRESS, (address,)))
    if not Attempts.objects.filter(key=known_key, free_at__gt=now).exists():
        counted.append((SIGN_IN_ACCOUNT, (account,)))
    for index, (limit, whose) in enumerate(counted):
        try:
            count_attempt(limit, *whose, now=now)
        except ActionRefused:
            for counted_limit, of in counted[:index]:
                refund_attempt(counted_limit, *of)
            raise

    def record_success() -> None:
        for counted_limit, of in counted[1:]:
            refund_attempt(counted_limit, *of)
        Attempts.objects.filter(key=_key(SIGN_IN_HERE.name, account, address)).delete()
        if address:
            Attempts.objects.update_or_create(key=known_key, defaults={"free_at": now + KNOWN_FOR})
        clear(now=now)

    return record_success


def count_attempt(limit: Limit, *whose: str, now: datetime) -> None:
    """Count an attempt. Raises ActionRefused (too_many_attempts) where the limit is used up; that attempt is not counted."""
    key = _key(limit.name, *whose)
    latest = now + (limit.at_once - 1) * limit.then_every
    for _ in range(2):
        later = Greatest(F("free_at"), Value(now, DateTimeField())) + limit.then_every
        if Attempts.objects.filter(key=key, free_at__lte=latest).update(free_at=later):
            return
        with transaction.atomic():
            attempts, new = Attempts.objects.get_or_create(
                key=key, defaults={"free_at": now + limit.then_every}
            )
        if new:
            return
        if attempts.free_at > latest:
            raise too_many(attempts.free_at - latest)
    raise too_many(limit.then_every)  # another person was quicker, twice


def refund_attempt(limit: Limit, *whose: str) -> None:
    """An attempt that was counted and is none."""
    Attempts.objects.filter(key=_key(limit.name, *whose)).update(free_at=F("free_at") - limit.then_every)


def count_failure(limit: Limit, request: HttpRequest, *, now: datetime) -> None:
    """Count a link or a token that does not work, where it can be told who asks. Raises ActionRefused
    (too_many_attempts)."""
    if address := address_of(request):
        count_attempt(limit, address, now=now)


def too_many(wait: timedelta) -> ActionRefused:
    """The refusal, with how long to wait."""
    seconds = max(1, math.ceil(wait.total_seconds()))
    message = ngettext(
        "Too many attempts. Try again in {seconds} second.",
        "Too many attempts. Try again in {seconds} seconds.",
        seconds,
    ).format(seconds=seconds)
    if seconds >= 90:
        message = gettext("Too many attempts. Try again in {minutes} minutes.").format(
            minutes=math.ceil(seconds / 60)
        )
    return ActionRefused("too_many_attempts", message, retry_after=seconds)


def clear(*, now: datetime) -> None:
    """Delete some of the rows that say nothing any more."""
    old = Attempts.objects.filter(free_at__lt=now).order_by("free_at").values_list("key", flat=True)
    Attempts.objects.filter(key__in=list(old[:CLEARED])).delete()


def _key(*parts: str) -> str:
    return salted_hmac("annotation.attempts", "\0".join(parts), algorithm="sha256").hexdigest()
