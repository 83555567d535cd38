// The status of a run from its file: for a list, for a release, and in detail.

import type { RunCost } from '../../state/steps/stepSpending.ts';
import { AWAITS_INPUT, hasEnded } from '../../state/threads/threadRecords.ts';
import { outputOf } from '../drive/compiledGraph.ts';
import { ASKED_TO_STOP, dueCriteria, hasContinuableChild } from '../drive/due.ts';
import type { RunDetails, RunInfo } from '../drive/RunResult.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { gatesOf, gateWithDeadlines } from '../gates/Gate.ts';
import type { LimitUse } from '../guards/Budget.ts';
import { infoOf } from './lists.ts';
import type { RunRelease } from './Runs.ts';

/** What is listed of a run of any graph, beside where it stands. */
export interface ListedRun extends Pick<RunInfo, 'graph' | 'createdAt' | 'updatedAt' | 'endedAt'> {
  /** Of what is listed: who reads another one opens the file. */
  readonly as: 1;
  readonly degraded: boolean;
  readonly cost: RunCost;
  /** Without what is limited per task. */
  readonly budget: readonly Pick<LimitUse, 'measure' | 'limit' | 'spent' | 'reserved'>[];
}

/** As its file says. */
export function runIndexOf(id: string, { threads, steps, budgets, labels }: EngineStore): ListedRun {
  const thread = threads.require(id);
  const { graph, createdAt, updatedAt, endedAt } = infoOf(thread, false, labels.of(id));
  return {
    ...{ as: 1, degraded: thread.degraded, cost: steps.costOf(id) },
    budget: budgets
      .usesOf(id)
      .map(({ measure, limit, spent, reserved }) => ({ measure, limit, spent, reserved })),
    ...{ graph, createdAt, updatedAt, endedAt },
  };
}

/** Where a run stands, as its file says. */
export function releaseOf(id: string, store: EngineStore): RunRelease {
  const { status, reason } = store.threads.require(id);
  return {
    ...{ status, reason, title: null, view: null, ...store.labels.of(id) },
    gates: store.sessions.listOpenOfRuns().map((session) => gateWithDeadlines(session, store)),
    until: goesOnAt(id, store),
    ...(hasEnded(status) && { openChildren: store.children.openBelow(id).length }),
  };
}

/** When a run goes on by itself, milliseconds since the Unix epoch: now, once its timer is due, or `null` for never. */
function goesOnAt(id: string, store: EngineStore): number | null {
  const { status, reason, wakeSeq, handledSeq } = store.threads.require(id);
  const now = store.now();
  if (hasEnded(status) || reason === AWAITS_INPUT) return null;
  if (wakeSeq > handledSeq || reason === ASKED_TO_STOP) return now;
  if (status === 'paused') return null;
  if (status !== 'waiting') return now;
  const since = dueCriteria(now);
  if (store.waits.isDue(id, since) || hasContinuableChild(id, since, store)) return now;
  return store.children.untilOf([id]);
}

/** A graph over an open file. */
export interface ReadableFile {
  readonly graph: unknown;
  readonly store: EngineStore;
  /** At the latest checkpoint. */
  values(id: string): Promise<unknown>;
  isDriven(id: string): boolean;
}

/** Read from the run's file. */
export async function readDetails<Output>(id: string, file: ReadableFile): Promise<RunDetails<Output>> {
  const { store } = file;
  const { until } = releaseOf(id, store);
  const turn = store.inputs.latest(id)?.key ?? null;
  return {
    ...infoOf(store.threads.require(id), file.isDriven(id), store.labels.of(id)),
    gates: gatesOf(id, store),
    values: outputOf(file.graph, await file.values(id)),
    ...(until !== null && { until }),
    ...(turn !== null && { turn }),
  };
}
