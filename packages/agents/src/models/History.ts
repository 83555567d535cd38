import type { BaseMessageLike } from '@langchain/core/messages';

/** Messages at the end that are shortened last. */
const FRESH = 4;

/** Characters of a tool's answer that is not worth being left out. */
const SHORT = 400;

/** Characters that stay of a recent answer. */
const CUT_TO = 2_000;

/** Characters of one text that a model has written and is sent again with every request. */
const MAX_WRITTEN = 64 * 1024;

/** The messages of a conversation, as the next request sends them. */
export class History {
  readonly #messages: BaseMessageLike[];

  /** @param opening - Messages that always stay. */
  constructor(opening: readonly BaseMessageLike[]) {
    this.#messages = [...opening];
  }

  get messages(): readonly BaseMessageLike[] {
    return this.#messages;
  }

  get length(): number {
    return this.#messages.length;
  }

  /** Characters that are sent, about. */
  get characters(): number {
    return this.#messages.reduce((sum: number, message) => sum + JSON.stringify(message).length, 0);
  }

  /** Whether a request or an answer of a tool has a text. */
  has(text: string): boolean {
    return this.#messages.some((message) => {
      const { role, content } = message as { readonly role?: string; readonly content?: unknown };
      return (role === 'user' || role === 'tool') && typeof content === 'string' && content.includes(text);
    });
  }

  add(...messages: readonly BaseMessageLike[]): void {
    this.#messages.push(...messages.map(withoutBulk));
  }

  /** Drops the messages after a length. */
  truncate(length: number): void {
    this.#messages.length = Math.min(this.#messages.length, length);
  }

  /**
   * Leaves out the older half of the tools' answers, then cuts the newest. The calls stay, so the model knows which files it
   * has read.
   *
   * @returns false if all answers are short.
   */
  shorten(): boolean {
    const long = this.#messages.flatMap((message, at) => (lengthOfAnswer(message) > SHORT ? [at] : []));
    const old = long.filter((at) => at < this.#messages.length - FRESH);
    const gone = old.slice(0, Math.ceil(old.length / 2));
    if (gone.length > 0) {
      for (const at of gone)
        this.#replace(
          at,
          (text) =>
            `[${text.length} characters are left out to make room; use the tool again if you need them]`,
        );
      return true;
    }
    const cut = long.filter((at) => lengthOfAnswer(this.#messages[at]) > 2 * CUT_TO);
    for (const at of cut) this.#replace(at, (text) => cutMiddle(text, CUT_TO));
    return cut.length > 0;
  }

  #replace(at: number, change: (text: string) => string): void {
    const message = this.#messages[at] as unknown as ToolAnswer;
    this.#messages[at] = { ...message, content: change(message.content) };
  }
}

/** As this package writes the answer of a tool. */
interface ToolAnswer {
  readonly role: 'tool';
  readonly content: string;
  readonly tool_call_id: string;
  readonly name: string;
}

function lengthOfAnswer(message: BaseMessageLike | undefined): number {
  const { role, content } = (message ?? {}) as Partial<ToolAnswer>;
  return role === 'tool' && typeof content === 'string' ? content.length : 0;
}

/** The beginning and the end of a text, and how much is missing between them. */
export function cutMiddle(text: string, most: number): string {
  const half = Math.floor(most / 2);
  const missing = text.length - 2 * half;
  if (missing <= 0) return text;
  return `${text.slice(0, half)}\n[${missing} characters are left out here]\n${text.slice(-half)}`;
}

interface Written {
  readonly text?: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly args: object }[];
}

/** Shortens very long texts of a model: each request sends them again. */
function withoutBulk(message: BaseMessageLike): BaseMessageLike {
  const { role } = message as { readonly role?: string };
  if (role === 'tool' || role === 'user' || role === 'system') return message;
  const { text, content, tool_calls: calls = [] } = message as Written;
  const said = text ?? (typeof content === 'string' ? content : '');
  const isLong = said.length > MAX_WRITTEN || calls.some(({ args }) => hasBulk(args));
  if (!isLong) return message;
  return {
    role: 'assistant',
    content: cutMiddle(said, MAX_WRITTEN),
    tool_calls: calls.map(({ id, name, args }) => ({
      ...(id && { id }),
      name,
      args: cutTexts(args),
      type: 'tool_call',
    })),
  } as BaseMessageLike;
}

const hasBulk = (args: object): boolean =>
  Object.values(args).some((value) => typeof value === 'string' && value.length > MAX_WRITTEN);

const cutTexts = (args: object): object =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === 'string' && value.length > MAX_WRITTEN ? cutMiddle(value, CUT_TO) : (value as unknown),
    ]),
  );
