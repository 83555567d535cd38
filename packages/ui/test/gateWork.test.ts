import { fakeAgents } from '@devs/core/testing';
import { describe, expect } from 'vitest';
import { workWords } from '../page/gate/gateWords.ts';
import type { GateView } from '../src/views/gateView.ts';
import { gateWork } from '../src/views/gateWork.ts';
import type { InboxView } from '../src/views/inboxView.ts';
import type { RunView } from '../src/views/runView.ts';
import { ADA, mounted, openShop, test } from './support/fixtures.ts';

describe('the work behind a review', () => {
  test('is told with the gate: which task, which attempt, what it cost, how long checks took, what the reviewer said', async ({
    dir,
  }) => {
    const agents = fakeAgents({ tasks: 2 });
    const said = 'Each option is checked where it is read. The rest is as before.';
    const review: typeof agents.review = async (...asked) => ({
      ...(await agents.review(...asked)),
      comments: said,
    });
    const devs = await openShop(dir, { ...agents, review });
    const gates = { design: 'auto', dag: 'auto' } as const;
    const run = await devs.start({ id: 'shop', brief: '# Shop\n\nSell things.\n', review: 'task', gates });
    await run.resume();
    const { ask } = mounted(dir);
    const read = async <View>(path: string): Promise<View> =>
      (await (await ask(`/inbox/api/runs/shop${path}`)).json()) as View;
    const [gate] = await run.gates();
    const view = await read<GateView>(`/gates/${gate?.sessionId}`);
    const { cost, tasks } = await run.status();
    expect(view.work).toMatchObject({
      task: { at: 1, of: 2 },
      attempt: 1,
      checkMs: expect.any(Number),
      said: [{ taskId: tasks[0]?.taskId, words: said }],
    });
    expect(view.cost).toEqual(cost);
    expect(view.work?.costUsd).toBeLessThanOrEqual(cost.costUsd);
    expect((await read<RunView>('')).commits).toMatchObject([
      { label: 'T1', state: 'waits', sessionId: gate?.sessionId, sha: tasks[0]?.gitHash },
    ]);

    if (gate === undefined) throw new RangeError('There is no gate.');
    const comments = [{ in: 'T1', quote: tasks[0]?.name ?? '', line: 1, text: 'Name it better.' }];
    await run.decide(gate, { approved: false, feedback: 'Do it again.', comments, by: ADA });
    await run.resume();
    const [again] = await run.gates();
    const second = await read<GateView>(`/gates/${again?.sessionId}`);
    expect(second.work).toMatchObject({ attempt: 2, said: [{ words: said }] });
    expect(workWords(second)).toEqual(expect.arrayContaining(['version 2', 'attempt 2']));
    const shown = await read<RunView>('');
    expect(shown.commits).toMatchObject([{ state: 'waits' }]);
    const unanswered = { text: '0 of 1 comment answered', tone: 'warning' };
    expect(shown.gates[0]?.facts[0]).toEqual(unanswered);
    const inbox = (await (await ask('/inbox/api/inbox')).json()) as InboxView;
    expect(inbox.gates[0]?.facts[0]).toEqual(unanswered);
  });

  test('is none of any other gate, and knows of several tasks only what they share', () => {
    const parts = { tasks: [], steps: [], state: null };
    const gate = { kind: 'review', openedAt: '2026-01-01T00:00:00.000Z' } as const;
    expect(gateWork({ ...gate, kind: 'dag_approval', artifact: { taskIds: ['r:1'] } }, parts)).toBeNull();
    expect(gateWork({ ...gate, artifact: 'text' }, parts)).toBeNull();
    expect(gateWork({ ...gate, artifact: { taskIds: ['r:1', 'r:2'] } }, parts)).toEqual({
      ...{ task: null, attempt: null, costUsd: 0, checkMs: null, said: [] },
    });
    const cost = { tokensIn: 1, tokensOut: 1, costUsd: 0, calls: 2, requests: 2, unpriced: 2 };
    expect(workWords({ cost, versions: [], work: null })).toEqual(['no price known']);
    const priced = { ...cost, costUsd: 0.41, unpriced: 0 };
    expect(workWords({ cost: priced, versions: [], work: null })).toEqual(['$0.41 so far']);
    const work = { task: null, attempt: 1, costUsd: 0.16, checkMs: null, said: [] };
    expect(workWords({ cost: priced, versions: [], work })).toEqual([
      'attempt 1',
      '$0.16 of the run’s $0.41',
    ]);
  });
});
