// state.sqlite post-42    starts a run that waits at a gate, and sends its events until Ctrl-C
import { durable } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { slack } from './slack.ts';

const [file = 'state.sqlite', id = 'post-42'] = process.argv.slice(2);
const { MAIL_URL = 'http://127.0.0.1:8090', SECRET, SLACK_URL } = process.env;
if (SECRET === undefined) throw new Error('Set SECRET, and start mail.ts with the same one.');

const Post = Annotation.Root({ draft: Annotation<string> });
const builder = new StateGraph(Post)
  .addNode('write', () => ({ draft: 'Green tea wakes you up.' }))
  .addNode('publish', () => ({}))
  .addEdge(START, 'write')
  .addEdge('write', 'publish')
  .addEdge('publish', END);

const app = durable(builder, {
  file,
  name: 'posts',
  gates: {
    publish: { show: ({ draft }) => draft, deadlines: { within: 60_000, do: 'remind' } },
  },
  webhooks: {
    mail: { url: MAIL_URL, secret: SECRET },
    ...(SLACK_URL !== undefined && { slack: slack(SLACK_URL, 'http://localhost:7430') }),
  },
});

const leaving = new AbortController();
process.once('SIGINT', () => leaving.abort());
await app.start(id, { draft: '' });
await app.work({ signal: leaving.signal });
app.close();
