import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';

/** The n-th answer of the model. */
export type Said = { readonly text?: string; readonly calls?: readonly ScriptedCall[] };

export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Gives the next answer of its script, word by word; the answers in the messages are counted. */
export class ScriptedModel extends BaseChatModel {
  readonly #script: readonly (Said | Error)[];
  readonly #asked: (index: number, messages: readonly BaseMessage[]) => void;

  constructor(
    script: readonly (Said | Error)[],
    asked: (index: number, messages: readonly BaseMessage[]) => void = () => {},
  ) {
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

  #answer(messages: readonly BaseMessage[]) {
    const index = messages.filter((message) => message.getType() === 'ai').length;
    this.#asked(index, messages);
    const said = this.#script[index] ?? { text: 'done' };
    if (said instanceof Error) throw said;
    const { text = '', calls = [] } = said;
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
    return { id: `said-${index}`, text, calls, usage };
  }

  async _generate(messages: BaseMessage[]) {
    const { id, text, calls, usage } = this.#answer(messages);
    const tool_calls = calls.map((call) => ({ ...call, args: { ...call.args }, type: 'tool_call' as const }));
    const fields = { id, content: text, tool_calls, usage_metadata: usage };
    const message = new AIMessage(fields as never);
    return { generations: [{ text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    run?: CallbackManagerForLLMRun,
  ) {
    const { id, text, calls, usage } = this.#answer(messages);
    for (const word of text === '' ? [''] : text.split(/(?= )/)) {
      const chunk = new ChatGenerationChunk({
        text: word,
        message: new AIMessageChunk({ id, content: word }),
      });
      yield chunk;
      await run?.handleLLMNewToken(word, undefined, undefined, undefined, undefined, { chunk });
    }
    const tool_call_chunks = calls.map(({ id: callId, name, args }, index) => ({
      ...{ id: callId, name, args: JSON.stringify(args), index },
      type: 'tool_call_chunk' as const,
    }));
    const fields = { id, content: '', tool_call_chunks, usage_metadata: usage };
    const message = new AIMessageChunk(fields as never);
    const last = new ChatGenerationChunk({ text: '', message });
    yield last;
    await run?.handleLLMNewToken('', undefined, undefined, undefined, undefined, { chunk: last });
  }
}
