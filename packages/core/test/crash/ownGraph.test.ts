import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { test } from '../support/fixtures.ts';
import { spawnProgram, type TsProcess } from '../support/spawnTs.ts';

const CLI = 'examples/own-graph/cli.ts';

/** What reached the outside world, one `name key` each: written before the call returns, outside the engine. */
function effectsIn(out: string): readonly string[] {
  const log = join(out, 'effects.log');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
}

function ownGraph(out: string, args: readonly string[], latencyMs = 20): TsProcess {
  return spawnProgram(CLI, args, { OWN_GRAPH_OUT: out, OWN_GRAPH_LATENCY_MS: String(latencyMs) });
}

async function until(what: () => boolean): Promise<void> {
  for (let waited = 0; !what(); waited += 5) {
    if (waited > 20_000) throw new Error('The child process did not get there.');
    await sleep(5);
  }
}

/** The number of calls whose result is in the state file. */
function recordedSteps(out: string): number {
  const db = createDatabase({ dbPath: join(out, 'posts.sqlite') });
  const { n } = db
    .prepare<[], { n: number }>("SELECT count(*) AS n FROM agent_steps WHERE state = 'done'")
    .get() ?? { n: 0 };
  db.close();
  return n;
}

const named = (effects: readonly string[], name: string): readonly string[] =>
  effects.filter((effect) => effect.startsWith(`${name} `));

describe('a graph of your own, killed', () => {
  test('never repeats a call that was recorded before the kill', { timeout: 60_000 }, async ({ dbPath }) => {
    const out = dirname(dbPath);
    const first = ownGraph(out, ['start', 'post-42', 'green tea'], 400);
    await until(() => effectsIn(out).length === 2); // the first call is recorded, the second in flight
    first.child.kill('SIGKILL');
    expect((await first.finished).signal).toBe('SIGKILL');
    const [paid, inFlight] = effectsIn(out);
    expect(recordedSteps(out)).toBe(1);

    const second = await ownGraph(out, ['start', 'post-42']).finished;
    expect(second.stdout, second.stderr).toContain('"status":"waiting"');
    const calls = effectsIn(out);
    expect(calls.filter((call) => call === paid)).toHaveLength(1);
    expect(calls).toEqual([paid, inFlight, inFlight]); // the same key: the provider can tell
  });

  test('publishes once when two processes drive it at the same time', { timeout: 60_000 }, async ({
    dbPath,
  }) => {
    const out = dirname(dbPath);
    await ownGraph(out, ['start', 'post-42', 'green tea']).finished;
    await ownGraph(out, ['approve', 'post-42']).finished;

    const drivers = await Promise.all([1, 2].map(() => ownGraph(out, ['start', 'post-42'], 1_500).finished));
    expect(drivers.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(drivers.find(({ code }) => code === 1)?.stderr).toContain('is in use by process');
    expect(named(effectsIn(out), 'publish')).toHaveLength(1);
    expect(named(effectsIn(out), 'announce')).toHaveLength(1);
  });
});
