// The programs of docs/guide/human-approval.md.
import type { Gate, GateAnswer } from '@devs/core/langgraph';
import { durable, perToolCall, shownGate } from '@devs/core/langgraph';
import { Annotation, Command, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

const Post = Annotation.Root({
  topic: Annotation<string>,
  draft: Annotation<string>,
  item: Annotation<string>,
  price: Annotation<number>,
  notes: Annotation<string>,
  isMinor: Annotation<boolean>,
  sum: Annotation<number>,
});
type Mail = typeof Post.State;
type ShopState = typeof Post.State;

const sub = new StateGraph(Post)
  .addNode('publish', () => ({}))
  .addEdge(START, 'publish')
  .compile();
const builder = new StateGraph(Post)
  .addNode('publish', () => ({}))
  .addNode('sell', () => ({}))
  .addNode('release', () => ({}))
  .addNode('sub', sub)
  .addEdge(START, 'publish');
const agent = new StateGraph(MessagesAnnotation).addNode('tools', new ToolNode([])).addEdge(START, 'tools');

declare const by: GateAnswer['by'];
declare const gate: Gate;
declare function show(artifact: unknown): void;
declare function notify(...words: readonly unknown[]): void;
declare function loadCursor(): Promise<string | undefined>;
declare function saveCursor(cursor: string): Promise<void>;
declare function mail(...words: readonly unknown[]): Promise<void>;

export async function first() {
  const app = durable(builder, { file: 'state.sqlite', gates: { publish: ({ draft }) => draft } });
  const { gates } = await app.run('post-42', { topic: 'tea' }); // status: waiting
  return gates;
}

export async function decide() {
  const app = durable(builder, { file: 'state.sqlite' });
  for (const gate of await app.gates('post-42')) {
    show(gate.artifact); // the content
    await app.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
  }
  await app.run('post-42'); // resumes the run
}

export async function inbox() {
  const app = durable(builder, { file: 'state.sqlite' });
  const { gates, next } = await app.openGates({ limit: 20 }); // of every run, oldest first
  return { gates, next };
}

export function sometimes() {
  const app = durable(builder, {
    file: 'state.sqlite',
    gates: { publish: ({ draft, isMinor }) => (isMinor ? undefined : draft) },
  });
  return app;
}

export function back() {
  const app = durable(builder, {
    file: 'state.sqlite',
    gates: {
      publish: { show: ({ draft }) => draft, onReject: (_state, feedback) => ({ notes: feedback ?? '' }) },
    },
  });
  return app;
}

export async function edit() {
  const app = durable(builder, {
    file: 'state.sqlite',
    gates: { publish: { show: ({ draft }) => draft, edit: (_state, edited) => ({ draft: String(edited) }) } },
  });
  await app.decide(gate, { edit: 'A better draft', by });
}

export async function value() {
  const app = durable(builder, {
    file: 'state.sqlite',
    gates: {
      sell: {
        show: ({ item }) => item,
        answer: z.int().positive(),
        onAnswer: (_state, price) => ({ price }),
      },
    },
  });
  await app.decide(gate, { value: 12, by });
}

export async function inside() {
  const app = durable(builder, { file: 'state.sqlite' });
  const ask = ({ draft }: Mail) => {
    const isApproved = interrupt<object, boolean>({ question: 'Send it?', draft });
    return new Command({ goto: isApproved ? 'send' : 'drop' });
  };
  await app.decide(gate, { value: true, by });
  return ask;
}

export function tools() {
  const app = durable(agent, {
    file: 'state.sqlite',
    gates: { tools: perToolCall(({ name, args }) => (name === 'mail' ? args : undefined)) },
  });
  return app;
}

export function several() {
  const app = durable(builder, {
    file: 'state.sqlite',
    gates: {
      release: {
        show: ({ notes }) => notes,
        approvals: { of: ['ada', 'bob', 'eve'], count: 2, notInitiator: true },
      },
    },
  });
  return app;
}

export function deadlines() {
  const app = durable(builder, {
    file: 'state.sqlite',
    gates: {
      publish: {
        show: ({ draft }) => draft,
        deadlines: [
          { within: 4 * HOUR, do: 'remind' },
          { within: DAY, do: { reassign: ['bob'] } },
          { within: 2 * DAY, do: 'reject' },
        ],
      },
    },
  });
  return app;
}

export function notification() {
  const app = durable(builder, { file: 'state.sqlite' });
  app.events.on('HITL_SESSION_OPENED', ({ sessionId, kind }, { threadId }) =>
    notify(threadId, kind, sessionId),
  );
}

export async function reliably(signal: AbortSignal) {
  const app = durable(builder, { file: 'state.sqlite' });
  for await (const { cursor, name, threadId } of app.gateEvents({ after: await loadCursor(), signal })) {
    if (name === 'HITL_SESSION_OPENED' || name === 'GATE_REMINDED')
      await mail(threadId, name, { key: cursor });
    await saveCursor(cursor);
  }
}

export function hidden() {
  const { artifact, hiddenCount } = shownGate(gate);
  return { artifact, hiddenCount };
}

export function within() {
  const app = durable(builder, {
    file: 'state.sqlite',
    gates: { 'sub:publish': ({ sum }: ShopState) => sum },
  });
  return app;
}
