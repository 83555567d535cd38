import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADA, DIAMOND, git, openProject, start, statuses } from './rewoundRun.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-rewind-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

const files = (): readonly string[] =>
  readdirSync(join(dir, '.devs-work', 'r'))
    .filter((name) => name.endsWith('.txt'))
    .sort();
const textOf = (name: string): string => readFileSync(join(dir, '.devs-work', 'r', name), 'utf8');

describe('a run that is set back to the end of a task', () => {
  it('undoes what depends on it, keeps the rest, and is driven to its end again', async () => {
    const asked = new Map<string, number>();
    const devs = await openProject({ dir, shape: DIAMOND }, asked);
    const run = await start(devs);
    expect((await run.resume()).status).toBe('completed');
    const before = git(dir, 'rev-parse', 'devs/r');

    const rewound = await run.rewind('T1', { by: ADA, reason: 'b is wrong' });
    expect(rewound).toMatchObject({
      target: { label: 'T1' },
      undone: [{ name: 'b' }, { name: 'd' }],
      kept: null,
    });
    expect(await statuses(run)).toEqual({ a: 'completed', b: 'pending', c: 'completed', d: 'pending' });
    expect(files()).toEqual(['a.txt', 'c.txt']);
    expect(git(dir, 'rev-parse', 'devs/r~1')).toBe(before);
    expect(git(dir, 'status', '--porcelain')).toBe('');

    const costBefore = (await run.status()).cost;
    expect(await run.resume()).toMatchObject({ status: 'completed', reason: null });
    expect(Object.fromEntries(asked)).toEqual({ a: 1, b: 2, c: 1, d: 2 });
    expect([textOf('a.txt'), textOf('b.txt'), textOf('d.txt')]).toEqual(['a 1\n', 'b 2\n', 'd 2\n']);
    expect((await run.status()).cost.calls).toBe(costBefore.calls + 2);
    devs.close();
  });
});
