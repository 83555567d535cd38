// Drives what is due until a gate reminds, and dies as its listener is told: the reminder is committed, and nobody has heard it.
import { durable } from '../../src/engine/app/durable.ts';
import { remindedGraph } from './remindedGraph.ts';

const [file = '', id = ''] = process.argv.slice(2);
const app = durable(remindedGraph(), {
  file,
  gates: { publish: { show: () => 'a post', deadlines: { within: 1, do: 'remind' } } },
});
app.events.on('GATE_REMINDED', () => process.kill(process.pid, 'SIGKILL'));
await app.run(id, {}, { wait: true });
