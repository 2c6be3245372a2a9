"""Whether a message is of now. Apart from the models, because a stored message stays readable when it is old."""

from datetime import datetime, timezone
from typing import Any, Dict, List, Optional

PAST_SECONDS = 300
FUTURE_SECONDS = 60
APART_SECONDS = 5


def check_freshness(message: Dict[str, Any], now: Optional[datetime] = None) -> List[str]:
    """Every problem with the times of a valid message: its own and, if it is signed, that of the signature."""
    at = (now or datetime.now(timezone.utc)).timestamp()
    times = {"/timestamp": _seconds(message["timestamp"])}
    if message.get("auth") is not None:
        times["/auth/timestamp"] = _seconds(message["auth"]["timestamp"])
    problems = []
    for pointer, time in times.items():
        if at - time > PAST_SECONDS:
            problems.append(f"{pointer}: must be at most {PAST_SECONDS} s old; it is {at - time:.3f} s old")
        elif time - at > FUTURE_SECONDS:
            problems.append(f"{pointer}: must be at most {FUTURE_SECONDS} s ahead; it is {time - at:.3f} s ahead")
    if len(times) == 2 and abs(times["/timestamp"] - times["/auth/timestamp"]) > APART_SECONDS:
        problems.append(f"/auth/timestamp: must be within {APART_SECONDS} s of timestamp")
    return problems


def _seconds(text: str) -> float:
    # Before 3.11, fromisoformat knows neither Z nor fractions of any length.
    whole, zone = (text[:-1], "+00:00") if text[-1] in "Zz" else (text[:-6], text[-6:])
    whole, _, fraction = whole.partition(".")
    return datetime.fromisoformat(whole.upper() + zone).timestamp() + int(fraction[:3].ljust(3, "0") or 0) / 1000
