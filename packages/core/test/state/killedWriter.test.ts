import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { programFile } from '../support/programFile.ts';
import { tried } from '../support/tried.ts';
import { CONFIG, checkpointAt, writesAt } from './ackedCheckpoints.ts';

// Source: 2_TAS-REQ-016. Every acknowledged checkpoint is on disk, whenever its writer dies.

const KILLS = howMany('DEVS_KILLS', 5);

/** Writers that load while another one works; loading takes most of the time of each. */
const LOADING = 2;

/** Longest time a writer works before it is killed; several commits fit into it. */
const MAX_LIFE_MS = 25;

const child = new URL('ackedCheckpoints.child.ts', import.meta.url);

interface Writer {
  readonly process: ChildProcessWithoutNullStreams;
  readonly loaded: Promise<unknown>;
  /** Everything it has said. */
  output: string;
}

function aWriter(bundle: string, dbPath: string): Writer {
  const started = spawn(process.execPath, [bundle, dbPath]);
  const writer: Writer = { process: started, loaded: once(started.stdout, 'data'), output: '' };
  started.stdout.on('data', (chunk: Buffer) => {
    writer.output += chunk.toString();
  });
  started.stderr.on('data', (chunk: Buffer) => {
    writer.output += `error: ${chunk.toString()}`;
  });
  return writer;
}

/** Lets a writer work for a while, kills it, and returns the lines it got out. */
async function killedAfter(writer: Writer, lifeMs: number): Promise<readonly string[]> {
  await writer.loaded;
  writer.process.stdin.write('go\n');
  while (!writer.output.includes('put')) await sleep(1);
  await sleep(lifeMs);
  const closed = once(writer.process, 'close');
  writer.process.kill('SIGKILL');
  await closed;
  return writer.output.split('\n').slice(0, -1);
}

/** The numbers of the lines of a kind. */
function numbersOf(kind: 'put' | 'writes', lines: readonly string[]): readonly number[] {
  return lines.filter((line) => line.startsWith(kind)).map((line) => Number(line.split(' ')[1]));
}

/** What a restart finds: a whole file whose newest checkpoint is the one that was acknowledged last, or the next. */
async function assertNothingLost(dbPath: string, lastPut: number): Promise<void> {
  const db = createDatabase({ dbPath });
  expect(db.pragma('quick_check', { simple: true })).toBe('ok');
  const latest = await new SqliteSaver(db).getTuple(CONFIG);
  const at = Number(latest?.checkpoint.id);
  expect([lastPut, lastPut + 1]).toContain(at);
  expect(latest?.checkpoint).toEqual(checkpointAt(at).checkpoint);
  db.close();
}

describe(`a writer killed ${KILLS} times`, () => {
  test('loses no acknowledged checkpoint and leaves the file whole', {
    timeout: 60_000 + KILLS * 2_000,
  }, async ({ dbPath, task }) => {
    createDatabase({ dbPath }).close();
    const bundle = programFile(child);
    const writers = Array.from({ length: LOADING }, () => aWriter(bundle, dbPath));
    const acknowledged = { put: new Set<number>(), writes: new Set<number>() };
    for (let kill = 0; kill < KILLS; kill += 1) {
      tried(task, { ways: kill + 1 });
      const writer = writers.shift() ?? aWriter(bundle, dbPath);
      if (kill + LOADING < KILLS) writers.push(aWriter(bundle, dbPath));
      const lines = await killedAfter(writer, Math.random() * MAX_LIFE_MS);
      expect(lines.filter((line) => !/^(loaded|(put|writes) \d+)$/.test(line))).toEqual([]);
      for (const at of numbersOf('put', lines)) acknowledged.put.add(at);
      for (const at of numbersOf('writes', lines)) acknowledged.writes.add(at);
      await assertNothingLost(dbPath, Math.max(...acknowledged.put));
    }
    expect(acknowledged.put.size).toBeGreaterThanOrEqual(KILLS);

    const db = createDatabase({ dbPath });
    const saver = new SqliteSaver(db);
    for (const at of acknowledged.put) {
      const { checkpoint } = checkpointAt(at);
      const config = { configurable: { ...CONFIG.configurable, checkpoint_id: checkpoint.id } };
      const tuple = await saver.getTuple(config);
      expect(tuple?.checkpoint).toEqual(checkpoint);
      if (!acknowledged.writes.has(at)) continue;
      expect(tuple?.pendingWrites).toEqual(writesAt(at).map((write) => [`task-${at}`, ...write]));
    }
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(db.pragma('foreign_key_check')).toEqual([]);
    db.close();
  });
});
