/** What `sdd overlays new` writes: an overlay that works, to be changed. */

/** A Python overlay. */
export function pythonOverlay(name: string): string {
	return `"""${name}: sends work back that contains a forbidden word. Change it to what your project needs."""

from sdd_overlay import Moment, Overlay, Verdict, passed, rework

overlay = Overlay("${name}", summary="No forbidden word in what the task wrote.", version="0.1.0", options={
    "type": "object", "additionalProperties": False,
    "properties": {"forbid": {"type": "array", "items": {"type": "string"}, "default": ["FIXME"]}},
})


@overlay.after
def judge(moment: Moment, options: dict) -> Verdict:
    for artifact in moment.artifacts:
        for word in options.get("forbid", ["FIXME"]):
            if word in (artifact.content or ""):
                return rework(f"{artifact.path} contains {word}")
    return passed()


if __name__ == "__main__":
    overlay.serve()
`;
}

/** The unittest of a Python overlay. */
export function pythonTest(module: string): string {
	return `import unittest

from ${module} import overlay
from sdd_overlay.testing import artifact, consult, moment


class Test(unittest.TestCase):
    def test_clean_work_passes(self) -> None:
        verdict = consult(overlay, "after", moment(artifacts=[artifact("a.py", "done = True\\n")]))
        self.assertEqual(verdict, {"kind": "pass"})

    def test_a_forbidden_word_is_sent_back(self) -> None:
        verdict = consult(overlay, "after", moment(artifacts=[artifact("a.py", "# FIXME\\n")]))
        self.assertEqual(verdict, {"kind": "rework", "feedback": "a.py contains FIXME"})


if __name__ == "__main__":
    unittest.main()
`;
}

/** A TypeScript overlay. */
export function typescriptOverlay(name: string): string {
	return `import { defineOverlay, type Moment, type Verdict } from 'ai-sdd';

interface Options {
	readonly forbid?: readonly string[];
}

/** Sends work back that contains a forbidden word. Change it to what your project needs. */
export default defineOverlay<Options>({
	name: '${name}',
	summary: 'No forbidden word in what the task wrote.',
	version: '0.1.0',
	hooks: ['after'],
	options: {
		type: 'object',
		additionalProperties: false,
		properties: { forbid: { type: 'array', items: { type: 'string' }, default: ['FIXME'] } },
	},
	create: (options) => ({ after: (moment) => judge(moment, options.forbid ?? ['FIXME']) }),
});

function judge(moment: Moment, forbid: readonly string[]): Verdict {
	for (const { path, content } of moment.artifacts) {
		const word = forbid.find((one) => content?.includes(one));
		if (word !== undefined) return { kind: 'rework', feedback: \`\${path} contains \${word}\` };
	}
	return { kind: 'pass' };
}
`;
}
