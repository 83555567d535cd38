import type { Principal } from '../../state/hitlSession.ts';
import type { EngineStore } from '../EngineStore.ts';

/** What a run was told from outside. */
export interface Message {
  readonly name: string;
  readonly signalId: string;
  /** Plain JSON. */
  readonly payload: unknown;
  readonly by: Principal;
}

/** The message in a row of `signals`. */
export function messageOf(rowId: string, { threads }: EngineStore): Message {
  return threads.signals.require(rowId).payload as Message;
}
