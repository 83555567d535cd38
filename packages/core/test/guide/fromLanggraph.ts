// The programs of docs/guide/from-langgraph.md.
import { durable, type Principal } from '@devs/core/langgraph';
import { Annotation, Command, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import Database from 'better-sqlite3';

const Post = Annotation.Root({ topic: Annotation<string>, answer: Annotation<string> });

export const builder = new StateGraph(Post)
  .addNode('ask', ({ topic }) => ({ answer: interrupt<string, string>(`Post about ${topic}?`) }))
  .addEdge(START, 'ask');

const config = { configurable: { thread_id: 'post-42' } };

/** A new run to its end. */
export async function begin(by: Principal) {
  const app = durable(builder, { file: 'state.sqlite' }); // was builder.compile({ checkpointer })
  const { status, gates } = await app.run('post-42', { topic: 'tea' }); // was graph.invoke(input, config)
  for (const gate of gates) await app.decide(gate, { value: 'yes', by }); // was new Command({ resume: 'yes' })
  await app.run('post-42');
  const values = await app.values('post-42');
  await app.close();
  return { status, values };
}

/** A thread that waits in a file, carried over. */
export async function carryOver(file: string, by: Principal) {
  const app = durable(builder, { file });
  const old = new SqliteSaver(new Database('checkpoints.sqlite', { readonly: true }));
  const { result, gates: open } = await app.importThread('post-42', { saver: old, by });
  old.db.close();
  await app.close();
  return { result, open };
}

/** The run that waits there, taken away again. */
export async function goBack(file: string, saver: BaseCheckpointSaver) {
  const app = durable(builder, { file });
  const graph = builder.compile({ checkpointer: saver });
  const { interrupts } = await app.exportThread('post-42', { saver });
  for (const { id } of interrupts) await graph.invoke(new Command({ resume: { [id]: 'yes' } }), config);
  await app.close();
  return graph.getState(config);
}
