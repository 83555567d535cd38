import { publishing } from '../../../examples/own-graph/publishing.ts';

/** A run of the example of a graph of one's own, at its gate. The caller closes its app. */
export async function waitingPost(file: string): Promise<ReturnType<typeof publishing>> {
  const app = publishing(file, {
    model: async (prompt) => `${prompt}, in three lines`,
    publish: async () => 'https://example.org/green-tea',
    announce: async () => undefined,
  });
  await app.run('post-42', { topic: 'green tea' });
  return app;
}
