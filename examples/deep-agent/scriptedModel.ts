import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';

/** What a turn of the model says, or which tools it calls. */
export type Turn = string | readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[];

/** A chat model without a network: its first answer is the first turn of the script, and so on. */
export class ScriptedModel extends BaseChatModel {
  readonly #turns: readonly Turn[];
  readonly #called: (turn: number) => Promise<void>;

  constructor(turns: readonly Turn[], called: (turn: number) => Promise<void>) {
    super({});
    this.#turns = turns;
    this.#called = called;
  }

  _llmType(): string {
    return 'scripted';
  }

  override bindTools() {
    return this.withConfig({});
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const turn = messages.filter((message) => AIMessage.isInstance(message)).length;
    await this.#called(turn + 1);
    const said = this.#turns[turn] ?? 'That is all.';
    const calls = typeof said === 'string' ? [] : said;
    const tool_calls = calls.map(([name, args], index) => ({
      ...{ id: `${name}-${turn + 1}-${index + 1}`, name, args: { ...args } },
      type: 'tool_call' as const,
    }));
    const message = new AIMessage({ content: typeof said === 'string' ? said : '', tool_calls } as never);
    return { generations: [{ text: message.text, message }] };
  }
}
