// The programs of docs/guide/webhooks-and-schedules.md.
import { durable } from '@devs/core/langgraph';
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const MINUTE = 60 * 1000;

const Post = Annotation.Root({ draft: Annotation<string> });
const builder = new StateGraph(Post).addNode('publish', () => ({})).addEdge(START, 'publish');

declare const teamSecret: string;
declare const chatUrl: string;

export function webhooks() {
  const app = durable(builder, {
    file: 'state.sqlite',
    name: 'posts',
    gates: { publish: ({ draft }) => draft },
    webhooks: {
      team: { url: 'https://hooks.example.org/devs', secret: teamSecret },
      chat: {
        url: chatUrl,
        events: ['GATE_REMINDED'],
        body: ({ run }) => ({ text: `${run} waits` }),
      },
    },
  });
  return app;
}

type App = ReturnType<typeof webhooks>;

export async function named(app: App) {
  await app.start('post-42', { draft: '' }, { webhook: 'team' });
}

export async function schedules(app: App) {
  await app.schedule('report', { cron: '0 8 * * 1-5', timeZone: 'Europe/Berlin' }, { draft: 'sales' });
  await app.schedule('poll', { every: 15 * MINUTE, overlap: 'wait' }, { draft: 'inbox' });
}
