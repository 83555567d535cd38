import { createServer } from '@devs/server';
import { agent } from './agent.ts';
import { personOf } from './people.ts';

const start = () =>
  createServer({
    apps: { agent },
    base: '/api',
    hosts: (process.env['HOSTS'] ?? 'localhost:3000').split(','),
    identify: personOf,
    authorize: ({ id }) => ({ owner: { user: id } }),
    work: true,
  });

const kept = globalThis as { agentServer?: ReturnType<typeof start> };

/**
 * Starts it once. Next.js loads this module several times: for the instrumentation, the route, and again after each change in
 * development.
 */
export const agentServer = (): ReturnType<typeof start> => {
  kept.agentServer ??= start();
  return kept.agentServer;
};
