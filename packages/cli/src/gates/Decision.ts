import type { Answer, ChoiceName } from './gateWords.ts';
import type { NamedGate } from './resolveGate.ts';

export interface DecideOptions {
  readonly by?: string;
  /** Beginning of the hash that was read; when left out, the version this user was shown last. */
  readonly hash?: string;
}

export interface Decision {
  readonly choice: ChoiceName;
  readonly answer: Answer;
}

/** What a human says about a gate; `null` for nothing. */
export type Decide = (gate: NamedGate) => Decision | null | Promise<Decision | null>;
