/** Next.js calls it when the server starts, not in `next build`. Runs of a killed server go on without a request. */
export async function register(): Promise<void> {
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return;
  const { agentServer } = await import('./agentServer.ts');
  agentServer();
}
