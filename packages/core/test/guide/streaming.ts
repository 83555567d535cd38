// The programs of docs/guide/streaming.md.
import { durable, maskStream, step } from '@devs/core/langgraph';
import type { BaseMessage } from '@langchain/core/messages';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { Annotation, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

const Research = Annotation.Root({
  mail: Annotation<string>,
  topic: Annotation<string>,
  notes: Annotation<string>,
});
const builder = new StateGraph(Research).addNode('write', () => ({})).addEdge(START, 'write');
const chat = new StateGraph(MessagesAnnotation).addNode('answer', () => ({})).addEdge(START, 'answer');

declare const mail: string;
declare const messages: BaseMessage[];
declare const signal: AbortSignal;
declare const request: { readonly headers: Readonly<Record<string, string | undefined>> };
declare const response: { write(text: string): void };
declare function show(...words: readonly unknown[]): void;
declare function notify(message: string): void;
declare function send(event: object): void;
declare function trace(...words: readonly unknown[]): void;
declare function search(topic: string): Promise<string>;

export async function first() {
  const app = durable(builder, { file: 'state.sqlite' });
  for await (const event of app.stream('mail-7', { mail }, { streamMode: ['updates', 'custom'] })) {
    if (event.mode === 'updates') show(event.seq, event.data); // { draft: { text: '…' } }
    if (event.mode === 'gate') notify(event.gate.message);
    if (event.mode === 'end') show(event.seq, event.status);
  }
}

export async function tokens() {
  const app = durable(chat, { file: 'state.sqlite' });
  const texts = new Map<string, string>();
  for await (const event of app.stream('chat-1', { messages }, { streamMode: ['messages', 'updates'] })) {
    if (event.mode === 'messages') texts.set(event.task, (texts.get(event.task) ?? '') + event.data);
    if (event.mode === 'restarted') texts.delete(event.task);
    if (event.mode === 'updates') texts.clear(); // the recorded result replaces the tokens
  }
}

export function progress() {
  const read = async ({ topic }: typeof Research.State, { writer }: LangGraphRunnableConfig) => {
    writer?.({ reading: topic });
    return { notes: await step('search', () => search(topic)) };
  };
  return read;
}

export async function reading() {
  const app = durable(builder, { file: 'state.sqlite' });
  for await (const event of app.stream('mail-7', null, { after: 12, signal })) show(event.seq, event.mode);
}

export async function reconnecting() {
  const app = durable(builder, { file: 'state.sqlite' });
  const lastSeen = Number(request.headers['last-event-id'] ?? 0);
  for await (const event of app.stream('mail-7', null, { after: lastSeen, signal }))
    response.write(`id: ${event.seq}\nevent: ${event.mode}\ndata: ${JSON.stringify(event)}\n\n`);
}

export async function masked() {
  const app = durable(builder, { file: 'state.sqlite' });
  for await (const event of maskStream(app.stream('mail-7', null, { signal }))) send(event);
}

export function log() {
  const app = durable(builder, { file: 'state.sqlite' });
  app.events.onAny((name, payload, { threadId }) => trace(name, payload, threadId));
}
