"""Sends work back that mentions a forbidden licence; the second time a person decides."""

from sdd_overlay import Moment, Overlay, Question, Verdict, ask, fail, passed, rework

overlay = Overlay("licences", summary="No forbidden licence in what the task wrote.", order=20, options={
    "type": "object", "additionalProperties": False,
    "properties": {"forbid": {"type": "array", "items": {"type": "string"}}},
})


@overlay.after
def judge(moment: Moment, options: dict) -> Verdict:
    waiver = moment.answers.get("waive")
    if waiver is not None:
        return passed(f"waived by {waiver.by}") if waiver.value == "accept" else fail(f"{waiver.by} did not waive it")
    found = [(file.path, word) for file in moment.artifacts for word in options.get("forbid", ["GPL"]) if word in (file.content or "")]
    if not found:
        return passed()
    feedback = "; ".join(f"{path} mentions {word}" for path, word in found)
    if moment.iteration == 1:
        return rework(feedback)
    return ask(Question("waive", "human", f"{feedback}. Waive it?", choices=["accept", "reject"]))


if __name__ == "__main__":
    overlay.serve()
