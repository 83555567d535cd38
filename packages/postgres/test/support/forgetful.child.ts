import { startPostgres } from './startPostgres.ts';

// A server, and then nothing: who started this program kills it.
const { url } = await startPostgres();
process.stdout.write(`${url}\n`);
