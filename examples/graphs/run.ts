// promptChaining            runs an example, or goes on with it, and answers its questions
// promptChaining out/one    with its state file and ledger in that folder
// GRAPH_DIES_AFTER=2 kills the process at its second effect, before that is recorded.
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Gate } from '@devs/core/langgraph';
import { examples } from './examples.ts';
import { passTime } from './support/passTime.ts';
import { linesOf, openWorld } from './support/world.ts';

const [name = 'promptChaining', dir = fileURLToPath(new URL(`out/${name}`, import.meta.url))] =
  process.argv.slice(2);
const example = examples[name];
if (example === undefined) throw new TypeError(`There is no ${name}. There are: ${Object.keys(examples)}`);
mkdirSync(dir, { recursive: true });

const diesAfter = Number(process.env['GRAPH_DIES_AFTER'] ?? Number.NaN);
const { input, turns, answers = [], approvers = [], signals = {}, model = (prompt) => prompt } = example;
const world = openWorld({
  ledger: join(dir, 'ledger.jsonl'),
  model,
  onEffect: (made) => made === diesAfter && process.kill(process.pid, 'SIGKILL'),
});

const app = example.app(join(dir, 'state.sqlite'), world);
const answered = join(dir, 'answers.jsonl');

async function drive(given: object, options?: { turn: string }) {
  let ran = await passTime(app, await app.run('run', given, options), { signals });
  while (ran.status === 'waiting') {
    for (const id of approvers)
      for (const gate of ran.gates) await app.decide(gate, { approved: true, by: { kind: 'human', id } });
    if (approvers.length === 0) await answer(ran.gates);
    ran = await passTime(app, await app.run('run'), { signals });
  }
  return ran;
}

async function answer(gates: readonly Gate[]) {
  const value = answers[linesOf(answered).length];
  for (const gate of gates) await app.decide(gate, { value, by: { kind: 'human', id: 'you' } });
  appendFileSync(answered, `${JSON.stringify(value)}\n`);
}

try {
  let ran = await drive(input, turns && { turn: 'm-1' });
  for (const [index, next] of (turns ?? []).entries()) ran = await drive(next, { turn: `m-${index + 2}` });
  console.log(JSON.stringify(ran));
} finally {
  app.close();
}
