// Starts a run, and waits for its end: `node start.js mail-7 Ada`.
import { app } from './app.js';

const [id, to] = process.argv.slice(2);
await app.start(id, { to }, { tenant: 'acme' }); // records it, and returns
console.log(`${id} is recorded`);
const { status, values } = await app.result(id, { wait: true });
console.log(status, values);
await app.close();
