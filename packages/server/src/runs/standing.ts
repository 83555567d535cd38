import type { RunDetails } from '@devs/core/langgraph';
import type { ServedApp } from '../apps/ServedApp.ts';
import { notFound } from '../http/ApiError.ts';

/** One input of a thread and its outcome: a run in LangGraph's words. */
export type Turn = Awaited<ReturnType<ServedApp['turns']>>[number];

/** In LangGraph's words. */
export type RunStatus = 'pending' | 'running' | 'success' | 'error' | 'interrupted';
export type ThreadStatus = 'idle' | 'busy' | 'interrupted' | 'error';

type Standing = Pick<RunDetails, 'status'> & { readonly gates: readonly unknown[] };

export function threadStatusOf({ status, gates }: Standing): ThreadStatus {
  if (status === 'failed' || status === 'dead_letter') return 'error';
  if (status === 'waiting' && gates.length > 0) return 'interrupted';
  return status === 'created' || status === 'running' || status === 'waiting' ? 'busy' : 'idle';
}

const RUN_STATUSES: Readonly<Record<Exclude<Turn['status'], 'waiting'>, RunStatus>> = {
  ...{ queued: 'pending', created: 'pending', running: 'running', completed: 'success' },
  ...{ failed: 'error', dead_letter: 'error', cancelled: 'interrupted', paused: 'interrupted' },
};

/** @param asks - Whether the thread waits for an answer. */
export function runStatusOf({ status }: Pick<Turn, 'status'>, asks: boolean): RunStatus {
  if (status === 'waiting') return asks ? 'interrupted' : 'running';
  return RUN_STATUSES[status];
}

/** @throws ApiError */
export async function requireTurn(app: ServedApp, thread: string, run: string): Promise<Turn> {
  const turn = (await app.turns(thread)).find((each) => turnId(thread, each) === run);
  if (turn === undefined) throw notFound(`Run "${run.slice(0, 80)}"`);
  return turn;
}

/** A run that a program started without a turn key is called like its thread. */
export const turnId = (thread: string, { turn }: Pick<Turn, 'turn'>): string => turn ?? thread;

/** The turns that have begun, oldest first: neither those that wait, nor those that were cancelled before. */
export function begunTurns(turns: readonly Turn[]): readonly Turn[] {
  const isDropped = ({ status, lastSeq }: Turn): boolean => status === 'cancelled' && lastSeq === 0;
  return turns.filter((turn, at) => turn.status !== 'queued' && (at === 0 || !isDropped(turn)));
}

/**
 * Whether a turn rests until a person acts: it has ended, was paused, or asks. A queued turn rests with the one
 * before it.
 */
export async function isSettled(app: ServedApp, thread: string, run: string): Promise<boolean> {
  const { status } = await requireTurn(app, thread, run);
  if (status !== 'queued') return rests(app, thread, status);
  const current = begunTurns(await app.turns(thread)).at(-1)?.status;
  const isBehindRest = current === 'waiting' || current === 'paused';
  return isBehindRest && rests(app, thread, current);
}

/** As {@link isSettled}, for a turn of this status that has begun. */
export async function rests(app: ServedApp, thread: string, status: Turn['status']): Promise<boolean> {
  if (status === 'created' || status === 'running') return false;
  if (status !== 'waiting' && status !== 'paused') return true;
  const run = await app.get(thread);
  if (run?.isDue === true || run?.isDriven === true) return false;
  return status === 'paused' || (await app.gates(thread)).length > 0;
}
