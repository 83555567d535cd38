import { CallbackManager } from '@langchain/core/callbacks/manager';
import { AIMessageChunk } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { describe, expect, test } from 'vitest';
import { LiveTokens } from '../LiveTokens.ts';
import { ModelVoices } from '../ModelVoices.ts';
import type { StreamEvent } from '../StreamEvent.ts';

const NO_PLACE = { prompt: 0, completion: 0 };

const ASK = { id: 'T1', node: 'ask', step: 1 } as const;
const BESIDE = { id: 'T2', node: 'beside', step: 1 } as const;
const NEXT = { id: 'T3', node: 'next', step: 2 } as const;

/** What models say in tasks, and how far the lasting events are meanwhile. */
class Heard {
  lastSeq = 0;
  woken = 0;
  readonly tokens: LiveTokens;
  readonly readers: Set<LiveTokens>;
  readonly voices: ModelVoices;

  constructor(subgraphs = false) {
    this.tokens = new LiveTokens(subgraphs, {
      lastSeq: () => this.lastSeq,
      wake: () => {
        this.woken += 1;
      },
    });
    this.readers = new Set([this.tokens]);
    this.voices = new ModelVoices(() => this.readers);
  }

  call(runId: string, { id, node }: { id: string; node: string }, tags: readonly string[] = []): void {
    const metadata = { langgraph_checkpoint_ns: `${node}:${id}` };
    this.voices.handleChatModelStart({} as never, [], runId, undefined, {}, [...tags], metadata);
  }

  say(runId: string, ...texts: readonly string[]): void {
    for (const text of texts) this.voices.handleLLMNewToken(text, NO_PLACE, runId);
  }

  end(runId: string, text = ''): void {
    this.voices.handleLLMEnd({ generations: [[{ text }]] }, runId);
  }

  told(before?: number): readonly string[] {
    return this.tokens
      .before(before)
      .map((event: StreamEvent) => (event.mode === 'messages' ? event.data : event.mode));
  }
}

function asked(...tasks: readonly { id: string; node: string; step: number }[]): Heard {
  const heard = new Heard();
  for (const task of tasks) heard.voices.taskBegins(task);
  return heard;
}

describe('words that wait for their reader', () => {
  test('are given before the event that was told after them, once', () => {
    const heard = asked(ASK);
    heard.call('c', ASK);
    heard.say('c', 'one ', 'two ');
    heard.lastSeq = 1;
    heard.say('c', 'three ', 'four ');
    heard.end('c');
    expect([heard.told(1).join(''), heard.told(1)]).toEqual(['one two ', []]);
    expect([heard.told(2).join(''), heard.told()]).toEqual(['three four ', []]);
  });

  test('are the newest ones of those that nobody takes', () => {
    const heard = asked(ASK);
    for (let call = 0; call < 10_050; call += 1) {
      heard.call(`${call}`, ASK);
      heard.end(`${call}`, `word ${call}`);
    }
    const told = heard.told();
    expect(told).toHaveLength(10_000);
    expect([told[0], told.at(-1)]).toEqual(['word 50', 'word 10049']);
    expect(heard.woken).toBe(10_050);
  });
});

describe('a task that begins anew', () => {
  test('makes its words void, and those that come late are not heard', () => {
    const heard = asked(ASK);
    heard.call('c', ASK);
    heard.say('c', 'early ');
    heard.voices.taskBegins(ASK);
    heard.say('c', 'late ');
    heard.end('c', 'late');
    heard.call('d', ASK);
    heard.say('d', 'anew ');
    heard.end('d');
    expect(heard.told()).toEqual(['early ', 'restarted', 'anew ']);
  });

  test('and has said nothing yet is not told', () => {
    const heard = asked(ASK);
    heard.call('c', ASK);
    heard.voices.taskBegins(ASK);
    heard.end('c', 'late');
    heard.call('d', ASK);
    heard.end('d', 'once');
    expect(heard.told()).toEqual(['once']);
  });

  test('leaves the words of the tasks beside it, until the next super-step', () => {
    const heard = asked(ASK, BESIDE);
    heard.call('c', ASK);
    heard.say('c', 'one ');
    heard.call('b', BESIDE);
    heard.say('b', 'beside ');
    heard.voices.taskBegins(BESIDE);
    heard.say('c', 'two ');
    heard.end('c');
    heard.voices.taskBegins(NEXT);
    heard.call('late', ASK);
    heard.end('late', 'nothing');
    heard.call('n', NEXT);
    heard.end('n', 'next');
    expect(heard.told()).toEqual(['one ', 'beside ', 'restarted', 'two ', 'next']);
  });
});

