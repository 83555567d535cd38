// streaming            prints what a run of the example streams, while another process drives it or afterwards
// streaming out/one 4  of the run in that folder, from its fifth event on: where a page was that is loaded again
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { examples } from './examples.ts';
import { openWorld } from './support/world.ts';

const [name = 'streaming', dir = fileURLToPath(new URL(`out/${name}`, import.meta.url)), after = '0'] =
  process.argv.slice(2);
const example = examples[name];
if (example === undefined) throw new TypeError(`There is no ${name}. There are: ${Object.keys(examples)}`);

const world = openWorld({ ledger: join(dir, 'ledger.jsonl'), model: String });
const app = example.app(join(dir, 'state.sqlite'), world);
try {
  const options = { streamMode: ['updates', 'custom'], after: Number(after) } as const;
  for await (const event of app.stream('run', null, options)) console.log(JSON.stringify(event));
} finally {
  app.close();
}
