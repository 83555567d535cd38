import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { NODE_TESTS } from '../../../core/test/support/nodeTests.ts';
import { callMain } from '../support/callMain.ts';
import { Silence } from '../support/Silence.ts';
import { asProcess } from './asProcess.ts';
import { everySituation, SHORT, turnOf } from './combinations.ts';
import { ModelHost } from './ModelHost.ts';
import type { Devs } from './Person.ts';
import { faultsOf, runTrial } from './runTrial.ts';
import { situationOf } from './situations/situations.ts';
import { LOCAL, type Toolbox } from './Toolbox.ts';
import { type TrialBin, trialBin } from './trialBin.ts';

/** Eight combinations; of more, each has every agent once, in another repository or over other transports. */
const TURNS = howMany('DEVS_TRIAL_TURNS', 1);

/** Of a setup that prints nothing, ms: long beside the two seconds in which a sign comes, on a busy machine, too. */
const PAUSE = 5_000;

const QUICK: Toolbox = {
  ...LOCAL,
  check: (repository) => (repository.name === 'node-test' ? NODE_TESTS : LOCAL.check(repository)),
};
const toolsFor = (agent: string): Toolbox => (TURNS > 1 || agent === 'red-baseline' ? LOCAL : QUICK);

/** The command in this process, on a terminal: what a process of its own proves is proven by others. */
function onTerminal() {
  let silence = 0;
  const devs: Devs = async (words, { cwd, env }) => {
    let clock: Silence | null = null; // from the first line: until then nothing runs
    const onWrite = (): void => {
      clock ??= new Silence();
      clock.broken();
    };
    const called = await callMain(cwd, words, { env: { ...env, NO_COLOR: '1' }, isTTY: true, onWrite });
    silence = Math.max(silence, (clock as Silence | null)?.end() ?? 0);
    return called;
  };
  return { devs, longestSilence: () => silence };
}

let models: ModelHost;
/** The command as a process, for what only the environment of one can say; `null` in the short form. */
let bundle: TrialBin | null = null;
beforeAll(async () => {
  models = await ModelHost.start();
  if (TURNS > 1) bundle = await trialBin();
  for (const [name, value] of Object.entries(models.env)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  bundle?.remove();
  await models.stop();
});

const turns =
  TURNS === 1
    ? SHORT
    : [...everySituation(), ...Array.from({ length: TURNS }, (_, turn) => turnOf(turn)).flat()];

// More at a time make each slower, and all of them no faster: they share one process.
vi.setConfig({ maxConcurrency: 3 });

describe.concurrent('a competent agent with one vice, or in a situation', () => {
  test.for(
    turns.map(
      (combination) =>
        [combination.agent, combination.repository.name, combination.transport, combination] as const,
    ),
  )('%s, in %s over %s', { timeout: 180_000 }, async ([, , , combination]) => {
    // Two see to it that commands of a person are typed; the others take a policy.
    const gates = ['wrong-test', 'red-baseline'].includes(combination.agent) ? 'person' : 'policy';
    const { devs: called, longestSilence } = onTerminal();
    const devs = bundle !== null && situationOf(combination.agent) ? asProcess(bundle.bin) : called;
    const setupMs = combination.agent === 'no-test' ? PAUSE : 0;
    const row = await runTrial(combination, {
      devs,
      models,
      tools: toolsFor(combination.agent),
      gates,
      setupMs,
    });
    expect(faultsOf(row), [`asked: ${row.asked}`, ...row.why].join('\n')).toEqual([]);
    expect(longestSilence()).toBeLessThan(PAUSE);
  });
});
