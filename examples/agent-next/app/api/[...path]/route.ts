import { agentServer } from '../../../agentServer.ts';

/** SQLite needs Node.js, and each answer is new. */
export const runtime = 'nodejs';
export const dynamic = 'force-dynamic';

/** `next build` loads this module, too: only a request starts the server. */
const handle = (request: Request): Promise<Response> => agentServer()(request);

export { handle as DELETE, handle as GET, handle as PATCH, handle as POST, handle as PUT };
