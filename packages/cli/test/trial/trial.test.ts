import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { shortCombinations } from './combinations.ts';
import { faultsOf, runTrial } from './runTrial.ts';
import { LOCAL } from './Toolbox.ts';
import { type TrialBin, trialBin } from './trialBin.ts';

/** Each has every agent once, over other transports. */
const TURNS = howMany('DEVS_TRIAL_TURNS', 1);

let command: TrialBin;
beforeAll(async () => {
  command = await trialBin();
});
afterAll(() => command.remove());

const turns = Array.from({ length: TURNS }, (_, turn) => shortCombinations(turn)).flat();

describe.concurrent('a competent agent with one vice', () => {
  test.for(
    turns.map(
      (combination) =>
        [combination.agent, combination.repository.name, combination.transport, combination] as const,
    ),
  )('%s, in %s over %s', { timeout: 180_000 }, async ([, , , combination]) => {
    // Two see to it that commands of a person are typed; the others take a policy, which costs no processes.
    const gates = ['wrong-test', 'red-baseline'].includes(combination.agent) ? 'person' : 'policy';
    const row = await runTrial(combination, { bin: command.bin, tools: LOCAL, gates });
    expect(faultsOf(row), [`asked: ${row.asked}`, ...row.why].join('\n')).toEqual([]);
    expect(row.commandsPerGate).toBeLessThanOrEqual(2);
  });
});
