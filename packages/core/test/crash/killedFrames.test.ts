import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { programFile } from '../support/programFile.ts';
import { runByLangGraph } from '../support/runByLangGraph.ts';
import { tried } from '../support/tried.ts';
import { frameTree, TREE } from './frameTree.ts';

// Source: 9_ROADMAP-RISK-401. The stack of frames is in the state file, and in no process.

/** Kills of a driver at work; `DEVS_FRAME_SEED=42` repeats their moments. */
const KILLS = howMany('DEVS_FRAME_KILLS', 4);
const SEED = Number(process.env['DEVS_FRAME_SEED'] ?? randomInt(2 ** 31));

/** Branches that work in one super-step at most. */
const BRANCHES = 2;

interface Question {
  readonly id: string;
  readonly value: string;
}

interface Life {
  readonly process: ChildProcessWithoutNullStreams;
  readonly closed: Promise<unknown>;
  output: string;
}

const answerTo = (name: string): string => `answer for ${name}`;

function live(bundle: string, args: readonly string[]): Life {
  const started = spawn(process.execPath, [bundle, ...args]);
  const life: Life = { process: started, closed: once(started, 'close'), output: '' };
  for (const stream of [started.stdout, started.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      life.output += chunk.toString();
    });
  }
  return life;
}

/** Kills a process some time after some super-steps, or lets it end before. */
async function killAfter(
  life: Life,
  { turns, ms }: { readonly turns: number; readonly ms: number },
): Promise<boolean> {
  const hasEnded = (): boolean => life.process.exitCode !== null;
  while (!hasEnded() && life.output.split('turn').length <= turns) await sleep(1);
  await sleep(ms);
  life.process.kill('SIGKILL');
  await life.closed;
  return life.process.signalCode === 'SIGKILL';
}

function said<T>(life: Life, what: 'asked' | 'done'): T | null {
  const line = life.output.split('\n').find((text) => text.startsWith(`${what} `));
  return line === undefined ? null : (JSON.parse(line.slice(what.length)) as T);
}

/** What each life began to work on. */
function worksIn(ledger: string): ReadonlyMap<number, readonly string[]> {
  const lines = existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').filter(Boolean) : [];
  const works = new Map<number, string[]>();
  for (const line of lines) {
    const [life = '', name = ''] = line.split(' ');
    works.set(Number(life), [...(works.get(Number(life)) ?? []), name]);
  }
  return works;
}

/** A life repeats what was running when the one before was killed: siblings of one super-step, each once. */
function assertOnlyRunningWorkRepeated(ledger: string): void {
  const before = new Set<string>();
  for (const works of worksIn(ledger).values()) {
    const repeated = works.filter((name) => before.has(name));
    expect(new Set(works).size).toBe(works.length);
    expect(repeated.length).toBeLessThanOrEqual(BRANCHES);
    expect(new Set(repeated.map((name) => name.slice(0, name.lastIndexOf('.')))).size).toBeLessThanOrEqual(1);
    works.forEach(before.add, before);
  }
}

interface Files {
  readonly bundle: string;
  readonly dbPath: string;
  readonly ledger: string;
}

/** Drives one run to its end through kills; a human answers in between, one question per life. */
async function driveThroughKills(
  { bundle, dbPath, ledger }: Files,
  moments: Iterator<Parameters<typeof killAfter>[1]>,
) {
  let kills = 0;
  let answers: Record<string, string> = {};
  for (let life = 1; ; life += 1) {
    const process = live(bundle, [dbPath, ledger, String(life), JSON.stringify(answers)]);
    const moment = moments.next();
    const isKilled = moment.done !== true && (await killAfter(process, moment.value));
    await process.closed;
    answers = {};
    if (isKilled) {
      kills += 1;
      continue;
    }
    expect(process.process.exitCode, process.output).toBe(0);
    const done = said<{ readonly log: readonly string[] }>(process, 'done');
    if (done !== null) return { kills, log: done.log };
    const [question] = said<readonly Question[]>(process, 'asked') ?? [];
    answers = { [question?.id ?? '']: answerTo(question?.value ?? '') };
  }
}

const moments = fc.record({ turns: fc.nat(6), ms: fc.nat(8) });

describe(`runs of nested frames, killed ${KILLS} times`, () => {
  test('end in the state of plain recursion and repeat nothing but what was running', {
    timeout: 120_000 + KILLS * 5_000,
  }, async ({ dbPath, task }) => {
    const dir = dirname(dbPath);
    const bundle = programFile(new URL('killedFrames.child.ts', import.meta.url));
    const expected = await runByLangGraph(() =>
      frameTree({ works: () => {}, ask: answerTo }).invoke({ part: TREE }),
    );
    let kills = 0;
    for (let run = 0; kills < KILLS; run += 1) {
      const files = { bundle, dbPath: join(dir, `${run}.sqlite`), ledger: join(dir, `${run}.log`) };
      const ended = await driveThroughKills(
        files,
        fc.sample(moments, { numRuns: KILLS - kills, seed: SEED + run }).values(),
      );
      expect(ended.log, `seed ${SEED}`).toEqual(expected.log);
      kills += ended.kills;
      tried(task, { ways: kills });
      assertOnlyRunningWorkRepeated(files.ledger);
      assertOnlyRootIsLeft(files.dbPath);
    }
  });
});

function assertOnlyRootIsLeft(dbPath: string): void {
  const db = createDatabase({ dbPath });
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  const threads = db.prepare<[], { thread_id: string }>('SELECT DISTINCT thread_id FROM checkpoints').all();
  expect(threads).toEqual([{ thread_id: 'run' }]);
  db.close();
}
