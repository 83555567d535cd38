import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '@devs/core/state';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { tablesOf } from '../../../core/test/support/insides.ts';
import { programFile } from '../../../core/test/support/programFile.ts';

const CALLS = 15;
const KILLS = howMany('DEVS_DEMO_KILLS', 1);

const EXAMPLE = fileURLToPath(new URL('../../../../examples/slugify/', import.meta.url));

const dirs: string[] = [];
const program = new URL('slugify.child.ts', import.meta.url);
let reference: Outcome;

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Outcome {
  readonly tree: string;
  readonly finished: unknown;
}

function freshDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'devs-killed-'));
  dirs.push(dir);
  return dir;
}

function drive(dir: string): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const child = spawn(process.execPath, [programFile(program), dir, EXAMPLE], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text;
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...said }));
  });
  return { child, ended };
}

function callsIn(dir: string): readonly string[] {
  const log = join(dir, 'calls.log');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
}

function outcomeOf(dir: string, { stdout, stderr, code }: Ended): Outcome {
  expect(code, stderr).toBe(0);
  const gitDir = join(dir, '.devs', 'git', 'slugify.git');
  const tree = execFileSync('git', ['--git-dir', gitDir, 'rev-parse', 'HEAD^{tree}'], { encoding: 'utf8' });
  return { tree: tree.trim(), finished: JSON.parse(stdout) };
}

/** Keys of the calls whose results are committed, and whether the file is sound. */
function recordedIn(dir: string): ReadonlySet<string> {
  const db = createDatabase({ dbPath: join(dir, '.devs', 'state.sqlite') });
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  const done = tablesOf(db)
    .steps.listForThread('slugify')
    .filter(({ state }) => state === 'done');
  db.close();
  return new Set(done.map(({ threadId, lgTaskId, name }) => `${threadId}/${lgTaskId}/${name}`));
}

async function killAfter(dir: string, calls: number, delayMs: number): Promise<boolean> {
  const { child, ended } = drive(dir);
  let running = true;
  void ended.then(() => {
    running = false;
  });
  while (running && callsIn(dir).length < calls) await sleep(5);
  await sleep(delayMs);
  child.kill('SIGKILL');
  return (await ended).signal === 'SIGKILL';
}

beforeAll(async () => {
  const dir = freshDir();
  reference = outcomeOf(dir, await drive(dir).ended);
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

      expect(outcomeOf(dir, await drive(dir).ended)).toEqual(reference);
      const after = callsIn(dir);
      const repeated = after.filter((key, index) => after.indexOf(key) !== index);
      expect(repeated.filter((key) => recorded.has(key))).toEqual([]);
      expect(repeated.length).toBeLessThanOrEqual(1);
      expect(new Set(after).size).toBe(CALLS);
    },
  );
});
