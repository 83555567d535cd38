import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import type { World } from './World.ts';

/** A call of a tool, with its arguments. */
export type Asked = readonly [tool: string, args: Readonly<Record<string, unknown>>];

/** Tools a turn calls; or what is said. */
export type Turn = string | readonly Asked[];

/** Every agent that talks with the model has its own turns, by what it was asked. */
export type Script = Readonly<Record<string, readonly Turn[]>>;

/** A model whose answer follows from what was asked, and from the last answer among the messages. */
export class ScriptedChat extends BaseChatModel {
  readonly #world: World;
  readonly #script: Script;
  readonly #fails: number;

  /** @param fails - Calls of each turn that fail, before it is answered. */
  constructor(world: World, script: Script, fails = 0) {
    super({ maxRetries: 0 });
    this.#world = world;
    this.#script = script;
    this.#fails = fails;
  }

  _llmType(): string {
    return 'scripted';
  }

  override bindTools() {
    return this.withConfig({});
  }

  /** Of a talk that was summed up, the last answers are left. */
  #placeIn(messages: readonly BaseMessage[]): { readonly who: string | undefined; readonly turn: number } {
    const last = messages.findLast((message) => AIMessage.isInstance(message))?.id?.split(' ') ?? [];
    const turn = Number(last.at(-1) ?? -1) + 1;
    const asked = messages.filter((message) => HumanMessage.isInstance(message)).map(({ text }) => text);
    const said = last.slice(0, -1).join(' ');
    const who = Object.keys(this.#script).find((name) => name === said || asked.includes(name));
    return { who, turn };
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const { who, turn } = this.#placeIn(messages);
    const letters = messages.reduce((sum, { text }) => sum + text.length, 0);
    const id = who === undefined ? `of ${letters} letters` : `${who} ${turn}`;
    if (this.#world.isDown(id, this.#fails)) throw new Error(`No answer to ${id}.`);
    const made = await this.#world.call(id);
    const message = messageOf(id, made, who === undefined ? 'In short.' : this.#script[who]?.[turn]);
    return { generations: [{ text: message.text, message }] };
  }
}

function messageOf(id: string, made: string, turn: Turn = 'That is all.'): AIMessage {
  const usage_metadata = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const calls = typeof turn === 'string' ? [] : turn;
  const tool_calls = calls.map(([name, args], index) => ({
    id: `${id}, ${index}`,
    name,
    args: { ...args },
    type: 'tool_call' as const,
  }));
  const content = typeof turn === 'string' ? `${turn} ${made}` : made;
  return new AIMessage({ id, content, tool_calls, usage_metadata } as never);
}
