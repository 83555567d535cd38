import type { StateUpdate } from '../channels.ts';
import type { Approvals } from './approvals.ts';
import type { GateComment } from './comments.ts';
import type { Deadline } from './deadlines.ts';
import type { ToolCallGate } from './perToolCall.ts';

/**
 * A gate an author declared in front of a node. Its functions are pure: the node is entered again whenever it is resumed,
 * and asks the same.
 */
export interface DeclaredGate<State, Value = unknown, Update = StateUpdate<State>> {
  /** What the human reads; plain JSON. An answer counts while it shows the same. `undefined`: nobody is asked. */
  readonly show: (state: State) => unknown;
  /** The node's update when the human says no, and what they say about single places. Without it, a rejection cancels the run. */
  readonly onReject?: (
    state: State,
    feedback: string | undefined,
    comments: readonly GateComment[],
  ) => Update;
  /**
   * What a human's own version of what was shown changes in the state: the node is given it, and it is written with what
   * the node writes. Without it, no version is taken.
   */
  readonly edit?: (state: State, artifact: unknown) => Update;
  /** A yes is a value that fits: `{ value }` is answered in place of `{ approved: true }`. */
  readonly answer?: AnswerSchema<Value>;
  /** What that value changes in the state, as `edit` does. */
  readonly onAnswer?: (state: State, value: Value) => Update;
  /** Who may say yes, and how many have to. @defaultValue any human, one */
  readonly approvals?: Approvals;
  /** What is done when nobody has decided in time. @defaultValue it waits for ever */
  readonly deadlines?: Deadline | readonly Deadline[];
}

/** What a human must approve before a node runs: a function of the state, or more than that. */
export type GateOf<State, Value = unknown, Update = StateUpdate<State>> =
  | DeclaredGate<State>['show']
  | DeclaredGate<State, Value, Update>
  | ToolCallGate<State>;

/** What gates are answered with, by the nodes they are before: `sub:publish` is node `publish` of the graph that is node `sub`. */
export type AnswersAt<Name extends string> = { readonly [Node in Name | `${Name}:${string}`]?: unknown };

/** Gates by the nodes they are before. The state of a graph inside is what its gate says it is. */
export type GatesBefore<State, Name extends string, Answers> = {
  readonly [Node in keyof Answers]?: string extends Node
    ? GateOf<State, Answers[Node]>
    : Node extends Name
      ? GateOf<State, Answers[Node]>
      : Node extends `${Name}:${string}`
        ? GateOf<never, Answers[Node], object>
        : never;
};

/** Zod, or any other schema of the Standard Schema kind that answers at once. */
export interface AnswerSchema<Value> {
  readonly '~standard': {
    readonly validate: (value: unknown) => Validated<Value> | Promise<Validated<Value>>;
    readonly types?: { readonly input: unknown; readonly output: Value } | undefined;
  };
}

export type Validated<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

export interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
