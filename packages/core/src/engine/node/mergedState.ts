import type { GuardedState } from '../channels.ts';
import type { GraphProfile, NodeUpdate } from '../GraphProfile.ts';

type StateFields = Readonly<Record<string, unknown>>;

/**
 * What a node is given, with an update: the very value when there is nothing to add. What is no plain object, such as
 * the payload of a `Send`, stays as it is beside it.
 */
export function mergedState<State extends object>(state: State, update: object): State {
  for (const _any in update) return { ...fieldsOf(state), ...update } as State;
  return state;
}

/** A state as a record, for the journal; what is no plain object is its field `input`. */
export function fieldsOf(state: unknown): Record<string, unknown> {
  if (typeof state !== 'object' || state === null) return { input: state };
  const prototype: unknown = Object.getPrototypeOf(state);
  return prototype === Object.prototype || prototype === null ? { ...state } : { input: state };
}

/** The part of an update that belongs to the author's graph. */
export function withoutGuards<State>(
  update: NodeUpdate<State>,
  profile: Pick<GraphProfile<State>, 'declaresGuards'>,
): StateFields {
  if (profile.declaresGuards === true) return update as StateFields;
  const { pendingSuspension: _question, progressStep: _mark, ...own } = update as GuardedState & StateFields;
  return own;
}

/** The part of an update that belongs to the engine, where the graph does not declare it itself. */
export function guardsAmong<State>(
  update: GuardedState,
  profile: Pick<GraphProfile<State>, 'declaresGuards'>,
): GuardedState {
  if (profile.declaresGuards === true) return {};
  const { pendingSuspension, progressStep } = update;
  return {
    ...(pendingSuspension !== undefined && { pendingSuspension }),
    ...(progressStep !== undefined && { progressStep }),
  };
}
