import { spawnSync } from 'node:child_process';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { DecisionLog } from '../../src/state/gates/DecisionLog.ts';
import { test } from '../support/fixtures.ts';
import { programFile } from '../support/programFile.ts';

const child = new URL('killedVotes.child.ts', import.meta.url);

const vote = (file: string, voter: string, dieAt = 0) =>
  spawnSync(process.execPath, [programFile(child), file, voter, String(dieAt)], { encoding: 'utf8' });

interface Standing {
  readonly votes: number;
  readonly decisions: number;
  readonly told: number;
  readonly status: string;
}

function standing(dbPath: string): Standing {
  const db = createDatabase({ dbPath });
  expect(new DecisionLog(db).verify()).toEqual({ ok: true });
  const row = db
    .prepare<[], Standing>(
      `SELECT (SELECT count(*) FROM hitl_votes) AS votes, (SELECT count(*) FROM hitl_decisions) AS decisions,
              (SELECT count(*) FROM events WHERE name = 'GATE_VOTED') AS told, status FROM hitl_sessions`,
    )
    .get();
  db.close();
  if (row === undefined) throw new RangeError('Expected a session.');
  return row;
}

const ONE = { votes: 1, decisions: 0, told: 1, status: 'awaiting_approval' };
const DECIDED = { votes: 2, decisions: 1, told: 2, status: 'decided' };

describe('a process that is killed as it casts the last vote', () => {
  test('leaves the vote and the decision, or neither, and the vote can be given again', {
    timeout: 120_000,
  }, ({ dbPath }) => {
    expect(vote(dbPath, 'ada').stderr).toBe('');
    expect(standing(dbPath)).toEqual(ONE);
    let deaths = 0;
    for (let dieAt = 1; deaths === dieAt - 1; dieAt += 1) {
      const died = vote(dbPath, 'bob', dieAt);
      if (died.signal !== 'SIGKILL') continue;
      deaths += 1;
      expect([dieAt, standing(dbPath)]).toEqual([dieAt, ONE]);
    }
    expect(deaths).toBeGreaterThanOrEqual(3); // before the vote, between vote and decision, in the decision
    expect(standing(dbPath)).toEqual(DECIDED);
  });
});
