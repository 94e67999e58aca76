"""The labelling page of a session."""

from __future__ import annotations

import atexit
import html
import weakref
import webbrowser
from pathlib import Path

from ._dial import Engine
from ._errors import InputError


class Page:
    """The labelling page in a browser, served by this process until :meth:`stop`.

    ``with session.serve() as page: ...`` stops it at the end. The session can be used meanwhile: it knows what is labelled on
    the page, and the page shows the labels told here.
    """

    def __init__(self, engine: Engine, url: str, browser: bool) -> None:
        self._engine = engine
        #: A link that signs in one browser, once and for 15 minutes; see :meth:`link` for another.
        self.url = url
        _pages.add(self)
        if browser:
            # Everybody on the machine can read the arguments of a browser: they name a file of ours, and no link.
            webbrowser.open(Path(engine.launch_file()).as_uri())

    def link(self) -> str:
        """Another link, for another browser."""
        if not self._engine.place()[1]:
            raise InputError("the page was stopped. Open it again: session.serve().", "U1", "usage")
        return self._engine.serve(0)

    def stop(self) -> None:
        """Ends the page. Everything that was saved stays saved."""
        self._engine.stop_serving()
        _pages.discard(self)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Page({self.url!r})"

    def _repr_html_(self) -> str:
        url = html.escape(self.url, quote=True)
        return f'<a href="{url}" target="_blank">Open the labelling page</a> (the link is good once, for 15 minutes)'


_pages: weakref.WeakSet[Page] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    for page in list(_pages):
        try:
            page.stop()
        except Exception:
            # The process ends anyway, and what was saved is safe.
            pass
