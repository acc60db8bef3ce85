"""``python3 -m unittest test_licences``, with ``sdd_overlay`` on the PYTHONPATH."""

import unittest

from licences import overlay
from sdd_overlay.testing import answer, artifact, consult, moment

CLEAN = artifact("a.py", "# SPDX-License-Identifier: MIT\n")
TAINTED = artifact("b.py", "# GPL-3.0\n")


class Licences(unittest.TestCase):
    def test_clean_work_passes(self) -> None:
        self.assertEqual(consult(overlay, "after", moment(artifacts=[CLEAN])), {"kind": "pass"})

    def test_a_forbidden_licence_is_sent_back(self) -> None:
        verdict = consult(overlay, "after", moment(artifacts=[CLEAN, TAINTED]))
        self.assertEqual(verdict, {"kind": "rework", "feedback": "b.py mentions GPL"})

    def test_the_options_say_what_is_forbidden(self) -> None:
        verdict = consult(overlay, "after", moment(artifacts=[CLEAN]), {"forbid": ["MIT"]})
        self.assertEqual(verdict["kind"], "rework")

    def test_the_second_time_a_person_is_asked(self) -> None:
        verdict = consult(overlay, "after", moment(artifacts=[TAINTED], iteration=2))
        self.assertEqual(verdict["questions"][0]["choices"], ["accept", "reject"])

    def test_the_person_decides(self) -> None:
        waived = moment(artifacts=[TAINTED], answers={"waive": answer("accept", by="ann")})
        self.assertEqual(consult(overlay, "after", waived), {"kind": "pass", "note": "waived by ann"})
        refused = moment(artifacts=[TAINTED], answers={"waive": answer("reject", by="ann")})
        self.assertEqual(consult(overlay, "after", refused)["kind"], "fail")


if __name__ == "__main__":
    unittest.main()
