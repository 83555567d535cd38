import type { Approvals } from './approvals.ts';
import type { Deadline } from './deadlines.ts';

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
  { approvals, deadlines }: Pick<ToolCallGate<State>, 'approvals' | 'deadlines'> = {},
): ToolCallGate<State> {
  if (typeof show !== 'function') throw new TypeError('perToolCall() needs a function.');
  return { showCall: show, ...(approvals && { approvals }), ...(deadlines && { deadlines }) };
}

export const isToolCallGate = <State>(gate: object): gate is ToolCallGate<State> => 'showCall' in gate;
