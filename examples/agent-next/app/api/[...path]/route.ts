import { createServer } from '@devs/server';
import { agent } from '../../../agent.ts';
import { personOf } from '../../../people.ts';

/** SQLite needs Node.js, and each answer is new. */
export const runtime = 'nodejs';
export const dynamic = 'force-dynamic';

const start = () =>
  createServer({
    apps: { agent },
    base: '/api',
    hosts: (process.env['HOSTS'] ?? 'localhost:3000').split(','),
    identify: personOf,
    authorize: ({ id }) => ({ owner: { user: id } }),
    work: true,
  });

/** In development Next.js loads this module again after each change: the server stays, and executes the runs once. */
const kept = globalThis as { agentServer?: ReturnType<typeof start> };
kept.agentServer ??= start();
const handle = kept.agentServer;

export { handle as DELETE, handle as GET, handle as PATCH, handle as POST, handle as PUT };
