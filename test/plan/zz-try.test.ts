import { test } from 'vitest';
import { prepare } from '/work/main/engine/plan/prepare.ts';
import { planToDisk, planFromDisk } from '/work/main/engine/plan/plan-file.ts';
import { formatDiagnostic } from '/work/main/engine/diagnostic.ts';
import { builtinOverlays } from '/work/main/overlays/index.ts';
test('x', async () => {
  const r = await prepare({ file: process.env.F ?? 'w.yaml', project: '/tmp/try', cwd: '/tmp/try', definitions: builtinOverlays, adapters: ['command','scripted'], resolveOverlay: async () => ({error: 'no'}), commandLine: {}, home: null });
  if (r.ok) { console.log(planToDisk(r.plan)); console.log(r.warnings.map(d=>formatDiagnostic(d,{color:false})).join('\n')); console.log(JSON.stringify(planFromDisk(planToDisk(r.plan)))===JSON.stringify(r.plan)); }
  else console.log(r.diagnostics.map(d=>formatDiagnostic(d,{color:false})).join('\n'));
});
