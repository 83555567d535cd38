/** Where a conversation stands, whatever protocol it came over. */
export interface Turn {
  /** What the client said in words, since it asked for the stage. */
  readonly asked: string;
  /** Names of the tools it offers. */
  readonly tools: readonly string[];
  /** How many of its tools it has carried out and answered for since then. */
  readonly carriedOut: number;
}

/** What the model says to it. */
export type Words =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly input: unknown };

/** The same, or a server that fails: it never answers, or its connection breaks in the middle of an answer. */
export type Say = Words | { readonly kind: 'silence' } | { readonly kind: 'break' };

export type Model = (turn: Turn) => Say;

/** Tokens of every answer; those that were cached are part of the input. */
export const TOKENS: Tokens = { input: 1_000, cached: 400, output: 50 };

export interface Tokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** Parsed JSON of a request, before anything is known about it. */
export type Body = Readonly<Record<string, unknown>>;

/** What goes over the wire: one JSON value, or events of a stream. */
export type Wire =
  | { readonly kind: 'json'; readonly value: unknown }
  | {
      readonly kind: 'events';
      readonly events: readonly { readonly name?: string; readonly data: unknown }[];
    };

/** The request that is answered. */
export interface Asked {
  readonly body: Body;
  readonly path: string;
  /** The same for equal places of a conversation. */
  readonly id: string;
  /** @defaultValue {@link TOKENS} */
  readonly usage?: Tokens;
}

/** How one provider words a conversation. */
export interface Protocol {
  /** Whether a request to this path is one for an answer. */
  readonly asks: (path: string) => boolean;
  readonly keyOf: (headers: Readonly<Record<string, string | string[] | undefined>>) => string;
  readonly read: (body: Body) => Turn;
  readonly word: (say: Words, request: Asked) => Wire;
}

/** What was said since the stage that was asked for last: stages of a task may be one conversation. */
export function sinceStage<Part>(parts: readonly Part[], textOf: (part: Part) => unknown): readonly Part[] {
  const last = parts.findLastIndex((part) => String(textOf(part) ?? '').includes('Stage: '));
  return last === -1 ? parts : parts.slice(last);
}

export const listOf = (value: unknown): readonly Body[] => (Array.isArray(value) ? (value as Body[]) : []);
