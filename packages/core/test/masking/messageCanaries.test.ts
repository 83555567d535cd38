import { Document } from '@langchain/core/documents';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { durable } from '../../src/engine/durable.ts';
import { step } from '../../src/engine/node/step.ts';
import { maskPreciseDeep } from '../../src/masking/maskPrecise.ts';
import { test } from '../support/fixtures.ts';
import { bytesOf, textsOf } from './readEverything.ts';

/** A canary that the precise rules claim, another one for each place. */
const canaries: string[] = [];
function canary(): string {
  const made = `ghp_${String(canaries.length + 1).padStart(36, 'c7Q')}`;
  canaries.push(made);
  return made;
}

const aMessage = () =>
  new AIMessage({
    id: 'ai',
    content: [{ type: 'text', text: `The key is ${canary()}.` }],
    tool_calls: [{ name: 'push', args: { deep: [{ token: canary() }] }, id: 'call', type: 'tool_call' }],
    additional_kwargs: { reasoning: canary() },
    response_metadata: { headers: { authorization: canary() } },
  });

const aToolMessage = () =>
  new ToolMessage({
    id: 'tool',
    content: canary(),
    tool_call_id: 'call',
    artifact: { raw: [canary()], rows: new Map([[canary(), { at: new Date(0), by: canary() }]]) },
  });

const aDocument = () =>
  new Document({ pageContent: canary(), metadata: { source: `https://ada:${canary()}@example.org` } });

const held = () => ({
  message: aMessage(),
  tool: aToolMessage(),
  document: aDocument(),
  map: new Map([[canary(), new Set([canary()])]]),
  error: new Error(canary(), { cause: new TypeError(canary()) }),
});

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  held: Annotation<unknown>(),
  stepped: Annotation<unknown>(),
  commanded: Annotation<unknown>(),
});

describe('a secret in a message, a document, a map or an error', () => {
  test('is in no table of the file, and the program gets instances of the same classes', async ({
    db,
    dbPath,
  }) => {
    const given = held();
    const seen: ReturnType<typeof held>[] = [];
    const builder = new StateGraph(State)
      .addNode('work', async () => {
        const stepped = await step('call', held);
        seen.push(stepped);
        return { messages: [aMessage(), aToolMessage(), new HumanMessage(canary())], held: given, stepped };
      })
      .addNode('command', () => new Command({ goto: 'ask', update: { commanded: held() } }), {
        ends: ['ask'],
      })
      .addNode('ask', ({ commanded }) => {
        seen.push(commanded as ReturnType<typeof held>);
        interrupt({ map: canary() });
        return {};
      })
      .addEdge(START, 'work')
      .addEdge('work', 'command')
      .addEdge('ask', END);
    const app = durable(builder, { db });
    const { status, values } = await app.run('run', { messages: [aMessage()], held: held() });
    expect(status).toBe('suspended');

    expect(canaries.length).toBeGreaterThan(50);
    const texts = `${textsOf(db)}\n${bytesOf(dbPath).toString('latin1')}`;
    expect(canaries.filter((secret) => texts.includes(secret))).toEqual([]);

    expect(seen).toHaveLength(2);
    for (const got of [...seen, values?.held as ReturnType<typeof held>]) {
      expect(got.message).toBeInstanceOf(AIMessage);
      expect(got.message.text).toBe('The key is [REDACTED:github].');
      expect(got.message.tool_calls).toMatchObject([{ args: { deep: [{ token: '[REDACTED:github]' }] } }]);
      expect(got.tool).toBeInstanceOf(ToolMessage);
      expect(got.document).toBeInstanceOf(Document);
      expect(got.map).toBeInstanceOf(Map);
      expect(got.error).toBeInstanceOf(Error);
    }
    expect(values?.messages.map(({ type }) => type)).toEqual(['ai', 'tool', 'human']);
    expect(given.message.additional_kwargs, 'what the program has stays as it is').toMatchObject({
      reasoning: expect.stringContaining('ghp_'),
    });
  });

  test('is counted once, and a clean instance is the same', () => {
    const clean = new AIMessage({ content: 'clean', additional_kwargs: { a: 1 } });
    expect(maskPreciseDeep(clean)).toEqual({ value: clean, count: 0 });
    expect(maskPreciseDeep(clean).value).toBe(clean);
    expect(maskPreciseDeep(new HumanMessage(canary())).count).toBe(1);
    expect(maskPreciseDeep(aMessage()).count).toBe(4);
  });
});
