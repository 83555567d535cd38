import { join } from 'node:path';
import { createDatabase } from '@devs/core';
import { describe, expect } from 'vitest';
import { tablesOf } from '../../core/test/support/insides.ts';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';
import { waitingSum } from './support/sumProject.ts';

/** Makes the run `sum` one of a `devs` whose pipeline called `verify` something else, and was of another version. */
function startedByOther(dir: string): void {
  const db = createDatabase({ dbPath: join(dir, '.devs', 'state.sqlite') });
  db.exec(`
    UPDATE threads SET graph_fingerprint = 'of another pipeline',
                       policies_json =
                         json_set(replace(policies_json, '"verify"', '"inspect"'), '$.graph.version', '0'), declared_sha256 = NULL`);
  db.close();
}

describe('devs accept-graph', () => {
  test('is what resume names, says what was accepted, and lets the run go on to its end', async ({ dir }) => {
    await waitingSum(dir);
    startedByOther(dir);
    const refused = await callMain(dir, ['resume', 'sum']);
    expect(refused.exitCode).toBe(5);
    expect(refused.stderr).toContain(
      'GRAPH_CHANGED: Run "sum" was started with another graph: node "inspect" is gone',
    );
    expect(refused.stderr).toContain('devs accept-graph');

    const undeclared = await callMain(dir, ['accept-graph', 'sum']);
    expect(undeclared.exitCode).toBe(6);
    expect(undeclared.stderr).toContain('GRAPH_NOT_ACCEPTED');

    const accepted = await callMain(dir, ['accept-graph', 'sum', '--node', 'inspect=verify', '--by', 'ada']);
    expect(accepted.stdout).toBe(
      'accepted: node "inspect" is gone\naccepted: node "verify" is new\n' +
        'accepted: version "0" became "1"\nrecorded; to resume: devs resume sum\n',
    );
    expect((await callMain(dir, ['accept-graph', 'sum'])).stdout).toContain('nothing to accept');
    expect((await callMain(dir, ['resume', 'sum'])).exitCode).toBe(75);
    const db = createDatabase({ dbPath: join(dir, '.devs', 'state.sqlite') });
    const accepting = tablesOf(db)
      .events.list('sum')
      .filter(({ name }) => name === 'GRAPH_ACCEPTED');
    db.close();
    expect(accepting).toMatchObject([{ payload: { principal: 'human:ada' } }]);
  });

  test('takes pairs of names alone', async ({ dir }) => {
    await waitingSum(dir);
    const wrong = await callMain(dir, ['accept-graph', 'sum', '--node', 'verify']);
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain('"verify" is not of the form old=new.');
  });
});
