import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import type { LastingEvent } from '../../src/engine/stream/StreamEvent.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { listOf } from '../support/listOf.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { tried } from '../support/tried.ts';
import { toldApp } from './toldApp.ts';
import { withoutCheckpointIds } from './withoutCheckpointIds.ts';

const CHILD = 'packages/core/test/stream/told.child.ts';
/** Drivers that are killed, one after the other, until one ends the run. */
const KILLS = howMany('DEVS_STREAM_KILLS', 2);
const OPTIONS = { streamMode: ['updates', 'values', 'custom'], subgraphs: true } as const;

const eventsIn = (stdout: string): readonly LastingEvent[] =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LastingEvent);

/** Without the ids of tasks and checkpoints and the place in the run, which are others in every run. */
const plain = (events: readonly LastingEvent[]): readonly string[] =>
  events.map((event) => {
    const ns = 'ns' in event ? event.ns.map((part) => part.split(':', 1)[0]) : [];
    return JSON.stringify({ ...withoutCheckpointIds(event), seq: 0, ns });
  });

async function eventsOf(file: string, run: string): Promise<readonly LastingEvent[]> {
  const app = toldApp(file);
  const events = await listOf(app.stream(run, null, { ...OPTIONS, after: 0 }));
  app.close();
  return events;
}

async function undisturbed(file: string): Promise<readonly string[]> {
  const app = toldApp(file);
  await app.run('undisturbed', { log: [] });
  app.close();
  return plain(await eventsOf(file, 'undisturbed'));
}

describe('a run that is killed between a chunk and its commit, and after it', () => {
  test('has told everything once, in order, and each driver tells what its reader lacks', {
    timeout: 60_000 + KILLS * 20_000,
  }, async ({ dbPath, annotate, task }) => {
    const whole = await undisturbed(dbPath);
    tried(task, { ways: KILLS });
    let kills = 0;
    for (let run = 0; kills < KILLS; run += 1) {
      const id = `run-${run}`;
      let known: readonly LastingEvent[] = [];
      const deaths: string[] = [];
      for (let isOver = false; !isOver; ) {
        const where = kills >= KILLS ? 'never' : randomInt(2) === 0 ? 'append' : 'commit';
        const number = String(1 + randomInt(12));
        deaths.push(`${where} ${number}`);
        const { signal, stdout, stderr } = await spawnProgram(CHILD, ['drive', dbPath, id, where, number])
          .finished;
        const given = eventsIn(stdout);
        // What a reader was given stays as it was, whatever happened to the driver.
        expect(given.slice(0, known.length), deaths.join()).toEqual(known.slice(0, given.length));
        if (given.length > known.length) known = given;
        isOver = signal !== 'SIGKILL';
        if (isOver) expect(stderr).toBe('');
        else kills += 1;
      }
      await annotate(`${id}: ${deaths.join(', ')}`);
      const events = await eventsOf(dbPath, id);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
      expect(known).toEqual(events);
      expect(plain(events).toSorted()).toEqual(whole.toSorted());
    }
  });
});

/** Connections of readers in other processes, over runs that are driven meanwhile. */
const RECONNECTS = howMany('DEVS_STREAM_RECONNECTS', 4);
const RUNS = Math.ceil(RECONNECTS / 5);

describe('readers in other processes that come and go', () => {
  test('miss nothing and get nothing twice', { timeout: 60_000 + RECONNECTS * 5_000 }, async ({
    dbPath,
    task,
  }) => {
    tried(task, { ways: RECONNECTS });
    const file = join(dbPath);
    for (let run = 0; run < RUNS; run += 1) {
      const id = `run-${run}`;
      const app = toldApp(file);
      await internalsOf(app).recordRun({ threadId: id, input: { log: [] } });
      app.close();
      const driver = spawnProgram(CHILD, ['drive', file, id, 'never', '0']);
      const read: LastingEvent[] = [];
      for (let left = RECONNECTS / RUNS; left > 0; left -= 1) {
        // Anywhere in what is known: what comes again must be the same.
        const after = left % 2 === 0 ? read.length : randomInt(read.length + 1);
        const count = left <= 1 ? 10_000 : 1 + randomInt(8);
        const reader = spawnProgram(CHILD, ['read', file, id, String(after), String(count)]);
        const { stdout, stderr } = await reader.finished;
        expect(stderr).toBe('');
        const given = eventsIn(stdout);
        expect(given.slice(0, read.length - after)).toEqual(read.slice(after, after + given.length));
        read.push(...given.slice(read.length - after));
      }
      await driver.finished;
      expect(read).toEqual(await eventsOf(file, id));
      expect(read.map(({ seq }) => seq)).toEqual(read.map((_, at) => at + 1));
    }
  });
});
