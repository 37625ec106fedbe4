"""The settings of a live stream that two servers add up: `hubbub gather live FILE`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from hubbub.errors import HubbubError
from hubbub.monitor.settings import GrantSettings, MethodSettings, PrivacySettings, StoreSettings
from hubbub.monitor.table import Table
from hubbub.privacy import Grant
from hubbub.server import ServerSettings


class GatheredName(Table):
    """What is published."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$", description="The stream's name, in addresses and the ledger."
    )


class GatherTable(Table):
    """The first of the two servers, which this program is."""

    plan: Path = Field(description="The public plan, as `hubbub gather plan` writes it.")
    keys: Path = Field(description="This server's own keys: a file that nobody else may read.")
    rounds: Path = Field(description="A folder for its rounds, a file each.")
    helper: str = Field(description="Where the second server is: https://name:port.")
    host: str = Field("127.0.0.1", description="The address at which clients answer.")
    port: int = Field(8083, ge=0, le=65535, description="The port at which clients answer.")
    certificate: Path | None = Field(None, description="This server's certificate (PEM), for TLS.")
    key: Path | None = Field(None, description="The certificate's key (PEM).")
    authority: Path | None = Field(None, description="Certificates to trust (PEM); left out: those of the system.")


class GatherSettings(Table):
    """The whole file."""

    stream: GatheredName
    gather: GatherTable
    privacy: PrivacySettings | None = None
    grant: GrantSettings | None = None
    method: MethodSettings = MethodSettings()
    store: StoreSettings = StoreSettings()
    publish: ServerSettings | None = None

    def asked_of(self) -> Grant | None:
        """The grant that rounds draw from; None where the stream has one of its own, as large as its plan needs."""
        if self.privacy is None:
            return None
        facts = self.grant
        if facts is None:
            return Grant(self.stream.name, self.privacy.guarantee())
        return Grant(facts.name, self.privacy.guarantee(), facts.population, facts.apart_from)

    @property
    def share(self) -> str:
        return "1" if self.grant is None else self.grant.share

    @model_validator(mode="after")
    def _fits(self) -> GatherSettings:
        if self.grant is not None and self.privacy is None:
            raise ValueError("a grant needs the table [privacy], which says what it promises")
        if self.privacy is not None and self.privacy.protect != "user":
            raise ValueError('a client answers several rounds: protect = "user", with a horizon of so many rounds')
        try:
            self.asked_of()
        except HubbubError as error:
            raise ValueError(error.message.rstrip(".")) from None
        return self
