"""How the server behaves, declared once for file, command line and documentation."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Whole = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, le=3600)]


class ServerSettings(BaseModel):
    """Settings of the HTTP server and its pages.

    >>> ServerSettings(title="Daily Example", public=True).caption
    'people reading now'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = Field(default="Hubbub", max_length=80, description="The site's name, at the top of every page.")
    caption: str = Field(default="people reading now", max_length=80, description="What the sum over all keys counts.")
    noun: str = Field(default="pages", max_length=40, description="What the keys are, in the plural.")
    public: bool = Field(
        default=False,
        strict=True,
        description="Let anyone read releases and pages. Sending events always needs a token.",
    )
    stream: str | None = Field(
        default=None, description="The stream that the pages show first; default: the oldest one."
    )
    host: str = Field(default="127.0.0.1", description="The address to listen on; 0.0.0.0 means every network.")
    port: int = Field(default=8080, ge=0, le=65535, description="The port to listen on; 0 takes a free one.")
    rows: Whole = Field(default=50, description="How many keys the pages and live events show, the largest first.")
    history: Whole = Field(default=1440, description="How many recent ticks are kept in memory for the pages.")
    max_body: Whole = Field(default=8 * 2**20, description="The largest body of an ingest request, in bytes.")
    max_uploads: Whole = Field(
        default=8, description="How many of the largest bodies fit into memory together; smaller ones by their size."
    )
    max_viewers: Whole = Field(
        default=2000, description="How many live connections are held at the same time; never all of `max_connections`."
    )
    max_connections: int | None = Field(
        default=None,
        ge=1,
        description="How many connections are held at the same time; default: what the limit of open files leaves.",
    )
    head_seconds: Seconds = Field(default=10.0, description="How long the head of a request may take.")
    body_seconds: Seconds = Field(default=60.0, description="How long the body of a request may take.")
    min_rate: float = Field(
        default=1024.0, ge=0, allow_inf_nan=False, description="Bytes a second that a body must bring, an answer take."
    )
    pace_seconds: Seconds = Field(default=5.0, description="Over what span a body's bytes per second are measured.")
    idle_seconds: Seconds = Field(default=30.0, description="How long a connection is kept between two requests.")
    poll_seconds: float = Field(default=1.0, gt=0, le=60, description="How often the store is asked for new releases.")
    send_seconds: Seconds = Field(default=10.0, description="A viewer who reads nothing for this long is let go.")
    frame_ancestors: str = Field(
        default="'none'",
        pattern=r"^[A-Za-z0-9:/.*' -]+$",
        description="Which sites may show the pages in a frame (the CSP directive of that name).",
    )

    def for_a_map(self) -> ServerSettings:
        """With words that fit places, where nobody gave others.

        >>> ServerSettings().for_a_map().caption, ServerSettings(caption="on the road").for_a_map().caption
        ('on the map now', 'on the road')
        """
        usual = {"caption": "on the map now", "noun": "places"}
        return self.model_copy(update={name: to for name, to in usual.items() if name not in self.model_fields_set})
