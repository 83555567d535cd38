import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { ada } from '../../../src/engine/__tests__/ownGraph.ts';
import type { AgentAction } from '../../../src/engine/entropy/EntropyPart.ts';
import type { GuardEvidence } from '../../../src/events/events.ts';
import { EventStore } from '../../../src/state/events/EventStore.ts';
import type { Live, Process, Scenario } from './Scenario.ts';

const State = Annotation.Root({
  turns: Annotation<readonly AgentAction[]>({
    reducer: (left, right) => [...left, ...right],
    default: () => [],
  }),
});

/** Fails in the same words until it has been at it six times: warns at the third, asks at the fourth. */
function failing({ db, durable }: Process) {
  const builder = new StateGraph(State)
    .addNode('try', ({ turns }) => ({ turns: [{ action: `try ${turns.length}`, error: 'the same error' }] }))
    .addEdge(START, 'try')
    .addConditionalEdges('try', ({ turns }) => (turns.length < 6 ? 'try' : END));
  return durable(builder, { db, guards: { entropy: ({ turns }) => turns } });
}

/** Drives to the first gate, and returns what it says. */
function start(process: Process): Live {
  const app = failing(process);
  return async (run) => {
    const { status, gates, values } = await app.run(run, {});
    return {
      status,
      gates: gates.map(({ kind, artifact }) => [kind, entropyIn(artifact)]),
      turns: values?.turns,
    };
  };
}

const entropyIn = (artifact: unknown): unknown => (artifact as { readonly entropy?: unknown }).entropy;

/** The events about the score of a run, and how many gates and sessions it has. */
function recorded({ db }: Process, run: string): unknown {
  const events = new EventStore(db)
    .list(run)
    .filter(({ payload }) => (payload as Partial<GuardEvidence>).measure === 'entropy')
    .map(({ name, payload }) => [name, (payload as GuardEvidence).level]);
  const count = (sql: string): unknown => db.prepare(sql).pluck().get(run);
  return {
    events,
    gates: count('SELECT count(*) FROM hitl_failure_gates WHERE task_id = ?'),
    sessions: count('SELECT count(*) FROM hitl_sessions WHERE thread_id = ?'),
  };
}

const TURNS = [0, 1, 2, 3].map((turn) => ({ action: `try ${turn}`, error: 'the same error' }));

const REPETITION = {
  score: 0.7875,
  parts: [
    {
      part: 'same_error',
      share: 0.7875,
      evidence: 'the same error 4 times (turns 1, 2, 3, 4): the same error',
    },
  ],
};

/** The answer is progress; the turns stay in the author's state, so the score does too, and the next turn asks again. */
async function goesOnAfterAnAnswer(process: Process, run: string): Promise<unknown> {
  const app = failing(process);
  const [gate] = (await app.run(run)).gates;
  if (gate === undefined) throw new Error('There is no gate.');
  await app.decide(gate, { action: 'retry', by: ada });
  const { gates } = await app.run(run);
  return gates.map(({ kind, sessionId }) => ({ kind, isAnother: sessionId !== gate.sessionId }));
}

export const entropy: Scenario = {
  what: 'a run on the way to a failure gate',
  deaths: { atWrites: 22, byKill: 1, sides: ['after'] },
  throughRuns: true,
  start,
  heir: 'a bystander',
  expected: () => ({
    outcome: { status: 'waiting', gates: [['task_failure', REPETITION]], turns: TURNS },
    inFile: {
      events: [
        ['GUARD_WARNED', 0.675],
        ['GUARD_TRIPPED', 0.7875],
      ],
      gates: 1,
      sessions: 1,
    },
  }),
  inFile: recorded,
  afterwards: {
    does: goesOnAfterAnAnswer,
    expected: [{ kind: 'task_failure', isAnother: true }],
  },
};
