import { gateInterrupt, type Principal } from '@devs/core';
import { readRun } from './readRun.ts';
import { runFailure } from './runEvents.ts';
import { requireTurn } from './standing.ts';
import type { StartedRun } from './startRun.ts';

/** Until the run has ended or waits for somebody. */
export async function waitForRun(
  { assistant: { app }, thread, run, after }: StartedRun,
  signal: AbortSignal,
): Promise<void> {
  const modes = { streamMode: [], subgraphs: false };
  for await (const _event of readRun({ app, thread, run, after }, modes, signal));
}

/** The answer of LangGraph's `wait` and `join`: the values, with the open questions or the error. */
export async function outputAfter(run: StartedRun, signal: AbortSignal): Promise<unknown> {
  await waitForRun(run, signal);
  return outputOf(run);
}

async function outputOf({ assistant: { app }, thread, run }: StartedRun): Promise<unknown> {
  const { status, reason } = await requireTurn(app, thread, run);
  if (status === 'failed' || status === 'dead_letter') return { __error__: runFailure(reason) };
  const { values, gates } = await app.result(thread);
  const asked = status === 'waiting' ? gates : [];
  if (asked.length === 0) return values;
  return { ...(values as object | null), __interrupt__: asked.map(gateInterrupt) };
}

/** Removes the hidden thread of a run. Only a person can. A run that has not ended stays. */
export async function deleteStateless(
  { assistant: { app }, thread }: StartedRun,
  by: Principal,
): Promise<void> {
  const found = await app.get(thread);
  if (by.kind !== 'human' || found === null || found.endedAt === null) return;
  await app.delete(thread, { by, waitMs: 0 }).catch(() => undefined); // its bytes may be in the log of the file until later
}
