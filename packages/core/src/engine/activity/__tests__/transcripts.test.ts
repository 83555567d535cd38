import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import type { Activity, ActivityScope, OnActivity } from '../../../events/Activity.ts';
import { EventBus } from '../../../events/events.ts';
import { doctor } from '../../../state/doctor/doctor.ts';
import { EventStore } from '../../../state/events/EventStore.ts';
import { TranscriptStore } from '../../../state/steps/TranscriptStore.ts';
import { transcript } from '../../../surface/transcripts.ts';
import { twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { EngineStore } from '../../gates/EngineStore.ts';
import { step } from '../../node/step.ts';
import { StepActivities, TranscriptWindow } from '../StepActivities.ts';

const SECRET = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';

interface Told {
  readonly activity: Activity;
  readonly scope: ActivityScope;
}

/** A run of a graph whose only call tells something. */
async function runThatTells(db: Database, work: (tell: OnActivity) => unknown) {
  const events = new EventBus();
  const told: Told[] = [];
  events.onActivity((activity, scope) => told.push({ activity, scope }));
  const node = async () => {
    await step('call', async ({ onActivity }) => {
      await work(onActivity);
      return 'result';
    });
    return { answer: 'done' };
  };
  const app = durable(twoSteps(node), { db, events });
  const { status } = await app.run('run', {}, { throwOnFailure: false });
  const store = new TranscriptStore(db);
  const kept = () => transcript('run', {}, store).map(({ activity }) => activity);
  return { app, told, status, store, kept };
}

const textOf = (activities: readonly unknown[]): string =>
  (activities as { readonly text?: string }[]).map(({ text = '' }) => text).join('');

describe('what a step tells', () => {
  test('gets to listeners and into its transcript, in order', async ({ db }) => {
    const { told, kept, status, store } = await runThatTells(db, (tell) => {
      tell({ kind: 'thought', text: 'first ' });
      tell({ kind: 'thought', text: 'look' });
      tell({ kind: 'tool', id: '1', name: 'read', state: 'started', detail: 'src/a.ts' });
      tell({ kind: 'text', text: 'It is\n' });
      tell({ kind: 'text', text: 'there.' });
      tell({
        kind: 'usage',
        usage: { tokensIn: 10, tokensOut: Number.NaN, costUsd: Number.POSITIVE_INFINITY },
      });
    });
    expect(status).toBe('completed');
    const expected = [
      { kind: 'thought', text: 'first look' },
      { kind: 'tool', id: '1', name: 'read', state: 'started', detail: 'src/a.ts' },
      { kind: 'usage', usage: { tokensIn: 10 } },
      { kind: 'text', text: 'It is\nthere.' },
    ];
    expect(kept()).toEqual(expected);
    expect(told.map(({ activity }) => activity)).toEqual([{ kind: 'doing', what: 'call' }, ...expected]);
    expect(told.at(-1)?.scope).toMatchObject({ threadId: 'run', step: 'call', attempt: 1, taskId: null });
    expect(transcript('run', {}, store).at(-1)).toMatchObject({ stage: 'call', attempt: 1 });
    expect(doctor(db).findings).toEqual([]);
  });

  test('is masked before anybody has it, wherever it was cut', async ({ db, dbPath }) => {
    const { told, kept } = await runThatTells(db, (tell) => {
      for (const char of `key ${SECRET}\n`) tell({ kind: 'text', text: char });
      tell({ kind: 'output', text: `\u001b[1m${SECRET.slice(0, 9)}\u001b[0m` });
      tell({ kind: 'usage', usage: { model: SECRET } });
      tell({ kind: 'output', text: `${SECRET.slice(9)}\n` });
      tell({ kind: 'tool', id: SECRET, name: SECRET, state: 'failed', detail: `Bearer ${SECRET}` });
      tell({ kind: 'diff', path: SECRET, diff: `+${SECRET}` });
      tell({ kind: 'plan', entries: [{ text: SECRET, state: 'pending' }] });
      tell({ kind: 'permission', title: SECRET, granted: false, why: SECRET });
      tell({ kind: 'doing', what: SECRET });
    });
    expect(kept()).toHaveLength(8);
    expect(JSON.stringify([kept(), told])).not.toContain(SECRET.slice(4));
    db.pragma('wal_checkpoint(TRUNCATE)');
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(dbPath).includes(SECRET.slice(4))).toBe(false);
  });

  test('is an event of its own where an agent asks for a permission: masked, one line, cut, at most 100', async ({
    db,
  }) => {
    await runThatTells(db, (tell) => {
      tell({
        kind: 'permission',
        title: `cat\n${SECRET} ${'x'.repeat(300)}`,
        granted: false,
        why: 'no sandbox',
      });
      for (let at = 0; at < 120; at += 1)
        tell({ kind: 'permission', title: 'edit', granted: true, why: 'ours' });
    });
    const asked = new EventStore(db)
      .list('run', { limit: 1_000 })
      .filter(({ name }) => name === 'AGENT_ASKED');
    expect(asked).toHaveLength(100);
    const { title = '' } = (asked[0]?.payload ?? {}) as { readonly title?: string };
    expect(asked[0]?.payload).toMatchObject({
      node: 'first',
      step: 'call',
      granted: false,
      why: 'no sandbox',
    });
    expect(title).toHaveLength(200);
    expect(title).toMatch(/^cat \[/);
    expect(title).not.toContain(SECRET.slice(4));
  });

  test('is on disk after a second, while the step runs', async ({ db }) => {
    const store = new TranscriptStore(db);
    let before: unknown;
    await runThatTells(db, async (tell) => {
      tell({ kind: 'output', text: 'one line\nhalf a li' });
      const until = performance.now() + 20_000;
      while ([...store.pieces('run')].length === 0 && performance.now() < until) await sleep(20);
      before = transcript('run', {}, store).map(({ activity }) => activity);
    });
    expect(before).toEqual([{ kind: 'output', text: 'one line\n' }]);
  });

  test('is not taken once the step has ended', async ({ db }) => {
    let late: OnActivity = () => {};
    const { kept, told } = await runThatTells(db, (tell) => {
      late = tell;
    });
    late({ kind: 'text', text: 'late\n' });
    await sleep(300);
    expect(kept()).toEqual([]);
    expect(told).toHaveLength(1);
  });

  test('of a step that throws is kept, too, each attempt for itself', async ({ db }) => {
    let calls = 0;
    const { app, store } = await runThatTells(db, (tell) => {
      calls += 1;
      tell({ kind: 'text', text: `attempt ${calls}` });
      if (calls === 1) throw new TypeError('no');
    });
    expect((await app.run('run', {})).status).toBe('completed');
    expect(transcript('run', {}, store).at(-1)).toMatchObject({ stage: 'call', attempt: 2 });
    const textsOf = (attempt?: number) =>
      textOf(
        transcript('run', { stage: 'call', ...(attempt && { attempt }) }, store).map(
          ({ activity }) => activity,
        ),
      );
    expect([textsOf(), textsOf(1)]).toEqual(['attempt 2', 'attempt 1']);
    expect(() => transcript('run', { stage: 'cal' }, store)).toThrow('available: call');
    expect(() => transcript('run', { stage: 'call', attempt: 3 }, store)).toThrow(RangeError);
  });

  test('is lost with one event where it cannot be written, and the run goes on', async ({ db }) => {
    db.exec(
      `CREATE TRIGGER refuse BEFORE INSERT ON step_transcripts BEGIN SELECT RAISE(ABORT, 'no room'); END`,
    );
    const { status, kept } = await runThatTells(db, async (tell) => {
      for (let n = 0; n < 3; n += 1) {
        tell({ kind: 'output', text: 'x\n'.repeat(200_000) });
        await sleep(210);
      }
    });
    expect(status).toBe('completed');
    expect(kept()).toEqual([]);
    const lost = new EventStore(db).listNamed('run', 'TRANSCRIPT_LOST');
    expect(lost.map(({ payload }) => payload)).toMatchObject([
      { step: 'call', message: expect.stringContaining('no room') },
    ]);
  });

  test('never throws into the step, whatever it is', async ({ db }) => {
    const { status } = await runThatTells(db, (tell) => {
      for (const nonsense of [
        null,
        {},
        { kind: 'text' },
        { kind: 'plan' },
        { kind: 'diff', diff: Symbol('d') },
      ]) {
        tell(nonsense as unknown as Activity);
      }
    });
    expect(status).toBe('completed');
  });

  test('of a driver that was replaced is not written', async ({ db }) => {
    const { store } = await runThatTells(db, (tell) => {
      tell({ kind: 'text', text: 'said' });
      db.prepare('UPDATE threads SET lease_epoch = lease_epoch + 1').run();
    }).catch(() => ({ store: new TranscriptStore(db) }));
    expect([...store.pieces('run')]).toEqual([]);
    expect(new EventStore(db).listNamed('run', 'TRANSCRIPT_LOST')).toEqual([]);
  });

  test('keeps its beginning and its end where it is long, and says what is missing', ({ db }) => {
    const line = (n: number): string => `${String(n).padStart(9, '0')} ${'word '.repeat(18)}\n`;
    const HALF = 20_000;
    const LINES = 2_000;
    const events = new EventBus();
    const store = new EngineStore(db, { events });
    const place = { threadId: 'run', lgTaskId: 'v', name: 'call', attempt: 1, node: 'n', taskId: null };
    const at = { threadId: 'run', epoch: null };
    const deps = { runs: store.runs, at, events, kept: new TranscriptWindow(HALF) };
    const told = new StepActivities(place, 0, deps);
    for (let n = 0; n < LINES; n += 1) {
      told.tell({ kind: 'tool', id: line(n), name: 'print', state: 'started' });
      if (n % 10 === 9) told.save();
    }
    told.end();
    told.save();
    const entries = transcript('run', {}, store.transcripts).map(({ activity }) => activity);
    const text = entries.map((activity) => (activity.kind === 'tool' ? activity.id : '')).join('');
    expect(text.startsWith(line(0))).toBe(true);
    expect(text.endsWith(line(LINES - 1))).toBe(true);
    expect(text.length).toBeLessThan(2.5 * HALF);
    const gaps = entries.filter((activity) => activity.kind === 'skipped') as {
      readonly characters: number;
    }[];
    expect(gaps).toHaveLength(1);
    const whole = JSON.stringify({ kind: 'tool', id: line(0), name: 'print', state: 'started' }).length;
    expect((gaps[0]?.characters ?? 0) / whole).toBe(LINES - entries.length + 1);
    expect(doctor(db).findings).toEqual([]);
  });

  test('faster than it can be masked is left out in part, and the step is not held up', async ({ db }) => {
    const piece = 'a word of output\n'.repeat(4_000);
    const { kept } = await runThatTells(db, (tell) => {
      for (let n = 0; n < 1_000; n += 1) tell({ kind: 'output', text: piece });
    });
    const gap = kept().find((activity) => activity.kind === 'skipped') as { readonly characters: number };
    expect(gap.characters).toBeGreaterThan(60_000_000);
    expect(textOf(kept()).length).toBeLessThan(3 * 1024 * 1024);
  });

  test('of earlier attempts goes with a prune, the newest stays, and so do the bytes of both that are needed', async ({
    db,
  }) => {
    let calls = 0;
    const { app, store } = await runThatTells(db, (tell) => {
      calls += 1;
      tell({ kind: 'text', text: `attempt ${calls} ${'of many words '.repeat(100)}` });
      if (calls < 3) throw new TypeError('no');
    });
    await app.run('run', undefined, { throwOnFailure: false });
    await app.run('run');
    expect(transcript('run', {}, store).at(-1)).toMatchObject({ attempt: 3 });
    expect(await app.prune('run', { keepLast: 1 })).toMatchObject({ transcripts: 2 });
    expect(textOf(transcript('run', {}, store).map(({ activity }) => activity))).toMatch(/^attempt 3 /);
    expect(doctor(db).findings).toEqual([]);
  });
});
