import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import type { LastingEvent, StreamEvent, TokensChunk } from '../../src/engine/stream/StreamEvent.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { listOf } from '../support/listOf.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { tried } from '../support/tried.ts';
import { type Asked, SAYINGS, talkingApp } from './talkingApp.ts';
import { withoutCheckpointIds } from './withoutCheckpointIds.ts';

const KILLS = howMany('DEVS_TOKEN_KILLS', 1);
const CHILD = 'packages/core/test/stream/talking.child.ts';
const PLACES = ['word', 'putWrites', 'put'] as const;
const OPTIONS = { streamMode: ['messages', 'updates', 'values'] } as const;
/** One less than models say: nothing is written after the last one has been read for certain. */
const WORDS = Object.values(SAYINGS).join(' ').split(' ').length - 1;

const isToken = (event: StreamEvent): event is TokensChunk => event.mode === 'messages';
const isLasting = (event: StreamEvent): event is LastingEvent => 'seq' in event;

const lastingOf = (events: readonly StreamEvent[]): readonly object[] =>
  events.filter(isLasting).map(withoutCheckpointIds);

/** What was said, by call. */
function saidIn(events: readonly StreamEvent[]): ReadonlyMap<string, string> {
  const said = new Map<string, string>();
  for (const { id, data } of events.filter(isToken)) said.set(id, (said.get(id) ?? '') + data);
  return said;
}

describe('a driver that is killed after words of a model went out, before the checkpoint', () => {
  test('leaves a stream that goes on: no gap, no recorded call again, words of other calls anew and whole', {
    timeout: 60_000 + KILLS * 20_000,
  }, async ({ dbPath, task }) => {
    tried(task, { ways: KILLS });
    const ledger = join(dirname(dbPath), 'ledger');
    const app = talkingApp(dbPath, ledger);
    const undisturbed = lastingOf(await listOf(app.stream('undisturbed', {}, OPTIONS)));
    for (let kill = 0; kill < KILLS; kill += 1) {
      const run = `run-${kill}`;
      const where = PLACES[kill % PLACES.length] ?? 'word';
      const number = String(1 + randomInt(WORDS));
      const calls = `${ledger}-${kill}`;
      const { signal, stdout, stderr } = await spawnProgram(CHILD, [dbPath, calls, run, where, number])
        .finished;
      expect([signal, stderr], `${where} ${number}`).toEqual(['SIGKILL', '']);
      const before = stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as StreamEvent);
      const known = before.filter(isLasting);
      const recorded = internalsOf(app)
        .store.steps.listForThread(run)
        .filter(({ state }) => state === 'done')
        .map(({ name }) => name as Asked);

      const next = talkingApp(dbPath, calls);
      const after = await listOf(next.stream(run, undefined, { ...OPTIONS, after: known.length }));
      next.close();
      expect(lastingOf([...known, ...after])).toEqual(undisturbed);
      const told = await listOf(app.stream(run, null, { ...OPTIONS, after: 0 }));
      expect(told).toEqual([...known, ...after.filter(isLasting)]);

      const left = Object.keys(SAYINGS).filter((name) => !recorded.includes(name as Asked)) as Asked[];
      expect([...saidIn(after).values()], `${where} ${number}`).toEqual(left.map((name) => SAYINGS[name]));
      const made = readFileSync(calls, 'utf8').trimEnd().split('\n');
      for (const name of recorded) expect(made.filter((call) => call === name)).toHaveLength(1);
      expect(made.slice(-left.length || made.length).slice(0, left.length)).toEqual(left);

      // Told as provisional: of the same task, by another call, from its first attempt in this drive on.
      const tasks = new Map(before.filter(isToken).map((token) => [token.node, token.task]));
      for (const token of after.filter(isToken)) {
        expect(token).toMatchObject({ attempt: 1, task: tasks.get(token.node) ?? token.task });
        expect(saidIn(before).has(token.id)).toBe(false);
      }
    }
    app.close();
  });
});
