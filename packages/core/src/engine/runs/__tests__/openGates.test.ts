import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { ada, twoBranches, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';

describe('the inbox', () => {
  test('has the open questions of every run and graph in the file, oldest first, page by page', async ({
    db,
  }) => {
    const now = { ms: 0 };
    const steps = durable(twoSteps(), { db, gates: { second: ({ log }) => log }, now: () => now.ms });
    const show = (): string => 'Go?';
    const branches = durable(twoBranches(), { db, gates: { left: show, right: show }, now: () => now.ms });
    for (const id of ['a', 'b']) {
      now.ms += 10;
      await steps.run(id, { log: [id] });
    }
    now.ms += 10;
    await branches.run('c', {}); // two questions in one millisecond
    const { gates } = await steps.run('b');
    await steps.decide(gates[0] as never, { approved: true, by: ada });
    internalsOf(steps).store.manager.pause({} as never, 'free'); // of no run

    const all = await steps.openGates();
    expect(all.gates.map(({ threadId, artifact }) => [threadId, artifact])).toEqual([
      ['a', ['a', 'first']],
      ['c', 'Go?'],
      ['c', 'Go?'],
    ]);
    expect(all.next).toBeNull();
    const ids: string[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = await branches.openGates({ limit: 1, ...(after !== undefined && { after }) });
      ids.push(...page.gates.map(({ sessionId }) => sessionId));
      after = page.next;
    }
    expect(ids).toEqual(all.gates.map(({ sessionId }) => sessionId));
  });

  test('refuses what is no page', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await expect(app.openGates({ limit: -1 })).rejects.toThrow(RangeError);
    await expect(app.openGates({ after: 'x' })).rejects.toThrow(RangeError);
  });
});
