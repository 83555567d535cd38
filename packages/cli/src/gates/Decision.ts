import type { ChoiceName, GateAnswerForm } from './gateLabels.ts';
import type { NamedGate } from './resolveGate.ts';

export interface Decision {
  readonly choice: ChoiceName;
  readonly answer: GateAnswerForm;
}

/** What a human says about a gate; `null` for nothing. */
export type Decide = (gate: NamedGate) => Decision | null | Promise<Decision | null>;
