import { HumanMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import { MemoryRuns } from '../../../testing/MemoryRuns.ts';
import { durable } from '../../app/durable.ts';
import type { StreamEvent } from '../../stream/StreamEvent.ts';

const State = Annotation.Root({ said: Annotation<string>() });
const TOKENS = { streamMode: ['messages', 'updates'] } as const;
const NEVER = new AbortController().signal;

/** Says its words letter by letter, and counts how often it was asked for them so. */
class Speaker extends FakeListChatModel {
  streamed = 0;

  override _streamResponseChunks(...asked: Parameters<FakeListChatModel['_streamResponseChunks']>) {
    this.streamed += 1;
    return super._streamResponseChunks(...asked);
  }
}

const speaker = (said: string): Speaker => new Speaker({ responses: [said], sleep: 0 });

/** @param ended - Awaited between the words of the model and the end of the node. */
const asking = (model: Speaker, ended: () => Promise<void> = async () => {}) =>
  new StateGraph(State)
    .addNode('ask', async () => {
      const { text } = await model.invoke([new HumanMessage('Say it.')]);
      await ended();
      return { said: text };
    })
    .addEdge(START, 'ask')
    .addEdge('ask', END);

type App = ReturnType<typeof appOf>;
const appOf = (runs: MemoryRuns, model: Speaker, ended?: () => Promise<void>) =>
  durable(asking(model, ended), { runs, graph: 'ask' });

/** As a worker does. */
async function drive(app: App, runs: MemoryRuns): Promise<void> {
  const held = await runs.hold('run');
  try {
    await held.settle(await app.drive(held, { drain: NEVER, signal: NEVER }));
  } finally {
    await held.close();
  }
}

/** Reads a run that another process drives. */
async function readAll(app: App, heard: StreamEvent[] = []): Promise<readonly StreamEvent[]> {
  for await (const event of app.stream('run', null, TOKENS)) heard.push(event);
  return heard;
}

const wordsOf = (events: readonly StreamEvent[]): string =>
  events.map((event) => (event.mode === 'messages' ? event.data : '')).join('');

/** Says when somebody has begun to listen. */
class ListenedRuns extends MemoryRuns {
  #tell: () => void = () => undefined;
  readonly heard = new Promise<void>((resolve) => {
    this.#tell = resolve;
  });

  override async hear(...asked: Parameters<MemoryRuns['hear']>): Promise<() => void> {
    const end = await super.hear(...asked);
    this.#tell();
    return end;
  }
}

describe('the words of a model in another process', () => {
  test('come one by one, before the result of their task, and are not kept', async () => {
    const runs = new ListenedRuns();
    const app = appOf(runs, speaker('The tea is ready'));
    await app.start('run', {});
    const reading = readAll(app);
    await runs.heard;
    await drive(app, runs);
    const events = await reading;
    expect(wordsOf(events)).toBe('The tea is ready');
    const letters = [...'The tea is ready'].length;
    expect(events.map(({ mode }) => mode)).toEqual([...Array(letters).fill('messages'), 'updates', 'end']);
    expect(events[0]).toMatchObject({ ns: [], node: 'ask', step: 1, attempt: 1, piece: 0 });
    expect(events[0]).toHaveProperty('chunk.content', 'T');
    expect(events[0]).toHaveProperty('metadata.langgraph_node', 'ask');
    expect((await readAll(app)).map(({ mode }) => mode)).toEqual(['updates', 'end']);
    await app.close();
  });

  test('are not asked for where nobody listens', async () => {
    const runs = new MemoryRuns();
    const model = speaker('quiet');
    const app = appOf(runs, model);
    await app.start('run', {});
    await drive(app, runs);
    expect(model.streamed).toBe(0);
    await app.close();
  });

  test('are void when another process goes on, and those of the one before are not heard any more', async () => {
    const runs = new ListenedRuns();
    let hasDied = (): void => undefined;
    const spoken = new Promise<void>((resolve) => {
      hasDied = resolve;
    });
    let goOn = (): void => undefined;
    const thawed = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const first = appOf(runs, speaker('first words'), async () => {
      hasDied();
      await thawed;
    });
    await first.start('run', {});
    const heard: StreamEvent[] = [];
    const reading = readAll(first, heard);
    await runs.heard;
    const dying = drive(first, runs).catch(() => undefined);
    await spoken;
    await expect.poll(() => wordsOf(heard)).toBe('first words');
    runs.free('run');
    await drive(appOf(runs, speaker('second words')), runs);
    const events = await reading;
    goOn();
    await dying;
    const restarted = events.findIndex(({ mode }) => mode === 'restarted');
    expect(wordsOf(events.slice(0, restarted))).toBe('first words');
    expect(wordsOf(events.slice(restarted))).toBe('second words');
    expect(events.at(-1)).toMatchObject({ mode: 'end', status: 'completed' });
    await first.close();
  });
});