describe('a call of a model', () => {
  test('that says nothing word by word says all of it at its end', () => {
    const heard = asked(ASK);
    heard.call('c', ASK);
    heard.say('c', '', '');
    heard.end('c', 'whole');
    heard.call('d', ASK);
    heard.say('d', 'by ', 'word');
    heard.end('d', 'by word');
    expect(heard.told()).toEqual(['whole', 'by ', 'word']);
  });

  test('that fails has said what it said, and says no more', () => {
    const heard = asked(ASK);
    heard.call('c', ASK);
    heard.say('c', 'half ', 'a wor');
    heard.voices.handleLLMError(new Error('The line is cut.'), 'c');
    heard.say('c', 'd ');
    heard.end('c', 'half a word');
    expect(heard.told().join('')).toBe('half a wor');
  });

  test.each(['nostream', 'langsmith:nostream'])('that is %s is not heard', (tag) => {
    const heard = asked(ASK);
    heard.call('c', ASK, ['mine', tag]);
    heard.end('c', 'quiet');
    expect(heard.told()).toEqual([]);
  });

  test('outside of a task, or in one of another run, is not heard', () => {
    const heard = asked(ASK);
    heard.call('c', NEXT);
    heard.voices.handleChatModelStart({} as never, [], 'd');
    heard.end('c', 'elsewhere');
    heard.end('d', 'nowhere');
    expect(heard.told()).toEqual([]);
  });
});

describe('a piece of a message', () => {
  const piece = (fields: ConstructorParameters<typeof AIMessageChunk>[0]) => {
    const message = new AIMessageChunk(fields);
    return {
      token: message.text,
      fields: { chunk: new ChatGenerationChunk({ message, text: message.text }) },
    };
  };

  test('has the id that the message gets in the state, and the chunks of its tool calls', () => {
    const heard = asked(ASK);
    heard.call('c', ASK);
    const call = { index: 0, id: 'call-1', name: 'mail', args: '{"to":', type: 'tool_call_chunk' } as const;
    const pieces = [
      piece({ content: 'So ' }),
      piece({ content: '', tool_call_chunks: [call] }),
      piece({ content: 'be it' }),
    ];
    for (const { token, fields } of pieces)
      heard.voices.handleLLMNewToken(token, NO_PLACE, 'c', undefined, undefined, fields);
    const told = heard.tokens.before().filter((event) => event.mode === 'messages');
    expect(told.map(({ data }) => data)).toEqual(['So ', '', 'be it']);
    const chunks = told.map(({ chunk }) => chunk as AIMessageChunk);
    expect(chunks.map(({ id }) => id)).toEqual(['run-c', 'run-c', 'run-c']);
    expect(chunks[1]?.tool_call_chunks).toEqual([call]);
    expect(chunks.every((chunk) => AIMessageChunk.isInstance(chunk))).toBe(true);
    expect(pieces[0]?.fields.chunk.message.id).toBeUndefined();
  });

  test('has the id of its provider, also where only the first piece says it', () => {
    const heard = asked(ASK);
    heard.call('c', ASK);
    for (const fields of [
      { content: 'So ', id: 'msg-7' },
      { content: 'be ' },
      { content: 'it', id: 'run-c' },
    ]) {
      const { token, fields: given } = piece(fields);
      heard.voices.handleLLMNewToken(token, NO_PLACE, 'c', undefined, undefined, given);
    }
    const told = heard.tokens.before().flatMap((event) => (event.mode === 'messages' ? event.chunk?.id : []));
    expect(told).toEqual(['msg-7', 'msg-7', 'msg-7']);
  });

  test('has LangGraph’s metadata of the call, and none of the engine’s', () => {
    const heard = asked(ASK);
    const metadata = { langgraph_checkpoint_ns: 'ask:T1', langgraph_node: 'ask', lease_epoch: 3 };
    heard.voices.handleChatModelStart({} as never, [], 'c', undefined, {}, ['mine'], metadata, 'Model');
    heard.end('c', 'whole');
    const [event] = heard.tokens.before();
    expect(event).toMatchObject({ metadata: { tags: ['mine'], name: 'Model', langgraph_node: 'ask' } });
    expect(event).not.toHaveProperty('metadata.lease_epoch');
  });
});

describe('models', () => {
  test('are asked for their words while somebody reads them', () => {
    const heard = asked(ASK);
    expect(heard.voices.lc_prefer_streaming).toBe(true);
    heard.readers.clear();
    expect(heard.voices.lc_prefer_streaming).toBe(false);
  });
});

describe('handlers of a drive', () => {
  test('are the caller’s and this one, in the form they were given in', () => {
    const { voices: tokens } = new Heard();
    const own = { handleLLMEnd: () => {} };
    expect(tokens.among(undefined)).toEqual([tokens]);
    expect(tokens.among([own])).toEqual([own, tokens]);
    const manager = new CallbackManager();
    const both = tokens.among(manager) as CallbackManager;
    expect([manager.handlers, both.handlers]).toEqual([[], [tokens]]);
    expect(both.inheritableHandlers).toEqual([tokens]);
  });
});
