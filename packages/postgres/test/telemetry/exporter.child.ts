// URL DIR    a worker, which exports spans and metrics, until it is killed
import { postgres } from '../../src/postgres.ts';
import { Worker } from '../../src/worker/Worker.ts';
import { postsApp } from './postsApp.ts';

const [url = '', dir = ''] = process.argv.slice(2);
process.stdin.once('end', () => process.exit()).resume(); // whoever has started it is gone
// The package that the exporter of OpenTelemetry is installed for.
process.chdir('packages/core');
const runs = postgres({ url, dir });
await Worker.start(runs, { drivers: [postsApp(runs)], slots: 2 });
process.stdout.write('ready\n');
