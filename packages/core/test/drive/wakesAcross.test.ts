import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { describe, expect, onTestFinished } from 'vitest';
import { FileNews } from '../../src/db/FileWatch.ts';
import { ada } from '../../src/engine/__tests__/ownGraph.ts';
import { HumanInTheLoopManager } from '../../src/orchestration/hitl.ts';
import { HitlSessionStore } from '../../src/state/gates/HitlSessionStore.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { programFile } from '../support/programFile.ts';
import { tried } from '../support/tried.ts';
import { UNWATCHED } from '../support/unwatched.ts';

const WAKES = howMany('DEVS_WAKES_ACROSS', 12);
const RUNS = Math.min(20, Math.ceil(WAKES / 4));
const QUESTIONS = Math.ceil(WAKES / RUNS);
const IDS = Array.from({ length: RUNS }, (_, at) => `run-${at}`);

const program = new URL('waiter.child.ts', import.meta.url);

/** The process that waits, and all that it and the ones before it have said. */
class Waiter {
  readonly taken: string[] = [];
  readonly #argv: readonly string[];
  #process: ChildProcess;

  constructor(dbPath: string, isWatched: boolean) {
    this.#argv = [
      ...(isWatched ? [] : UNWATCHED),
      programFile(program),
      dbPath,
      String(RUNS),
      String(QUESTIONS),
    ];
    this.#process = this.#start();
    onTestFinished(() => {
      this.#process.kill('SIGKILL');
    });
  }

  #start(): ChildProcess {
    const started = spawn(process.execPath, this.#argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    started.stdout.on('data', (lines: Buffer) => this.taken.push(...lines.toString().trim().split('\n')));
    return started;
  }

  /** Decides while every thread of the process stands still, as in a laptop that sleeps, and not in the middle of a write. */
  async frozenWhile(db: Database, decide: () => void): Promise<void> {
    for (;;) {
      await this.#freeze();
      const isFree = canWrite(db);
      if (isFree) decide();
      this.#process.kill('SIGCONT');
      if (isFree) return;
      await sleep(5);
    }
  }

  async #freeze(): Promise<void> {
    const { pid } = this.#process;
    this.#process.kill('SIGSTOP');
    while (!/\) T/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) await sleep(2);
  }

  /** Decides when the process is gone; another one waits then. */
  async killedBefore(decide: () => void): Promise<void> {
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
    decide();
    this.#process = this.#start();
  }

  /** Its exit code, once all is taken. */
  async end(): Promise<number | null> {
    if (this.#process.exitCode === null) await once(this.#process, 'close');
    return this.#process.exitCode;
  }
}

/** Whether nobody is writing. */
function canWrite(db: Database): boolean {
  const usual = Number(db.pragma('busy_timeout', { simple: true }));
  db.pragma('busy_timeout = 0');
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return true;
  } catch {
    return false;
  } finally {
    db.pragma(`busy_timeout = ${usual}`);
  }
}

/** Answers every open question; returns how many. */
function answerAll(db: Database): number {
  const sessions = new HitlSessionStore(db);
  const open = IDS.flatMap((id) => sessions.listOpen(id)).filter(({ interruptId }) => interruptId !== null);
  const manager = new HumanInTheLoopManager(db);
  for (const { id, artifactHash } of open) {
    manager.decide(id, { artifactHash: artifactHash ?? '', answer: { value: true }, by: ada });
  }
  return open.length;
}

describe('decisions for runs that another process waits for', { timeout: 180_000 + WAKES * 1000 }, () => {
  test.for([
    ['that watches the file', true],
    ['that looks by the clock alone', false],
  ] as const)(
    '%s, frozen and killed in between: none is lost',
    async ([, isWatched], { db, dbPath, task }) => {
      const waiter = new Waiter(dbPath, isWatched);
      const news = new FileNews(db);
      let wakes = 0;
      const answer = (): void => {
        wakes += answerAll(db);
      };
      const whileWaiting = async (
        until: number,
        act: (decide: () => void) => Promise<void>,
      ): Promise<void> => {
        while (wakes < until) {
          answer();
          await news.next(100);
        }
        await act(answer);
      };
      await whileWaiting(WAKES / 3, (decide) => waiter.frozenWhile(db, decide));
      await whileWaiting((2 * WAKES) / 3, (decide) => waiter.killedBefore(decide));
      await whileWaiting(RUNS * QUESTIONS, async () => undefined);
      news.stop();
      expect(await waiter.end()).toBe(0);
      const asked = IDS.flatMap((id) => Array.from({ length: QUESTIONS }, (_, at) => `${id} ${at}`));
      const lost = asked.filter((each) => !waiter.taken.includes(each));
      tried(task, { ways: wakes, through: lost.length });
      expect(lost).toEqual([]);
      expect(wakes).toBe(asked.length);
    },
  );
});
