// state.sqlite ledger.jsonl 8080    one process of the service; start as many as you like over one file
import { serve } from '@hono/node-server';
import { ledgerCall, openPosts } from './posts.ts';
import { service } from './service.ts';

const [file = 'state.sqlite', ledger = 'ledger.jsonl', port = '8080'] = process.argv.slice(2);

const app = openPosts(file, ledgerCall(ledger));
const leaving = new AbortController();
const http = service(app, leaving.signal);
// Executes runs that any process started or answered, and runs of a process that died.
const worked = app.work({ concurrency: 20, signal: leaving.signal, onError: console.error });
const server = serve({ fetch: http.fetch, hostname: '127.0.0.1', port: Number(port) }, (at) =>
  console.log(`http://${at.address}:${at.port}`),
);

process.once('SIGTERM', () => void leave());

/** What is in flight ends, each run stops at its next safe point, and readers connect to another process. */
async function leave(): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  leaving.abort();
  await worked;
  if ('closeAllConnections' in server) server.closeAllConnections();
  await closed;
  app.close();
}
