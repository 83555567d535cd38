// start tea      begins a report, or goes on with it; stops at the gate before `publish`
// approve tea    a person says yes
// Each call to the outside world is a line in out/calls.log. DEEP_AGENT_DIES_AT=6 kills the process at its sixth call.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HumanMessage } from '@langchain/core/messages';
import { research } from './research.ts';
import { openWorld } from './world.ts';

const out = process.env['DEEP_AGENT_OUT'] ?? fileURLToPath(new URL('out', import.meta.url));
const diesAt = Number(process.env['DEEP_AGENT_DIES_AT'] ?? 0);
const app = research(join(out, 'reports.sqlite'), openWorld(out, { latencyMs: 100, diesAt }));

const [verb = 'start', id = 'tea'] = process.argv.slice(2);
const messages = [new HumanMessage({ id: 'ask', content: 'Write a report on green tea.' })];
try {
  if (verb === 'approve') {
    for (const gate of await app.gates(id))
      await app.decide(gate, { approved: true, by: { kind: 'human', id: 'you' } });
    console.log('recorded');
  } else {
    const { status, gates, values } = await app.run(id, { messages });
    const waitingFor = gates.map(({ artifact }) => artifact);
    const files = Object.keys(values?.files ?? {});
    console.log(JSON.stringify({ status, waitingFor, files, said: values?.messages.at(-1)?.text }));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  app.close();
}
