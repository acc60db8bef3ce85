"""Write an sdd overlay in Python: a judge that is shown a moment and returns a verdict.

    from sdd_overlay import Moment, Overlay, passed, rework

    overlay = Overlay("licences", summary="No GPL in what we ship.", options={
        "type": "object", "additionalProperties": False,
        "properties": {"forbid": {"type": "array", "items": {"type": "string"}}},
    })

    @overlay.after
    def judge(moment: Moment, options: dict):
        for artifact in moment.artifacts:
            for word in options.get("forbid", ["GPL"]):
                if word in (artifact.content or ""):
                    return rework(f"{artifact.path} mentions {word}")
        return passed()

    if __name__ == "__main__":
        overlay.serve()

Only the standard library is used; Python 3.9 or later.
"""

import sys

if sys.version_info < (3, 9):  # Before anything is imported that an older one cannot read.
    sys.exit(
        "%s is Python %d.%d; overlays need 3.9 or newer: install one, or name it with `python:` in .ai-sdd/ai-sdd.yaml"
        % ((sys.executable,) + sys.version_info[:2])
    )

from ._model import (
    Answer,
    Artifact,
    Ask,
    Check,
    Fail,
    Failure,
    Finding,
    Fixer,
    Moment,
    Pass,
    Past,
    Question,
    Rework,
    Task,
    Verdict,
    ask,
    fail,
    passed,
    rework,
)
from ._overlay import Call, Cancelled, Log, Overlay

__all__ = [
    "Answer",
    "Artifact",
    "Ask",
    "Call",
    "Cancelled",
    "Check",
    "Fail",
    "Failure",
    "Finding",
    "Fixer",
    "Log",
    "Moment",
    "Overlay",
    "Pass",
    "Past",
    "Question",
    "Rework",
    "Task",
    "Verdict",
    "ask",
    "fail",
    "passed",
    "rework",
]

__version__ = "1.0.0"
