import { isDevsError } from '@devs/core';
import { durable } from '@devs/core/langgraph';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { howMany } from '../../core/test/support/howMany.ts';
import { longer } from '../../core/test/support/longer.ts';
import { postgres } from '../src/postgres.ts';
import { type PostgresServer, startPostgres } from './support/startPostgres.ts';

const GATES = howMany('DEVS_DECIDED_GATES', 3);
const DECIDERS = GATES === 3 ? 4 : 8;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const Asked = Annotation.Root({ answer: Annotation<string>() });
const builder = new StateGraph(Asked)
  .addNode('ask', () => ({ answer: String(interrupt('Well?')) }))
  .addEdge(START, 'ask')
  .addEdge('ask', END);

test(
  'of several who decide a gate at the same time, one is accepted, and the run goes on with his answer',
  async () => {
    const deciders = Array.from({ length: DECIDERS }, () =>
      durable(builder, { runs: postgres(server.url), graph: 'asked' }),
    );
    const [app] = deciders;
    if (app === undefined) throw new Error('nobody decides');
    for (let nth = 0; nth < GATES; nth += 1) {
      const id = `asked-${nth}`;
      await app.run(id, { answer: '' });
      const [gate] = await app.gates(id);
      if (gate === undefined) throw new Error('nothing is asked');
      const decided = await Promise.allSettled(
        deciders.map((decider, by) =>
          decider.decide(gate, { value: `of ${by}`, by: { kind: 'human', id: `decider-${by}` } }),
        ),
      );
      const winners = decided.flatMap(({ status }, by) => (status === 'fulfilled' ? [`of ${by}`] : []));
      expect(winners).toHaveLength(1);
      const refused = decided.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
      for (const reason of refused)
        expect(isDevsError(reason, 'GATE_ALREADY_DECIDED'), String(reason)).toBe(true);
      expect(await app.run(id)).toMatchObject({ status: 'completed', values: { answer: winners[0] } });
    }
    await Promise.all(deciders.map((each) => each.close()));
  },
  longer(300_000, GATES / 20),
);
