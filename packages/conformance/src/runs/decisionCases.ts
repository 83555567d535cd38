import assert from 'node:assert/strict';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
import { durable } from '../../../core/src/engine/app/durable.ts';
import type { Gate } from '../../../core/src/engine/gates/Gate.ts';
import type { Runs } from '../../../core/src/engine/runs/Runs.ts';
import { isDevsError } from '../../../core/src/errors/DevsError.ts';
import { EventStore } from '../../../core/src/state/events/EventStore.ts';
import { HitlSessionStore } from '../../../core/src/state/gates/HitlSessionStore.ts';
import type { Principal } from '../../../core/src/state/gates/hitlSession.ts';
import { ADA, driveMail } from './mail.ts';
import type { RunsCase } from './RunsUnderTest.ts';

const Sale = Annotation.Root({ cents: Annotation<number>() });

const Price = z.object({ cents: z.int() });
const EvenPrice = Price.refine(({ cents }) => cents % 2 === 0, 'Odd');

const sale = new StateGraph(Sale).addNode('sell', () => ({})).addEdge(START, 'sell');

/** An app that asks for a price before its node. */
const saleApp = (runs: Runs, answer: typeof Price, now: () => number = Date.now) =>
  durable(sale, {
    ...{ runs, now, graph: 'sale' },
    gates: { sell: { show: () => 'A lamp', answer, onAnswer: (_state, { cents }) => ({ cents }) } },
  });

type SaleApp = ReturnType<typeof saleApp>;

async function waitingSale(app: SaleApp): Promise<Gate> {
  await app.start('s', { cents: 0 });
  await driveMail(app, 's');
  return (await app.gates('s'))[0] as Gate;
}

/** A question as a run's file has it. */
async function recordedSession(runs: Runs, sessionId: string) {
  const { db, close } = await runs.open('s');
  const session = new HitlSessionStore(db).require(sessionId);
  const events = new EventStore(db).list('s');
  close();
  return { session, events };
}

const AT = Date.UTC(2030, 0, 1);

/** The rows that a driver writes for a decision from elsewhere. */
export const DECISION_CASES: readonly RunsCase[] = [
  {
    name: 'a value that does not fit is refused by who knows the schema, else it is on record, and asked again',
    async check({ runs, elsewhere }) {
      const app = saleApp(runs, EvenPrice);
      const gate = await waitingSale(app);
      const odd = { value: { cents: 7 }, by: ADA };
      await assert.rejects(
        app.decide(gate, odd),
        (error) => isDevsError(error) && error.code === 'INVALID_ANSWER',
      );
      await saleApp(elsewhere, Price).decide(gate, odd);
      assert.equal((await driveMail(app, 's')).status, 'waiting');
      const { session, events } = await recordedSession(runs, gate.sessionId);
      assert.deepEqual([session.decision, session.principal], [{ value: { cents: 7 } }, ADA]);
      const refused = events.filter(({ name }) => name === 'HITL_ANSWER_REFUSED');
      assert.deepEqual(
        refused.map(({ payload }) => payload),
        [{ sessionId: gate.sessionId, kind: 'node_gate', principal: 'human:ada' }],
      );
      const [again] = await app.gates('s');
      assert.notEqual(again?.sessionId, gate.sessionId);
      await app.decide(again as Gate, { value: { cents: 8 }, by: ADA });
      assert.equal((await driveMail(app, 's')).status, 'completed');
      assert.deepEqual(await app.values('s'), { cents: 8 });
    },
  },
  {
    name: 'a decision has the time at which it was given, whenever a driver takes it',
    async check({ runs, elsewhere }) {
      const app = saleApp(runs, Price);
      const gate = await waitingSale(app);
      const { decidedAt } = await saleApp(elsewhere, Price, () => AT).decide(gate, {
        value: { cents: 7 },
        by: ADA,
      });
      assert.equal(decidedAt, AT);
      assert.equal((await driveMail(app, 's')).status, 'completed');
      const { session } = await recordedSession(runs, gate.sessionId);
      assert.equal(session.decidedAt, AT);
    },
  },
  {
    name: 'who decides is read once: what is checked is what is recorded',
    async check({ runs }) {
      const app = saleApp(runs, Price);
      const gate = await waitingSale(app);
      const kinds: Principal['kind'][] = ['human', 'agent', 'agent', 'agent'];
      const by = {
        id: 'ada',
        get kind() {
          return kinds.shift() ?? 'agent';
        },
      };
      await app.decide(gate, { value: { cents: 7 }, by });
      assert.equal((await driveMail(app, 's')).status, 'completed');
      assert.deepEqual((await recordedSession(runs, gate.sessionId)).session.principal, ADA);
    },
  },
  {
    name: 'a decision arrives as it was given, and what the log tells of it is masked',
    async check({ runs }) {
      const app = saleApp(runs, Price);
      const gate = await waitingSale(app);
      const feedback = 'use ghp_16C7e42F292c6912E7710c838347Ae178B4a';
      await app.decide(gate, { approved: false, feedback, by: ADA });
      assert.equal((await driveMail(app, 's')).status, 'cancelled');
      const { session, events } = await recordedSession(runs, gate.sessionId);
      assert.deepEqual(session.decision, { approved: false, feedback });
      assert.ok(!JSON.stringify(events).includes('ghp_16'));
    },
  },
];
