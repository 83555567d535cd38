import { BaseChatModel, type BaseChatModelCallOptions } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import type { World } from './world.ts';

/** What a turn of the model says, or which tool it calls. */
export type Turn = string | { readonly tool: string; readonly args: Readonly<Record<string, unknown>> };

interface CallOptions extends BaseChatModelCallOptions {
  /** Sent along as a real provider's idempotency key would be. */
  readonly key?: string;
}

/** A chat model without a network: its first answer is the first turn of the script, and so on. */
export class ScriptedChatModel extends BaseChatModel<CallOptions> {
  readonly #world: World;
  readonly #script: readonly Turn[];

  constructor(world: World, script: readonly Turn[]) {
    super({});
    this.#world = world;
    this.#script = script;
  }

  _llmType(): string {
    return 'scripted';
  }

  override bindTools(): this {
    return this;
  }

  async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    const turn = messages.filter((message) => AIMessage.isInstance(message)).length;
    const message = messageOf(this.#script[turn] ?? 'That is all.', turn);
    const generations = [{ text: message.text, message }];
    return this.#world.call(`model: turn ${turn + 1}`, options.key ?? '', { generations });
  }
}

function messageOf(said: Turn, turn: number): AIMessage {
  const id = `turn-${turn + 1}`;
  if (typeof said === 'string') return new AIMessage({ id, content: said });
  const call = {
    id: `call-${turn + 1}`,
    name: said.tool,
    args: { ...said.args },
    type: 'tool_call' as const,
  };
  return new AIMessage({ id, content: '', tool_calls: [call] });
}
