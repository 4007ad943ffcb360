"""A network between two parts of the site: a line on the loopback that stalls, is cut in the middle, or forgets.

One is between people and the web server, another between application and database.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from pathlib import Path

REQUEST, ANSWER = "request", "answer"


class Line:
    """Carries bytes from its `port` to another, or to a Unix socket, until it is told to hold them or to cut.

    What is held arrives later, also where whoever sent it has gone: so does a request that was given up and sent again.
    """

    def __init__(self, to: int | Path) -> None:
        self.to = to
        self._is_hole = False
        self._generation = 0
        self._forgotten: list[asyncio.StreamWriter] = []
        self.cuts = {REQUEST: 0, ANSWER: 0}
        self.cut = {REQUEST: 0, ANSWER: 0}
        self._carried: set[asyncio.Task[None] | None] = set()
        self._loop = asyncio.new_event_loop()
        self._flows = asyncio.Event()
        self._flows.set()
        self._server = self._loop.run_until_complete(asyncio.start_server(self._carry, "127.0.0.1", 0))
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._thread = threading.Thread(target=self._loop.run_forever, name="line", daemon=True)
        self._thread.start()

    def stall(self) -> None:
        """Hold everything, in both directions, until `flow`."""
        self._loop.call_soon_threadsafe(self._flows.clear)

    def flow(self) -> None:
        """Let what was held arrive."""
        self._loop.call_soon_threadsafe(self._flows.set)

    def swallow(self) -> None:
        """Be a black hole until `remember`: connections open, and nothing arrives, not even that somebody is gone."""

        def begin() -> None:
            self._is_hole = True
            for writer in self._forgotten:  # of the last time: the server, too, finds out one day
                writer.transport.abort()
            self._forgotten.clear()

        self._loop.call_soon_threadsafe(begin)

    def remember(self) -> None:
        """Carry new connections again; those from before stay open and silent, as where a firewall has forgotten them."""

        def end() -> None:
            self._is_hole = False
            self._generation += 1

        self._loop.call_soon_threadsafe(end)

    def cut_next(self, what: str) -> None:
        """Cut a connection in the middle of the next request, or of the next answer: half of it arrives."""
        self.cuts[what] += 1

    def end(self) -> None:
        """Close the line and all that it carries."""

        async def stop() -> None:
            self._server.close()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for one in others:
                one.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            self._loop.stop()

        asyncio.run_coroutine_threadsafe(stop(), self._loop)
        self._thread.join(10)
        self._loop.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_writer, here, born = None, asyncio.current_task(), self._generation
        self._carried.add(here)  # the loop alone would not keep it
        try:
            if isinstance(self.to, Path):
                far_reader, far_writer = await asyncio.open_unix_connection(self.to)
            else:
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.to)
            await asyncio.gather(
                self._one_way(reader, far_writer, writer, REQUEST, born),
                self._one_way(far_reader, writer, far_writer, ANSWER, born),
            )
        except (OSError, asyncio.CancelledError):
            pass  # whoever called sees a connection that was closed
        finally:
            for one in (writer, far_writer):
                if one is not None:
                    one.transport.abort()
            self._carried.discard(here)

    async def _one_way(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        other: asyncio.StreamWriter,
        what: str,
        born: int,
    ) -> None:
        while True:
            data = await reader.read(65_536)
            if self._is_hole or born != self._generation:
                self._forgotten += [writer, other]
                await asyncio.Event().wait()  # for good
            if not data:
                break
            await self._flows.wait()
            cut = self.cuts[what] > 0
            if cut:
                self.cuts[what] -= 1
                self.cut[what] += 1
                data = data[: len(data) // 2]
            writer.write(data)
            await writer.drain()
            if cut:
                await asyncio.sleep(0.01)  # so that the half that was sent is on its way
                raise ConnectionResetError("cut")
        with suppress(OSError):
            # A person who has closed their side is gone; a server that has is done.
            (writer.write_eof if what == REQUEST else writer.close)()
