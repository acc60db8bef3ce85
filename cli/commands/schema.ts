/** `sdd schema`: the JSON Schema of the workflow file, with the options of every built-in overlay. */
import { EXIT } from '../../engine/errors.ts';
import { workflowSchema } from '../../engine/workflow/schema.ts';
import { builtinOverlays } from '../../overlays/index.ts';
import { asJson, type Terminal } from '../terminal.ts';

export function schema(terminal: Terminal): number {
	terminal.out(asJson(workflowSchema(builtinOverlays)));
	return EXIT.done;
}
