import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withScratch } from '../scratch.ts';

/** Folders in one another, twice as deep as a path may be long; each is entered to make the next. */
const DEEP = `
  const { mkdirSync, writeFileSync } = require('node:fs');
  const name = 'x'.repeat(90);
  for (let n = 0; n < 100; n += 1) {
    mkdirSync(name);
    process.chdir(name);
  }
  writeFileSync('file', '');`;

test('a command that leaves a path longer than the system allows blocks nothing, and is cleaned up after', async () => {
  let left = '';
  const result = await withScratch('devs-scratch-', async ({ dir, home, temporary }) => {
    left = dir;
    for (const cwd of [home, temporary]) execFileSync(process.execPath, ['-e', DEEP], { cwd });
    return 'done';
  });
  expect(result).toBe('done');
  expect(existsSync(left)).toBe(false);
});

test('what became of a command is told, whatever becomes of its folders', async () => {
  const failing = withScratch('devs-scratch-', async () => {
    throw new Error('the command failed');
  });
  await expect(failing).rejects.toThrow('the command failed');
});
