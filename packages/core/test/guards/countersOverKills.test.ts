import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Gate } from '../../src/engine/gates/Gate.ts';
import { HumanInTheLoopManager } from '../../src/orchestration/hitl.ts';
import { EventStore } from '../../src/state/events/EventStore.ts';
import { HitlSessionStore } from '../../src/state/gates/HitlSessionStore.ts';
import { StepStore } from '../../src/state/steps/StepStore.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { only } from '../support/only.ts';
import { programFile } from '../support/programFile.ts';

const KILLS = howMany('DEVS_SPENDER_KILLS', 4);
const ROUNDS = 11;
const CALLS = 4 * ROUNDS;
const RAISE = 9;

const program = new URL('spender.child.ts', import.meta.url);

interface Outcome {
  readonly status: string;
  readonly gates: readonly (Gate & {
    readonly artifact: { readonly limits: readonly { spent: number; limit: number }[] };
  })[];
}

/** One life of a driver; `null` when it killed itself. */
function live(dbPath: string, effects: string, dieAt: number): Outcome | null {
  const args = [programFile(program), dbPath, effects, String(dieAt), String(ROUNDS)];
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (signal === 'SIGKILL') return null;
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Outcome;
}

const linesOf = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];

describe('the counters of a budget', { timeout: 120_000 }, () => {
  test(`are exact over ${KILLS} kills: every limit is reached to the call and passed by none, every question asked once`, ({
    db,
    dbPath,
  }) => {
    const effects = join(dirname(dbPath), 'effects.log');
    const manager = new HumanInTheLoopManager(db);
    let [kills, asked] = [0, 0];
    for (let lives = 0; ; lives += 1) {
      const outcome = live(dbPath, effects, kills < KILLS ? 6 + (lives % 6) : 0);
      const limit = 10 + asked * RAISE;
      expect(new Set(linesOf(effects)).size).toBeLessThanOrEqual(limit);
      if (outcome === null) {
        kills += 1;
        continue;
      }
      if (outcome.status === 'completed') break;
      const gate = only(outcome.gates);
      expect(gate.artifact.limits).toMatchObject([{ measure: 'calls', spent: limit, limit }]);
      expect(new Set(linesOf(effects)).size).toBe(limit);
      const { sessionId, artifactHash } = gate;
      const answer = { action: 'raise', calls: RAISE };
      manager.decide(sessionId, { artifactHash, answer, by: { kind: 'human', id: 'ada' } });
      asked += 1;
    }

    expect([kills, asked]).toEqual([KILLS, Math.ceil((CALLS - 10) / RAISE)]);
    expect(new Set(linesOf(effects)).size).toBe(CALLS);
    expect(linesOf(effects).length).toBeLessThanOrEqual(CALLS + 4 * KILLS); // at most the calls in flight again
    const steps = new StepStore(db);
    expect(steps.costOf('run')).toEqual({
      tokensIn: 7 * CALLS,
      tokensOut: 3 * CALLS,
      costUsd: 0.25 * CALLS,
      calls: CALLS,
      requests: CALLS,
      unpriced: 0,
    });
    expect(steps.spendingBefore({ threadId: 'run', lgTaskId: '', name: '' }, null)).toMatchObject({
      calls: CALLS,
      reservedUsd: 0,
    });
    expect(new HitlSessionStore(db).listDecided('run', 'budget')).toHaveLength(asked);
    const named = (event: string) =>
      new EventStore(db).list('run', { limit: 10_000 }).filter(({ name }) => name === event);
    expect(named('GUARD_TRIPPED')).toHaveLength(asked);
    expect(named('GUARD_WARNED')).toHaveLength(asked + 1); // once for every limit there was
    expect(named('HITL_SESSION_OPENED')).toHaveLength(asked);
  });
});
