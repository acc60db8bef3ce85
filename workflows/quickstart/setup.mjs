/** Gives every run of the quickstart a fresh copy of the small project. */
import { cpSync, rmSync } from 'node:fs';

rmSync('.quickstart', { recursive: true, force: true });
cpSync('workflows/quickstart/project', '.quickstart', { recursive: true });
console.log('a fresh project lies in .quickstart/');
