import { ada, says, twoSteps } from '../../../src/engine/__tests__/ownGraph.ts';
import { DecisionLog } from '../../../src/state/gates/DecisionLog.ts';
import type { Process, Scenario } from './Scenario.ts';

const approvals = { of: ['ada', 'bob', 'eve'], count: 2 };

async function vote({ db, durable }: Process, voter: string): Promise<void> {
  const gates = { second: { show: ({ log }: { log: readonly string[] }) => log, approvals } };
  const app = durable(twoSteps(says('built'), says('released')), { db, gates });
  const { gates: open } = await app.run('run', {}, { by: ada });
  for (const gate of open) await app.decide(gate, { approved: true, by: { kind: 'human', id: voter } });
}

/** What the file says of the votes, in a log of decisions that is whole. */
const standing = ({ db }: Process): unknown => ({
  ...new DecisionLog(db).verify(),
  ...db
    .prepare<[], object>(
      `SELECT (SELECT count(*) FROM hitl_votes) AS votes, (SELECT count(*) FROM hitl_decisions) AS decisions,
              (SELECT count(*) FROM events WHERE name = 'GATE_VOTED') AS told, status FROM hitl_sessions`,
    )
    .get(),
});

const ONE = { ok: true, votes: 1, decisions: 0, told: 1, status: 'awaiting_approval' };
const DECIDED = { ok: true, votes: 2, decisions: 1, told: 2, status: 'decided' };

/** Leaves the vote and the decision, or neither, and the vote can be given again. */
export const lastVote: Scenario = {
  what: 'the last vote at a gate',
  deaths: { atWrites: 'every', sides: ['before'], byKill: 3 },
  prepare: (process) => vote(process, 'ada'),
  start: (process) => async () => vote(process, 'bob'),
  expected: () => ({ outcome: undefined, inFile: DECIDED, between: [ONE, DECIDED] }),
  between: standing,
  inFile: standing,
};
