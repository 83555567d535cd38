// Casts a vote, and dies at the given look at the clock, which the vote, the decision and their events take.
import { ada, says, twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import { durable } from '../../src/engine/durable.ts';

const [file = '', voter = '', dieAt = ''] = process.argv.slice(2);
let looks = Number.NaN;
const now = (): number => {
  looks += 1;
  if (looks === Number(dieAt)) process.kill(process.pid, 'SIGKILL');
  return Date.now();
};
const approvals = { of: ['ada', 'bob', 'eve'], count: 2 };
const gates = { second: { show: ({ log }: { log: readonly string[] }) => log, approvals } };
const app = durable(twoSteps(says('built'), says('released')), { file, now, gates });
const { gates: open } = await app.run('run', {}, { by: ada });
looks = 0;
for (const gate of open) await app.decide(gate, { approved: true, by: { kind: 'human', id: voter } });
app.close();
