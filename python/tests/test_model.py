"""Moments as they are read, verdicts as they are written, hooks as they are called."""

from __future__ import annotations

import json
import unittest
from functools import partial
from pathlib import Path

from sdd_overlay import Answer, Failure, Fixer, Finding, Log, Moment, Overlay, Question, Rework, ask, fail, passed, rework
from sdd_overlay._check import problem_with
from sdd_overlay._model import verdict_to_wire
from sdd_overlay.testing import RecordedCall, answer, artifact, check, consult, failure, moment, past


class Moments(unittest.TestCase):
    def test_every_member_is_read(self) -> None:
        read = Moment.from_wire({
            "run": "r", "workflow": "w", "hook": "after", "at": "t", "attempt": 2, "iteration": 3,
            "task": {"id": "a", "agent": "dev", "description": "d", "acceptance_criteria": ["c"], "inputs": [], "outputs": ["o"]},
            "brief": {"prompt": "p"}, "output": {"text": "o"}, "diff": "+x",
            "artifacts": [{"path": "o", "sha256": "s", "bytes": 1, "content": None}],
            "checks": [{"name": "n", "kind": "lint", "required": False, "ok": False, "exit": None, "output": "", "ms": 1}],
            "constitution": {"Standards": "s"}, "failure": {"code": "C", "reason": "r"},
            "history": [{"hook": "after", "attempt": 1, "verdict": "rework", "text": "t", "record": {"n": [1]}}],
            "answers": {"q": {"by": "ann", "value": ["a list"], "at": "t", "usage": {"cost_usd": None}}},
        })
        self.assertEqual((read.task.acceptance_criteria, read.task.outputs), (("c",), ("o",)))
        self.assertEqual((read.brief, read.output, read.attempt, read.iteration), ("p", "o", 2, 3))
        self.assertIsNone(read.artifacts[0].content)
        self.assertEqual((read.checks[0].required, read.checks[0].exit), (False, None))
        self.assertEqual(read.history[0].record, {"n": [1]})
        self.assertEqual(read.answers["q"], Answer("ann", ["a list"], "t", usage={"cost_usd": None}))
        self.assertEqual(read.failure, Failure("C", "r"))

    def test_members_of_later_versions_are_left_out(self) -> None:
        read = Moment.from_wire({"later": 1, "task": {"id": "a", "later": 1}, "checks": [{"name": "n", "later": 1}]})
        self.assertEqual((read.task.id, read.checks[0].name), ("a", "n"))

    def test_cannot_be_changed(self) -> None:
        with self.assertRaises(AttributeError):
            moment().attempt = 2  # type: ignore[misc]


class Verdicts(unittest.TestCase):
    def test_say_only_what_was_said(self) -> None:
        self.assertEqual(verdict_to_wire(passed()), {"kind": "pass"})
        self.assertEqual(verdict_to_wire(passed("n", brief="b", output="o")), {"kind": "pass", "note": "n", "amend": {"brief": "b", "output": "o"}})
        self.assertEqual(verdict_to_wire(fail("r", code="C", record={"a": None})), {"kind": "fail", "reason": "r", "code": "C", "record": {"a": None}})

    def test_findings_and_fixers_are_plain(self) -> None:
        verdict = rework("f", findings=[Finding("high", "i", line=3)], fixers=[Fixer("dev", "f", files=("a",))], by="agent")
        self.assertEqual(verdict_to_wire(verdict), {
            "kind": "rework", "feedback": "f", "by": "agent",
            "findings": [{"severity": "high", "issue": "i", "line": 3}],
            "fixers": [{"agent": "dev", "feedback": "f", "files": ["a"]}],
        })
        self.assertEqual(verdict_to_wire(Rework("f", findings=[])), {"kind": "rework", "feedback": "f", "findings": []})

    def test_questions_carry_a_brief(self) -> None:
        question = Question("q", "agent:rev", "p", role="reviewer", review_id="1")
        wire = {"id": "q", "to": "agent:rev", "brief": {"prompt": "p"}, "role": "reviewer", "review_id": "1"}
        self.assertEqual(verdict_to_wire(ask(question)), {"kind": "ask", "questions": [wire]})
        self.assertEqual(verdict_to_wire({"kind": "ask", "questions": [question]}), {"kind": "ask", "questions": [wire]})

    def test_are_judged_as_the_host_judges_them(self) -> None:
        for case in json.loads((Path(__file__).parent / "verdicts.json").read_text()):
            with self.subTest(case["why"]):
                problem = problem_with(case.get("hook", "after"), case["verdict"])
                self.assertEqual(problem is None, case["ok"], problem)


