import type { NodeUpdate } from '../channels.ts';
import type { Approvals } from './approvals.ts';
import type { GateComment } from './comments.ts';
import type { Deadline } from './deadlines.ts';
import type { ToolCallGate } from './perToolCall.ts';

/** A gate before a node. Its functions must be pure: the node runs again on every resume and must ask the same question. */
export interface DeclaredGate<State, Value = unknown, Update = NodeUpdate<State>> {
  /**
   * Content shown to the person, as plain JSON. An answer is valid only for this content. Return `undefined` to skip
   * the gate.
   */
  readonly show: (state: State) => unknown;
  /**
   * Returns the update after a rejection, instead of running the node. Without it, a rejection ends the run as
   * cancelled.
   */
  readonly onReject?: (
    state: State,
    feedback: string | undefined,
    comments: readonly GateComment[],
  ) => Update;
  /**
   * Returns the update for a person's edited version. The node receives it, and it is written together with the node's
   * output. Without it, edits are rejected.
   */
  readonly edit?: (state: State, artifact: unknown) => Update;
  /** Schema of a value. The gate then accepts `{ value }` instead of `{ approved: true }`. */
  readonly answer?: AnswerSchema<Value>;
  /** Returns the update for that value, like `edit`. */
  readonly onAnswer?: (state: State, value: Value) => Update;
  /** The approvers, and how many must approve. @defaultValue one person, anybody */
  readonly approvals?: Approvals;
  /** Actions if the gate is not decided in time. @defaultValue the gate waits without a limit */
  readonly deadlines?: Deadline | readonly Deadline[];
}

/** What a human must approve before a node runs: a function of the state, or more than that. */
export type GateOf<State, Value = unknown, Update = NodeUpdate<State>> =
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
