import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { longer } from '../../../core/test/support/longer.ts';
import { test } from '../support/fixtures.ts';
import { startReference } from '../support/startReference.ts';
import { compare } from './compare.ts';
import { DIFFERENCES } from './differences.ts';
import { sequence } from './Op.ts';

// The same requests to this server and to LangGraph's, whose graphs are the same. What differs is a row of the table that
// people read, or a fault.

/** Sequences of requests, each to a thread of its own. */
const SEQUENCES = howMany('DEVS_DIFFERENTIAL_SEQUENCES', 20);
const AT_ONCE = 10;
/** More of them look for a run more often; ten take half a second to find one. */
const REFERENCE_WORKERS = 20;

const PAGE = new URL('../../../../docs/reference/server.md', import.meta.url);

test('sequences of requests have the answers of the reference, but for the rows of the table', {
  timeout: longer(120_000, SEQUENCES / 20),
}, async ({ dir, served, annotate, onTestFinished }) => {
  const reference = await startReference(dir, { workers: REFERENCE_WORKERS });
  onTestFinished(() => reference.stop());
  const left = fc.sample(sequence, SEQUENCES);
  const rows = new Map<string, number>();
  const unexplained: unknown[] = [];
  let alike = 0;
  const lane = async (): Promise<void> => {
    for (let ops = left.pop(); ops !== undefined; ops = left.pop()) {
      const compared = await compare(served.url, reference.url, ops);
      alike += compared.alike;
      for (const row of compared.rows) rows.set(row, (rows.get(row) ?? 0) + 1);
      if (compared.unexplained !== null) unexplained.push({ ...compared.unexplained, ops });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  await annotate(
    `${SEQUENCES} sequences, ${alike} requests alike; ${[...rows].map(([row, times]) => `${row}: ${times}`).join('; ')}`,
  );
  expect(unexplained).toEqual([]);
  // Else nothing was compared.
  expect(alike).toBeGreaterThan(SEQUENCES);
});

test('every difference is a row of the table that people read, and there are few', () => {
  expect(DIFFERENCES.length).toBeLessThanOrEqual(20);
  expect(existsSync(PAGE)).toBe(true);
  const cells = readFileSync(PAGE, 'utf8')
    .split('\n')
    .flatMap((line) => /^\| (.+?) \|/.exec(line)?.[1] ?? []);
  expect(DIFFERENCES.map(({ row }) => row).filter((row) => !cells.includes(row))).toEqual([]);
});
