import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { otherWriter } from '../support/otherWriter.ts';
import { programFile } from '../support/programFile.ts';

const child = programFile(new URL('manyDrivers.child.ts', import.meta.url));
const PROCESSES = howMany('DEVS_DRIVERS', 4);
const RUNS = howMany('DEVS_DRIVER_RUNS', 2);

/** What another writer takes the file for, ms, again and again: several of the engine's native waits. */
const HELD_MS = 700;

async function driven(argv: readonly string[]): Promise<readonly string[]> {
  const process_ = spawn(process.execPath, [child, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [said, errors] = await Promise.all([
    text(process_.stdout),
    text(process_.stderr),
    once(process_, 'close'),
  ]);
  return errors === '' ? (JSON.parse(said) as readonly string[]) : [errors];
}

test('many processes that drive runs over one file wait for each other: none fails, and no call is made twice', {
  timeout: 1_800_000,
}, async ({ dbPath }) => {
  createDatabase({ dbPath }).close();
  const effects = join(dirname(dbPath), 'effects.log');
  const { hold } = otherWriter(dbPath);
  const names = Array.from({ length: PROCESSES }, (_, at) => `p${at}`);
  const all = Promise.all(names.map((name) => driven([dbPath, effects, name, String(RUNS)])));
  const hog = setInterval(() => hold(HELD_MS), 3 * HELD_MS);
  const errors = await all.finally(() => clearInterval(hog));
  expect(errors.flat()).toEqual([]);
  const lines = readFileSync(effects, 'utf8').trim().split('\n');
  expect(new Set(lines).size).toBe(lines.length);
  expect(lines).toHaveLength(PROCESSES * RUNS * 10);
});
