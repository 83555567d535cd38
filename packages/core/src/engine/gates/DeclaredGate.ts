import { type OptionNames, withKnownNames } from '../../config/knownOptions.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { NodeUpdate } from '../execution/nodeExecution.ts';
import type { GateComment } from './answerForms.ts';

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

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Who has to say yes at a gate, besides anybody once. Fixed with a run when it is started. */
export interface Approvals {
  /** Ids of the humans who may. @defaultValue every human */
  readonly of?: readonly string[];
  /**
   * How many of them have to; each says yes once, and one no rejects. More than one without `of` is warned about: whoever may
   * decide can then say yes under several names.
   *
   * @defaultValue 1
   */
  readonly count?: number;
  /** Whoever started the run may not: `run(id, input, { by })`. @defaultValue false */
  readonly notInitiator?: boolean;
}

/** The same, as it is recorded with a run. */
export interface RecordedApprovals {
  readonly count: number;
  readonly of?: readonly string[];
  /** Who started the run, such as `human:ada`, where they may not. */
  readonly not?: string;
}

/** What is done about a gate that nobody has decided in time, once. */
export interface Deadline {
  /** Milliseconds from when the gate was opened. */
  readonly within: number;
  /** Tell of it again, tell that others are to decide, or decide it. */
  readonly do: 'remind' | 'reject' | 'approve' | { readonly reassign: readonly string[] };
}

/** What a declared gate takes besides one yes or no; a gate without any of it has none. Part of its question. */
export interface AnswerPolicy {
  /** The name the gate was declared under. */
  readonly gate: string;
  /** A version of one's own, of what is shown or of the arguments of a tool call: `{ edit }`. */
  readonly edit?: 'artefact' | 'args';
  /** `{ value }`, and no `{ approved: true }`. */
  readonly value?: true;
  readonly approvals?: RecordedApprovals;
  /** What is done when nobody has decided in time, the earliest first. */
  readonly deadlines?: readonly Deadline[];
}

/** What the gate of a session takes besides. */
export function answerPolicyOf({ question }: Pick<HitlSession, 'question'>): Partial<AnswerPolicy> {
  return (question as { readonly takes?: AnswerPolicy } | null)?.takes ?? {};
}

/** Whether a policy could answer it with a plain yes. */
export function allowsPlainYes(session: Pick<HitlSession, 'question'>): boolean {
  const { value, approvals } = answerPolicyOf(session);
  return value === undefined && approvals === undefined;
}

/** A call a model asks for, as its message carries it. */
export interface GatedToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly id?: string | undefined;
}

type ShowCall<State> = (call: GatedToolCall, state: State) => unknown;

/** A gate before a node of tools that asks for each call on its own. */
export interface ToolCallGate<State> {
  readonly showCall: ShowCall<State>;
  readonly approvals?: Approvals;
  readonly deadlines?: Deadline | readonly Deadline[];
}

type ToolCallRules<State> = Pick<ToolCallGate<State>, 'approvals' | 'deadlines'>;

const RULES = { approvals: true, deadlines: true } satisfies OptionNames<ToolCallRules<never>>;

/**
 * Asks before each tool call of a `ToolNode`, in parallel. The node runs after all calls are answered: approved calls
 * as they are, edited ones (`decide(gate, { edit: args, by })`) with those arguments. For a rejected one, the model
 * receives a message with the feedback.
 *
 * @param show - Content for the person, plain JSON. Return `undefined` to skip this call. @defaultValue its tool and
 *   arguments
 *
 * @example
 * ```ts
 * durable(agent, { file, gates: { tools: perToolCall(({ name, args }) => (name === 'mail' ? args : undefined)) } });
 * ```
 */
export function perToolCall<State>(
  show: ShowCall<State> = ({ name, args }) => ({ tool: name, args }),
  rules: ToolCallRules<State> = {},
): ToolCallGate<State> {
  const { approvals, deadlines } = withKnownNames('perToolCall()', rules, RULES);
  if (typeof show !== 'function') throw new TypeError('perToolCall() needs a function.');
  return { showCall: show, ...(approvals && { approvals }), ...(deadlines && { deadlines }) };
}

export const isToolCallGate = <State>(gate: object): gate is ToolCallGate<State> => 'showCall' in gate;
