"""What every table of a settings file has in common."""

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """Fixed once read; a name that it does not know is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")
