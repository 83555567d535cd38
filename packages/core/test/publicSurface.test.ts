import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../src/errors/DevsError.ts';

// Pins what users can depend on. A change here is a change of the public surface: it needs a line in CHANGELOG.md.
// `vitest run publicSurface -u` accepts a change that is meant.

const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const namesOf = async (module: Promise<object>): Promise<readonly string[]> =>
  Object.keys(await module).sort((a, b) => (a < b ? -1 : 1));

/** The keys of the event map; it is a type, so they are read from its source. */
function eventNames(): readonly string[] {
  const source = readFileSync(new URL('../src/events/events.ts', import.meta.url), 'utf8');
  const map = /export interface OrchestratorEvents \{([\s\S]*?)\n\}/.exec(source)?.[1] ?? '';
  return [...map.matchAll(/^ {2}([A-Z_]+):/gm)].flatMap(([, name]) => name ?? []).sort();
}

describe('the public surface', () => {
  test('has these entry points', () => {
    expect(Object.keys((manifest as { exports: object }).exports)).toMatchInlineSnapshot();
  });

  test('@devs/core exports these values', async () => {
    expect(await namesOf(import('../src/index.ts'))).toMatchInlineSnapshot();
  });

  test('@devs/core/langgraph exports these values', async () => {
    expect(await namesOf(import('../src/langgraph.ts'))).toMatchInlineSnapshot();
  });

  test('@devs/core/state exports these values', async () => {
    expect(await namesOf(import('../src/state.ts'))).toMatchInlineSnapshot();
  });

  test('@devs/core/testing exports these values', async () => {
    expect(await namesOf(import('../src/testing/index.ts'))).toMatchInlineSnapshot();
  });

  test('errors carry one of these codes', () => {
    expect([...ERROR_CODES]).toEqual([...ERROR_CODES].sort());
    expect(ERROR_CODES).toMatchInlineSnapshot();
  });

  test('events carry one of these names', () => {
    expect(eventNames()).toMatchInlineSnapshot();
  });
});
