/** Whether this machine has a Python at all: one that is there but broken must not pass for one that is missing. */
import { spawnSync } from 'node:child_process';

const { error } = spawnSync('python3', ['--version']);

export const hasPython: boolean = (error as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT';

if (!hasPython) console.warn('there is no python3 on this machine: tests of Python overlays are skipped');
