import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import type { Lease } from '../../state/ThreadStore.ts';
import type { Wait, WaitPurpose } from '../../state/WaitStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { WaitInfo } from '../RunResult.ts';
import { endWait } from './endWait.ts';

interface WaitLookup {
  readonly lease: Lease;
  readonly store: EngineStore;
  /** Milliseconds since the Unix epoch: what is due by then has come. */
  readonly now: number;
}

/** Of the open interrupts of a run those that are no questions to a human. */
export interface OpenWaits<Open> {
  readonly questions: readonly Open[];
  readonly pending: readonly Wait[];
  /** Whether a node can go on. */
  readonly hasEnded: boolean;
}

/** Looks at what a run waits for, and ends what has come. */
export function openWaits<Open extends { readonly interruptId: string }>(
  open: readonly Open[],
  { lease, store, now }: WaitLookup,
): OpenWaits<Open> {
  const { threadId } = lease;
  const ids = open.map(({ interruptId }) => interruptId);
  if (ids.length === 0 || store.waits.at(threadId, ids).length === 0)
    return { questions: open, pending: [], hasEnded: false };
  const looked = store.commitUnder(lease, (emit) => {
    store.waits.keepOnly(threadId, ids);
    return store.waits.at(threadId, ids).map((wait) => endWait(wait, { store, emit, now }));
  });
  const waiting = new Set(looked.map(({ interruptId }) => interruptId));
  return {
    questions: open.filter(({ interruptId }) => !waiting.has(interruptId)),
    pending: looked.filter(({ state }) => state === 'pending'),
    hasEnded: looked.some(({ state }) => state !== 'pending'),
  };
}

/** What a run waits for besides humans. */
export function awaited(pending: readonly Wait[], { children }: EngineStore): WaitInfo {
  const named = (purpose: WaitPurpose): readonly string[] => [
    ...new Set(pending.filter((wait) => wait.purpose === purpose).flatMap(({ subject }) => subject ?? [])),
  ];
  const [signals, runs] = [named('signal'), named('child')];
  const below = runs.length === 0 ? null : children.untilOf(runs);
  const dates = [...pending.flatMap(({ dueAt }) => dueAt ?? []), ...(below === null ? [] : [below])];
  return {
    ...(dates.length > 0 && { until: Math.min(...dates) }),
    ...(signals.length > 0 && { waitsFor: signals }),
    ...(runs.length > 0 && { children: runs }),
  };
}

/** The same for the log. */
export function waitSuspension(gates: number, { until, waitsFor, children }: WaitInfo) {
  return {
    gates,
    ...(until !== undefined && { until: new Date(until).toISOString() }),
    ...(waitsFor && { waitsFor: waitsFor.map((name) => maskSensitiveData(name)) }),
    ...(children && { children }),
  };
}

/** Why a run waits, for people. */
export function waitReason(gates: number, { until, waitsFor = [], children = [] }: WaitInfo): string {
  const named = [...waitsFor.map((name) => `signal "${name}"`), ...children.map((id) => `run "${id}"`)];
  const parts = [
    ...(gates > 0 || (until === undefined && named.length === 0) ? [`${gates} open gate(s)`] : []),
    ...named,
    ...(until === undefined ? [] : [`until ${new Date(until).toISOString()}`]),
  ];
  return parts.join(', ');
}
