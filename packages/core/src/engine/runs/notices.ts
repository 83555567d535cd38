// Everything a run can be told from outside: a signal, a decision, a request to stop. Each is one notice, for a run in this file
// and for one elsewhere.

import { whenFree } from '../../db/busy.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { Engine } from '../drive/Engine.ts';
import type { GraphParts } from '../drive/lastTurn.ts';
import {
  askToCancel,
  messageId,
  type SignalOptions,
  type SignalReceipt,
  signalRun,
  type TurnBehind,
  takeTurn,
} from '../drive/signals.ts';
import {
  type CancelOptions,
  cancelRequest,
  type PauseOptions,
  pauseRequest,
  requestPause,
  type StopReceipt,
} from '../drive/stopRequests.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { Gate, SentAnswer } from '../gates/Gate.ts';
import { decideGate } from '../gates/parsedGates.ts';
import { decisionNoticeOf, type Notice, stopNoticeOf } from './RunFiles.ts';
import type { RunSignal } from './Runs.ts';

/** A graph over an open file. */
interface ToldFile {
  readonly store: EngineStore;
  readonly engine: Pick<Engine, 'gates' | 'leave' | 'store' | 'streams'> & GraphParts;
  newId(): string;
  arrived<T>(value: T | Promise<T>): Promise<T>;
}

export function pauseNotice(id: string, options: PauseOptions): Notice<ToldFile, StopReceipt> {
  const request = pauseRequest(options);
  return stopNoticeOf(
    request,
    async ({ store, newId, arrived }) => {
      const requestId = newId();
      return arrived(await store.runs.whenFree(() => requestPause(id, requestId, request, store)));
    },
    (file) => file.newId(),
  );
}

export function cancelNotice(id: string, options: CancelOptions): Notice<ToldFile, StopReceipt> {
  const request = cancelRequest(options);
  return stopNoticeOf(
    request,
    ({ engine, newId }) => askToCancel(id, { ...request, id: newId() }, engine),
    (file) => file.newId(),
  );
}

type TurnSignal = Extract<RunSignal, { readonly kind: 'turn' }>;

/** A turn as a signal of its run. */
export function turnSignal({ key, given, strategy, by }: TurnBehind): TurnSignal {
  const value = Buffer.from(given.bytes).toString('base64');
  const told = { kind: 'turn', key, type: given.type, value, strategy } as const;
  return { id: `turn ${key}`, ...told, ...(by !== undefined && { by }) };
}

export const turnOfSignal = (
  threadId: string,
  { key, type, value, strategy, by }: TurnSignal,
): TurnBehind => ({
  ...{ threadId, key, strategy, by },
  given: { type, bytes: Uint8Array.from(Buffer.from(value, 'base64')) },
});

/** @param prepare - Checks it in the run's file; `null` for a turn that is known. */
export const turnNotice = <File extends ToldFile>(
  prepare: (file: File) => Promise<TurnBehind | null>,
): Notice<File, void> => ({
  apply: async (file) => {
    const turn = await prepare(file);
    if (turn !== null) await takeTurn(turn, file.engine);
    return file.arrived(undefined);
  },
  draft: async (file) => {
    const turn = await prepare(file);
    if (turn !== null) await takeTurn(turn, file.engine);
    return { left: undefined, signal: turn === null ? null : turnSignal(turn) };
  },
});

export function messageNotice(
  id: string,
  name: string,
  payload: unknown,
  options: SignalOptions,
): Notice<ToldFile, SignalReceipt> {
  const apply = ({ store, arrived }: ToldFile): Promise<SignalReceipt> =>
    arrived(whenFree(store.db, () => signalRun(id, { name, payload, ...options }, { store })));
  return {
    apply,
    draft: async (file) => {
      const left = await apply(file);
      const said = { name, payload: payload ?? null, ...options };
      const signal = { ...said, kind: 'message', id: messageId(id, options.signalId) } as const;
      return { left, signal: left.isNew ? signal : null };
    },
  };
}

export const decisionNotice = (
  gate: Pick<Gate, 'sessionId' | 'artifactHash'>,
  given: SentAnswer,
): Notice<ToldFile, HitlSession> =>
  decisionNoticeOf(given, {
    session: ({ store }) => store.sessions.require(gate.sessionId),
    decide: ({ store, engine, arrived }, answer) =>
      arrived(whenFree(store.db, () => decideGate(gate, answer, engine))),
    signalled: (answer) => ({ answer, redacted: 0 }),
  });
