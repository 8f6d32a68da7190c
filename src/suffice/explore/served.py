"""Served: an explorer that runs in the background; and the same page in a cell, where no browser can reach it."""

from __future__ import annotations

import html
import os
import sys
import threading
import webbrowser

from suffice.explore.answers import Answering
from suffice.explore.server import HOST, Server

REMOTE = (
    "SSH_CONNECTION",
    "JUPYTERHUB_",
    "COLAB_",
    "BINDER_",
    "KAGGLE_",
    "CODESPACES",
    "GITPOD_",
    "DATABRICKS_",
    "SAGEMAKER_",
    "REMOTE_CONTAINERS",
    "VSCODE_REMOTE",
)
"""How names of environment variables begin where the browser is on another machine."""


class Served:
    """An explorer that is served on this machine until it is closed.

    Attributes
    ----------
    url : str
        The address of the page; whoever has it can ask the model.

    Examples
    --------
    >>> import suffice as sf
    >>> from suffice.explore import explore
    >>> model = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y"], "B": ["u", "v", "v"]}).model
    >>> with explore(model, browser=False, wait=False) as served:  # doctest: +ELLIPSIS
    ...     print(served.url)
    http://127.0.0.1:.../?token=...
    >>> served
    Served(closed)
    """

    def __init__(self, answering: Answering, port: int = 0) -> None:
        self._server: Server | None = Server(answering, port)
        self.url, self.port = self._server.url, self._server.port
        self._server.start()

    def show(self) -> None:
        """Open the page in the browser, unless that is on another machine."""
        if not is_remote():
            webbrowser.open(self.url)

    def close(self) -> None:
        """Stop serving."""
        server, self._server = self._server, None
        if server is not None:
            server.end()

    def wait(self) -> None:
        """Serve until Ctrl-C."""
        try:
            while True:
                threading.Event().wait(3600)
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "Served(closed)" if self._server is None else f"Served({self.url})"

    def _repr_html_(self) -> str:
        if self._server is None:
            return "<p>The explorer is closed.</p>"
        return f'<p><a href="{html.escape(self.url)}" target="_blank" rel="noreferrer">Explore the model</a></p>'


class Shown:
    """The report of a model, whose explorer answers inside the page, for the cell of a notebook."""

    def __init__(self, page: str) -> None:
        self._page = page

    def __repr__(self) -> str:
        return "Shown(an explorer, for notebooks)"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self._page)}" sandbox="allow-scripts allow-downloads" title="Explorer" '
            'width="100%" height="900" style="border:1px solid #8884;border-radius:6px"></iframe>'
        )


def is_interactive() -> bool:
    """Whether a person types at a prompt, which must come back."""
    return "ps1" in vars(sys) or bool(sys.flags.interactive) or in_notebook()


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    found = sys.modules.get("IPython")
    shell = None if found is None else found.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def is_remote() -> bool:
    """Whether the person's browser is on another machine."""
    return any(name.startswith(REMOTE) for name in os.environ)


def forwarding(port: int) -> str:
    """Say how to reach a port of this machine from another."""
    return f"From another machine, forward the port first: ssh -L {port}:{HOST}:{port} <this machine>"
