"""The first server of a gathered stream, with its ledger, and the dashboard beside it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from hubbub.gather.leader_desk import LeaderDesk
from hubbub.gather.line import Line
from hubbub.gather.peer import PeerLine
from hubbub.gather.plan import Plan
from hubbub.gather.running import Driver
from hubbub.gather.server_keys import ServerKeys
from hubbub.monitor.gather_settings import GatherSettings
from hubbub.monitor.gathered import GatheredStream
from hubbub.monitor.list_facts import AboutLists
from hubbub.server import ServerSettings, Serving, Tls, create_app, create_gather_app
from hubbub.store import Store


class GatherLive:
    """Opens store, ledger and both servers in the right order, and closes them in the other one."""

    def __init__(self, settings: GatherSettings, say: Callable[[str], None]) -> None:
        self._settings, self._say = settings, say

    def __enter__(self) -> GatherLive:
        one, facts = self._settings, self._settings.gather
        with ExitStack() as stack:
            store = stack.enter_context(Store.open(one.store.url))
            plan, keys = Plan.load(facts.plan), ServerKeys.load(facts.keys)
            self.stream = GatheredStream(
                store, one.stream.name, plan, grant=one.asked_of(), share=one.share, method=one.method.name or "lpa",
                options=one.method.options,
            )  # fmt: skip
            stack.callback(self.stream.close)
            line = Line(facts.helper, authority=facts.authority)
            desk = LeaderDesk(
                plan, keys, facts.rounds, lambda shared: PeerLine(line, shared), book=self.stream, say=self._say,
                on_over=lambda: keys.erase(facts.keys),
            )  # fmt: skip
            stack.callback(desk.stop)
            tls = None if facts.certificate is None or facts.key is None else Tls(facts.certificate, facts.key)
            settings = ServerSettings(title="Hubbub", host=facts.host, port=facts.port)
            self._serving = Serving(create_gather_app(desk, settings=settings, tls=tls is not None), tls=tls)
            self.address, self.dashboard = self._serving.address, ""
            if one.publish is not None:
                shown = one.publish.model_copy(update={"stream": one.stream.name})
                how = "Set another `port` in the table [publish]"
                pages = stack.enter_context(Serving(create_app(store, settings=shown, items=AboutLists()), how=how))
                self.dashboard = pages.address
            stack.enter_context(Driver(desk, self._say))
            self._stack = stack.pop_all()
        return self

    def run(self) -> None:
        """Serve until told to stop."""
        self._serving.run()

    def __exit__(self, *_: object) -> None:
        self._stack.close()
