"""What the servers of this code share: a limit of bodies, and clients that disconnect."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from predictor.protocol import ProtocolError, refused

T = TypeVar("T")


async def read_json(request: Request, most: int) -> object:
    """The body as JSON. What is longer than `most` bytes is not read. Raises ProtocolError, ClientDisconnect."""
    too_long = refused("too_large", f"The request is longer than {most:,} bytes.")
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > most:
        raise too_long
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise too_long
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise refused("bad_request", "The request is not JSON.") from None


async def cancel_on_disconnect(request: Request, answering: Coroutine[Any, Any, T]) -> T:
    """The answer; a client that disconnects cancels it. Raises ClientDisconnect."""
    answer = asyncio.ensure_future(answering)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise ClientDisconnect
        return answer.result()
    finally:
        answer.cancel()
        gone.cancel()
        await asyncio.gather(answer, gone, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def refusal(error: ProtocolError) -> Response:
    """An error as a response: its status, its code and message, and when to come back."""
    headers = {} if error.retry_after is None else {"Retry-After": str(math.ceil(error.retry_after))}
    return JSONResponse(error.to_dict(), status_code=error.status, headers=headers)
