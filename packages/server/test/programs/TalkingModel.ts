import { setTimeout as sleep } from 'node:timers/promises';
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';

/** What the model says next: words, or a call of a tool. */
export interface Said {
  readonly text?: string;
  readonly calls?: readonly SaidCall[];
}

export interface SaidCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Long enough for a page to show a word before the next one comes, ms. */
const WORD_MS = 40;
const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

/** Says its script word by word, as a model over a network does; answers in the messages are counted. */
export class TalkingModel extends BaseChatModel {
  readonly #script: readonly Said[];
  readonly #asked: (index: number) => void;

  constructor(script: readonly Said[], asked: (index: number) => void) {
    super({ maxRetries: 0 });
    this.#script = script;
    this.#asked = asked;
  }

  _llmType(): string {
    return 'scripted';
  }

  override bindTools() {
    return this.withConfig({});
  }

  #next(messages: readonly BaseMessage[]) {
    const index = messages.filter((message) => message.getType() === 'ai').length;
    this.#asked(index);
    const { text = '', calls = [] } = this.#script[index] ?? { text: 'done' };
    return { id: `said-${index}`, text, calls };
  }

  async _generate(messages: BaseMessage[]) {
    const { id, text, calls } = this.#next(messages);
    const tool_calls = calls.map((call) => ({ ...call, args: { ...call.args }, type: 'tool_call' as const }));
    const message = new AIMessage({ id, content: text, tool_calls, usage_metadata: USAGE } as never);
    return { generations: [{ text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    run?: CallbackManagerForLLMRun,
  ) {
    const { id, text, calls } = this.#next(messages);
    const words = text === '' ? [''] : text.split(/(?= )/);
    for (const word of words) {
      const message = new AIMessageChunk({ id, content: word });
      yield* this.#told(new ChatGenerationChunk({ text: word, message }), run);
      await sleep(WORD_MS);
    }
    const tool_call_chunks = calls.map(({ id: callId, name, args }, index) => ({
      ...{ id: callId, name, args: JSON.stringify(args), index },
      type: 'tool_call_chunk' as const,
    }));
    const fields = { id, content: '', tool_call_chunks, usage_metadata: USAGE };
    const message = new AIMessageChunk(fields as never);
    yield* this.#told(new ChatGenerationChunk({ text: '', message }), run);
  }

  async *#told(chunk: ChatGenerationChunk, run: CallbackManagerForLLMRun | undefined) {
    yield chunk;
    await run?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
  }
}
