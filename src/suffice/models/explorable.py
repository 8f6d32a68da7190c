"""Explorable: models that people can ask by clicking."""

from __future__ import annotations

from typing import Any


class Explorable:
    """A model that can be explored."""

    def explore(self, data: Any = None, *, browser: bool = True, port: int = 0, wait: bool | None = None) -> Any:
        """Serve a page on this machine on which the model is asked by clicking, and open it in the browser.

        Parameters
        ----------
        data : table, optional
            Rows to step through as evidence.
        browser : bool
            Whether to open the browser; the address is printed in any case.
        port : int
            0 for one that is free.
        wait : bool, optional
            Whether to serve until Ctrl-C, as in scripts, or in the background, as at a prompt and in notebooks.

        Returns
        -------
        Served, Shown or None
            What serves in the background, to be closed; in a notebook on another machine, an explorer for the cell.
        """
        from suffice.explore import explore

        return explore(self, data, browser=browser, port=port, wait=wait)