class Hooks(unittest.TestCase):
    def test_take_as_much_as_they_want(self) -> None:
        overlay = Overlay("t")
        overlay.before(lambda moment: passed(moment.hook))
        overlay.after(lambda moment, options: passed(options["a"]))
        overlay.failed(lambda *all: passed(str(len(all))))
        overlay.checkpoint(lambda moment, options, call, more="d": passed(type(call).__name__ + more))
        notes = [consult(overlay, hook, moment(), {"a": "o"})["note"] for hook in ("before", "after", "failed", "checkpoint")]
        self.assertEqual(notes, ["before", "o", "3", "RecordedCalld"])

    def test_can_be_methods(self) -> None:
        class Judge:
            def judge(self, moment: Moment) -> object:
                return passed(moment.task.id)

        overlay = Overlay("t")
        overlay.after(Judge().judge)
        self.assertEqual(consult(overlay, "after", moment())["note"], "implement")

    def test_that_take_nothing_are_refused(self) -> None:
        with self.assertRaisesRegex(TypeError, "the hook after of the overlay t must take the moment"):
            Overlay("t").after(lambda: passed())

    def test_that_wait_for_the_options_by_name_are_refused_as_they_would_never_get_them(self) -> None:
        with self.assertRaisesRegex(TypeError, "the hook after of the overlay t must take moment, options and call by position"):
            Overlay("t").after(lambda moment, *, options=None: passed())
        overlay = Overlay("t")
        overlay.after(partial(lambda moment, options: passed(options), options="bound"))
        self.assertEqual(consult(overlay, "after", moment())["note"], "bound")

    def test_are_there_once(self) -> None:
        overlay = Overlay("t")
        overlay.after(lambda moment: passed())
        with self.assertRaisesRegex(ValueError, "the hook after of the overlay t has two functions"):
            overlay.after(lambda moment: passed())

    def test_and_all_else_are_in_the_handshake(self) -> None:
        overlay = Overlay("t", version="1.2.3", options={"type": "object"}, order=20, conflicts_with=("x",), agents=["rev"], watches=("infra",), log=Log("t-logs", "t_log", ("a",)))
        overlay.failed(lambda moment: passed())
        overlay.before(lambda moment: passed())
        self.assertEqual(overlay.handshake(), {
            "protocol": 1, "name": "t", "version": "1.2.3", "summary": "", "hooks": ["before", "failed"],
            "options": {"type": "object"}, "order": 20, "conflicts_with": ["x"], "agents": ["rev"], "watches": ["infra"],
            "log": {"folder": "t-logs", "name": "t_log", "members": ["a"]},
        })


class Kit(unittest.TestCase):
    def test_a_verdict_that_the_host_would_refuse_fails_the_test(self) -> None:
        overlay = Overlay("t")
        overlay.before(lambda moment: rework("no"))
        overlay.after(lambda moment: rework(""))
        with self.assertRaisesRegex(AssertionError, "the hook before takes pass, ask, fail, but not rework"):
            consult(overlay, "before", moment())
        with self.assertRaisesRegex(AssertionError, '"feedback" must be a text that says something'):
            consult(overlay, "after", moment())
        with self.assertRaisesRegex(ValueError, '"during" is not a hook; there are before, checkpoint, after, failed'):
            consult(overlay, "during", moment())
        with self.assertRaisesRegex(LookupError, "the overlay t has no hook failed"):
            consult(overlay, "failed", moment())

    def test_what_would_have_no_effect_is_refused(self) -> None:
        twice = [Question("q", "human", "a?"), Question("q", "human", "b?")]
        deep: object = 1
        for _ in range(300):
            deep = [deep]
        for hook, verdict, problem in (
            ("after", passed(brief="b"), 'an amended "brief" has no effect at after; only output has'),
            ("before", passed(output="o"), 'an amended "output" has no effect at before; only brief has'),
            ("checkpoint", passed(brief="b"), 'an amended "brief" has no effect at checkpoint; nothing can be amended there'),
            ("after", ask(Question("q", "agent:rev", "p", choices=["yes"])), '"choices" is only for questions to a person'),
            ("after", ask(Question("q", "human", "p", role="reviewer")), '"role" is only for questions to an agent'),
            ("after", ask(*twice), 'two of its questions have the id "q"'),
            ("after", ask(), '"questions" must not be empty'),
            ("after", {"kind": "pass", "record": {"deep": deep}}, "it is nested too deeply: more than 200 levels"),
        ):
            self.assertIn(problem, problem_with(hook, verdict_to_wire(verdict)) or "")

    def test_a_moment_at_failed_says_what_went_wrong(self) -> None:
        overlay = Overlay("t")
        overlay.failed(lambda moment: rework(f"{moment.failure.code}: {moment.failure.reason}"))
        failed = moment("failed", failure=Failure("AGENT_TIMEOUT", "it took too long"))
        self.assertEqual(consult(overlay, "failed", failed)["feedback"], "AGENT_TIMEOUT: it took too long")
        self.assertEqual(moment("failed", failure=failure("AGENT_EXIT")).failure, Failure("AGENT_EXIT", "it failed"))

    def test_a_call_remembers_what_it_was_told(self) -> None:
        overlay = Overlay("t")

        @overlay.after
        async def judge(moment: Moment, options: object, call: RecordedCall) -> object:
            call.log("hello")
            return passed(str(call.cancelled))

        call = RecordedCall(cancelled=False)
        self.assertEqual(consult(overlay, "after", moment(), call=call)["note"], "False")
        self.assertEqual(call.logged, ["hello"])

    def test_makes_every_part_of_a_moment(self) -> None:
        made = moment(
            artifacts=[artifact("a", "é")], checks=[check("tests", False, output="x")],
            answers={"q": answer("accept", by="ann", notes="n")}, history=[past(1, "rework", "f")],
        )
        self.assertEqual((made.artifacts[0].bytes, made.checks[0].exit, made.history[0].verdict), (2, 1, "rework"))


if __name__ == "__main__":
    unittest.main()
