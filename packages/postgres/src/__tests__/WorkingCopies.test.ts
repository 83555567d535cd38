import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WorkingCopies } from '../held/HeldFile.ts';

let parent: string;

beforeAll(() => {
  parent = mkdtempSync(join(tmpdir(), 'devs-copies-'));
});
afterAll(() => rmSync(parent, { recursive: true }));

test('of a dead process are removed when a living one comes, and of nobody else', () => {
  const first = new WorkingCopies(parent);
  const living = basename(first.dir());
  const gone = execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).trim();
  const dead = living.replace(`-${process.pid}-`, `-${gone}-`);
  const elsewhere = dead.replace(/^devs-runs-\w{12}/, 'devs-runs-000000000000');
  for (const name of [dead, elsewhere, 'other']) mkdirSync(join(parent, name));
  writeFileSync(join(parent, dead, 'r.1.sqlite'), '');
  const second = new WorkingCopies(parent);
  expect(second.dir()).toBe(second.dir());
  expect(readdirSync(parent).sort()).toEqual([elsewhere, living, basename(second.dir()), 'other'].sort());
  first.remove();
  second.remove();
  expect(readdirSync(parent).sort()).toEqual([elsewhere, 'other'].sort());
});
