import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { callMain } from '../support/callMain.ts';
import { shortCombinations } from './combinations.ts';
import { ModelHost } from './ModelHost.ts';
import type { Devs } from './Person.ts';
import { faultsOf, runTrial } from './runTrial.ts';
import { LOCAL } from './Toolbox.ts';

/** Each has every agent once, over other transports. */
const TURNS = howMany('DEVS_TRIAL_TURNS', 1);

/** The command in this process: what a process of its own proves is proven by others. */
const devs: Devs = (words, { cwd, env }) => callMain(cwd, words, { env });

let models: ModelHost;
beforeAll(async () => {
  models = await ModelHost.start();
  for (const [name, value] of Object.entries(models.env)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await models.stop();
});

const turns = Array.from({ length: TURNS }, (_, turn) => shortCombinations(turn)).flat();

describe.concurrent('a competent agent with one vice', () => {
  test.for(
    turns.map(
      (combination) =>
        [combination.agent, combination.repository.name, combination.transport, combination] as const,
    ),
  )('%s, in %s over %s', { timeout: 180_000 }, async ([, , , combination]) => {
    // Two see to it that commands of a person are typed; the others take a policy.
    const gates = ['wrong-test', 'red-baseline'].includes(combination.agent) ? 'person' : 'policy';
    const row = await runTrial(combination, { devs, models, tools: LOCAL, gates });
    expect(faultsOf(row), [`asked: ${row.asked}`, ...row.why].join('\n')).toEqual([]);
  });
});
