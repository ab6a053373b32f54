"""Era: in which of a vendor's releases a name means what it means here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Era:
    """In which releases a name means what it means here."""

    since: str | None = None
    """First release; None where it was there from the start or is not recorded."""

    until: str | None = None
    """Last release in which the name was seen; None for names of the newest release that was looked at."""

    is_internal: bool = False
    """Whether the vendor uses the name inside only, and no tensor of its public interface has it."""

    successor: str | None = None
    """The later name of the same storage order."""

    @property
    def has_gone(self) -> bool:
        """Whether a program of today cannot use the name."""
        return self.until is not None or self.is_internal

    def __str__(self) -> str:
        """`since 2019, until 2020, then b_fs_yx_fsv16`; empty for a name that is in use."""
        notes = [f"since {self.since}"] * bool(self.since) + [f"until {self.until}"] * bool(self.until)
        notes += ["internal"] * self.is_internal + [f"then {self.successor}"] * bool(self.successor)
        return ", ".join(notes)
