import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, StepStore } from '@devs/core/state';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Finished, spawnTs, type TsProcess } from '../../../core/test/support/spawnTs.ts';

const CALLS = 15;
const KILLS = 10;

const dirs: string[] = [];
let reference: Outcome;

interface Outcome {
  readonly tree: string;
  readonly finished: unknown;
}

function freshDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'devs-killed-'));
  dirs.push(dir);
  return dir;
}

const drive = (dir: string): TsProcess => spawnTs('packages/agents/test/crash/slugify.child.ts', [dir]);

function callsIn(dir: string): readonly string[] {
  const log = join(dir, 'calls.log');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
}

function outcomeOf(dir: string, { stdout, stderr, code }: Finished): Outcome {
  expect(code, stderr).toBe(0);
  const gitDir = join(dir, '.devs', 'git', 'slugify.git');
  const tree = execFileSync('git', ['--git-dir', gitDir, 'rev-parse', 'HEAD^{tree}'], { encoding: 'utf8' });
  return { tree: tree.trim(), finished: JSON.parse(stdout) };
}

/** Keys of the calls whose results are committed, and whether the file is sound. */
function recordedIn(dir: string): ReadonlySet<string> {
  const db = createDatabase({ dbPath: join(dir, '.devs', 'state.sqlite') });
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  const done = new StepStore(db).listForThread('slugify').filter(({ state }) => state === 'done');
  db.close();
  return new Set(done.map(({ threadId, lgTaskId, name }) => `${threadId}/${lgTaskId}/${name}`));
}

async function killAfter(dir: string, calls: number, delayMs: number): Promise<boolean> {
  const { child, finished } = drive(dir);
  let running = true;
  void finished.then(() => {
    running = false;
  });
  while (running && callsIn(dir).length < calls) await sleep(5);
  await sleep(delayMs);
  child.kill('SIGKILL');
  return (await finished).signal === 'SIGKILL';
}

beforeAll(async () => {
  const dir = freshDir();
  reference = outcomeOf(dir, await drive(dir).finished);
}, 120_000);

afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

describe('the demo, killed with -9 and driven again', () => {
  test('ends with three commits when nobody kills it', () => {
    expect(reference.finished).toMatchObject({ status: 'completed', commits: { length: 3 } });
  });

  const points = Array.from({ length: KILLS }, (_, index) => ({
    calls: 1 + Math.floor(((index + Math.random()) * CALLS) / KILLS),
    delayMs: Math.floor(Math.random() * 300),
  }));

  test.concurrent.for(points)(
    'after call $calls and $delayMs ms',
    { timeout: 120_000 },
    async ({ calls, delayMs }) => {
      const dir = freshDir();
      const killed = await killAfter(dir, calls, delayMs);
      const recorded = recordedIn(dir);
      const before = callsIn(dir);
      if (killed)
        expect(
          before.length - [...recorded].filter((key) => before.includes(key)).length,
        ).toBeLessThanOrEqual(1);

      expect(outcomeOf(dir, await drive(dir).finished)).toEqual(reference);
      const after = callsIn(dir);
      const repeated = after.filter((key, index) => after.indexOf(key) !== index);
      expect(repeated.filter((key) => recorded.has(key))).toEqual([]);
      expect(repeated.length).toBeLessThanOrEqual(1);
      expect(new Set(after).size).toBe(CALLS);
    },
  );
});
