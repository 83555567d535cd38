// One person or driver of a run: does one thing, says how it ended, and may be killed in it.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDevsError } from '../../src/errors/DevsError.ts';
import { Orchestrator } from '../../src/surface/Orchestrator.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../src/testing/index.ts';

const [, , dir = '', ledger = '', deed = '', question = '', delayMs = '0'] = process.argv;
const by = { kind: 'human', id: 'ada' } as const;
const paid = (what: string): void => appendFileSync(ledger, `${what}\n`);

const devs = await Orchestrator.open({
  dir,
  agents: {
    ...fakeAgents({ tasks: 1, onCall: paid }),
    answer: async (_request, { idempotencyKey }) => {
      paid(`ask ${idempotencyKey}`);
      process.stdout.write('asking\n');
      await sleep(Number(delayMs));
      return { answer: `about ${question}` };
    },
  },
  workspace: new MemoryWorkspace(),
  checks: scriptedChecks(),
});

async function act(): Promise<string> {
  const run = await devs.run('shop');
  if (deed === 'drive') return (await run.resume()).status;
  const [gate] = await run.gates();
  if (gate === undefined) return 'no gate';
  if (deed === 'ask') return `answered ${(await run.ask(gate, question, { by })).answer}`;
  await run.decide(gate, { approved: false, feedback: 'Again', by });
  return 'decided';
}

const ended = await act().catch((error: unknown) => (isDevsError(error) ? error.code : String(error)));
process.stdout.write(`${ended}\n`);
devs.close();
