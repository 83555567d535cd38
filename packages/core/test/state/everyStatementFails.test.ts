import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import BetterSqlite3, { type Database, type Statement } from 'better-sqlite3';
import { afterEach, describe, expect } from 'vitest';
import { type ErrorCode, isDevsError } from '../../src/errors/DevsError.ts';
import { Orchestrator } from '../../src/surface/Orchestrator.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../src/testing/index.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { transactionOfStatements } from '../support/transactionOfStatements.ts';
import { tried } from '../support/tried.ts';

/** Of the statements, one in so many; which, is another in every run. */
const EVERY = howMany('DEVS_FAULTS_EVERY', 40);
const ADA = { kind: 'human', id: 'ada' } as const;

const FAULTS: readonly (readonly [sqlite: string, code: ErrorCode])[] = [
  ['SQLITE_FULL', 'STATE_DISK_FULL'],
  ['SQLITE_IOERR_WRITE', 'STATE_IO'],
  ['SQLITE_IOERR_FSYNC', 'STATE_IO'],
  ['SQLITE_IOERR_SHMMAP', 'STATE_IO'],
  ['SQLITE_CORRUPT_INDEX', 'STATE_CORRUPT'],
  ['SQLITE_NOTADB', 'STATE_CORRUPT'],
  ['SQLITE_BUSY_SNAPSHOT', 'STATE_IO'],
  ['SQLITE_READONLY_DBMOVED', 'STATE_REPLACED'],
  ['SQLITE_CANTOPEN', 'STATE_IO'],
  ['SQLITE_NOMEM', 'STATE_IO'],
];

type Call = (this: Database, sql: string, options?: unknown) => Statement;
type Transact = (this: Database, work: () => unknown) => unknown;
type Connections = Record<'prepare' | 'exec' | 'pragma', Call> & { transaction: Transact };
const connections = BetterSqlite3.prototype as unknown as Connections;
const real = {
  prepare: connections.prepare,
  exec: connections.exec,
  pragma: connections.pragma,
  transaction: connections.transaction,
};

/** Calls `strike` before anything that any connection of this process is asked to do, with what it is. */
function beforeEachCall(strike: (call: string) => void): void {
  for (const name of ['exec', 'pragma'] as const) {
    connections[name] = function (sql, options) {
      strike(`${name} ${sql}`);
      return real[name].call(this, sql, options);
    };
  }
  connections.prepare = function (sql) {
    strike(`prepare ${sql}`);
    const statement = real.prepare.call(this, sql);
    for (const name of ['run', 'get', 'all', 'iterate'] as const) {
      const work = statement[name].bind(statement) as (...args: unknown[]) => unknown;
      const struck = (...args: unknown[]): unknown => {
        strike(`${name} ${sql}`);
        return work(...args);
      };
      Object.defineProperty(statement, name, { value: struck, configurable: true });
    }
    return statement;
  };
  connections.transaction = function (work) {
    return transactionOfStatements(this, (sql) => this.prepare(sql))(work);
  };
}

const stop = (): void => void Object.assign(connections, real);

/** Everything that people and programs do with a state file, once. */
async function useEverything(dir: string): Promise<void> {
  const workspace = new MemoryWorkspace();
  const open = () =>
    Orchestrator.open({ dir, agents: fakeAgents(), workspace, checks: scriptedChecks(), budget: { usd: 5 } });
  const within = async (work: (devs: Orchestrator) => Promise<void>): Promise<void> => {
    const devs = await open();
    try {
      await work(devs);
    } finally {
      devs.close();
    }
  };
  await within(async (devs) => {
    const run = await devs.start({ id: 'r', brief: '# B', gates: { dag: 'auto' } });
    const { gates } = await run.resume();
    for (const gate of gates) await run.decide(gate, { approved: true, by: ADA });
  });
  await within(async (devs) => {
    const run = await devs.run('r');
    await run.resume();
    await run.rewind('T2', { by: ADA });
    await run.status();
    await run.pause();
    await run.resume();
    await run.prune({ keepLast: 3 });
    await devs.list();
    await run.log();
    await devs.backup(path.join(dir, 'backup.sqlite'));
    await devs.verify();
    const other = await devs.start({ id: 'other', brief: '# C' });
    await other.cancel();
    await other.resume();
  });
}

/** The calls of one use, and how often each is made. */
async function callsOfOneUse(dir: string): Promise<ReadonlyMap<string, number>> {
  const calls = new Map<string, number>();
  beforeEachCall((call) => calls.set(call, (calls.get(call) ?? 0) + 1));
  await useEverything(dir);
  stop();
  return calls;
}

interface Injection {
  readonly call: string;
  /** Counted from 1. */
  readonly occurrence: number;
  readonly sqlite: string;
}

/** What leaves the engine when one call fails; `null` where it goes on all the same. */
async function errorOf(dir: string, { call, occurrence, sqlite }: Injection): Promise<unknown> {
  let made = 0;
  beforeEachCall((next) => {
    if (next !== call) return;
    made += 1;
    if (made !== occurrence) return;
    throw new BetterSqlite3.SqliteError('injected', sqlite);
  });
  try {
    await useEverything(dir);
    return null;
  } catch (error) {
    return error;
  } finally {
    stop();
  }
}

/** A person runs the same again, once the disk is mended. */
async function canBeUsed(dir: string): Promise<boolean> {
  const devs = await Orchestrator.open({ dir });
  for (const { id } of await devs.list()) {
    const run = await devs.run(id);
    await run.status();
    await run.log();
  }
  const run = await devs.start({ id: 'after', brief: '# B' });
  const { status } = await run.resume();
  const { ok } = await devs.verify();
  devs.close();
  return ok && status === 'waiting';
}

afterEach(stop);

describe('a statement that fails', () => {
  test(`ends in a typed error, and the file can be used after it (one statement in ${EVERY})`, {
    timeout: 600_000,
  }, async ({ annotate, dbPath, task }) => {
    const dir = path.dirname(dbPath);
    const begin = (): void => rmSync(dir, { recursive: true, force: true });
    const calls = await callsOfOneUse(dir);
    const offset = randomInt(EVERY);
    const tally = { calls: calls.size, injected: 0, typed: 0, survived: 0 };
    const wrong: string[] = [];
    for (const [index, [call, times]] of [...calls].entries()) {
      if (index % EVERY !== offset) continue;
      const [sqlite, code] = FAULTS[randomInt(FAULTS.length)] as (typeof FAULTS)[number];
      // The first time, or any other: caches and transactions differ.
      const occurrence = index % 2 === 0 ? 1 : 1 + randomInt(times);
      begin();
      const error = await errorOf(dir, { call, occurrence, sqlite });
      tally.injected += 1;
      if (error === null) tally.survived += 1;
      else if (isDevsError(error, code)) tally.typed += 1;
      else
        wrong.push(
          `${sqlite} at ${occurrence} of "${call.trim()}": ${(error as Error).stack ?? String(error)}`,
        );
      if (!(await canBeUsed(dir)))
        wrong.push(`${sqlite} at "${call.trim()}": the file is not as it should be`);
    }
    begin();
    tried(task, { ways: tally.injected, through: wrong.length });
    await annotate(JSON.stringify(tally));
    expect(wrong).toEqual([]);
    expect(tally.typed).toBeGreaterThan(tally.injected / 2);
  });
});
