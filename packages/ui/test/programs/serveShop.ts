// DIR    serves the page of the runs in DIR to one person, and prints the port and the code

import { createUi } from '../../src/createUi.ts';
import { serveOnLoopback } from '../../src/node/serveOnLoopback.ts';
import { OneTimeCodes } from '../../src/session/OneTimeCodes.ts';

const [dir = ''] = process.argv.slice(2);
let code = '';
const by = { kind: 'human', id: 'ada' } as const;
const { identify, signIn } = new OneTimeCodes({ by, onCode: (next) => (code = next) });
const { port } = await serveOnLoopback({
  port: 0,
  handler: (hosts) => createUi({ dir, hosts, identify, signIn }),
});
process.stdout.write(JSON.stringify({ port, code }));
