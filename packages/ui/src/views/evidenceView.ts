import { type Gate, MAX_IMPLEMENTATION_TURNS } from '@devs/core';
import type { Sum } from './choices.ts';

/** How far something has come towards a limit. */
export interface Meter {
  readonly name: string;
  readonly level: number;
  /** Where a person is asked; `null` where the gate does not say. A score is one of 1. */
  readonly limit: number | null;
  /** What is held back for calls in flight, on top of the level. */
  readonly reserved: number;
  /** What the call that was not made would have taken, on top of both. */
  readonly next: number;
  readonly unit: Sum['measure'] | 'score' | 'count';
}

/** A reason why a task counts as repeating itself. */
export interface EvidenceShare {
  readonly part: string;
  /** Of a score in [0, 1], to which the shares add up. */
  readonly share: number;
  readonly evidence: string;
}

/** One way a task was tried. */
export interface TriedWay {
  readonly strategy: string;
  /** Why it was chosen. */
  readonly because: string;
}

/** What a guard has seen, for the one it asks. */
export interface EvidenceView {
  /** In a sentence. */
  readonly what: string;
  readonly meters: readonly Meter[];
  readonly shares: readonly EvidenceShare[];
  /** One beside the other, oldest first. */
  readonly tried: readonly TriedWay[];
  readonly said: readonly string[];
  readonly errors: readonly string[];
  readonly seenLast: string | null;
}

const NOTHING: Omit<EvidenceView, 'what' | 'meters'> = {
  shares: [],
  tried: [],
  said: [],
  errors: [],
  seenLast: null,
};

const REASONS: Readonly<Record<string, string>> = {
  entropy_limit: 'it keeps repeating itself',
  pivots_exhausted: 'no new strategy made progress',
  pivot_invalid: 'the pivot agent did not return a new strategy',
};

/** `null` at a gate that no guard has opened. */
export function evidenceView({ kind, artifact }: Pick<Gate, 'kind' | 'artifact'>): EvidenceView | null {
  if (typeof artifact !== 'object' || artifact === null) return null;
  const shown = artifact as Readonly<Record<string, unknown>>;
  if (kind === 'budget') return budgetEvidence(shown);
  if (kind === 'task_failure') return taskEvidence(shown);
  if (kind !== 'recursion_limit') return null;
  return 'depth' in shown ? depthEvidence(shown) : taskEvidence(shown);
}

function depthEvidence({ depth, limit }: Readonly<Record<string, unknown>>): EvidenceView {
  const what = 'The nodes execute without progress.';
  return { ...NOTHING, what, meters: [meter('transitions without progress', depth, { limit })] };
}

function taskEvidence(shown: Readonly<Record<string, unknown>>): EvidenceView {
  const { reason, attempts, turns, entropy } = shown;
  const score = entropy as { readonly score?: unknown; readonly parts?: unknown } | undefined;
  const scored = score && meter('repetition', score.score, { unit: 'score' });
  return {
    what: `Stopped: ${REASONS[String(reason)] ?? (typeof reason === 'string' ? reason : 'no progress')}.`,
    meters: [
      ...(scored ? [scored] : []),
      ...(turns === undefined ? [] : [meter('turns', turns, { limit: MAX_IMPLEMENTATION_TURNS })]),
      ...(attempts === undefined ? [] : [meter('attempts', attempts)]),
    ],
    shares: asList<EvidenceShare>(score?.parts),
    tried: [
      { strategy: 'As planned', because: 'the first attempt' },
      ...asList<{ readonly strategy: string; readonly reason: string }>(shown['strategies']).map((each) => ({
        strategy: each.strategy,
        because: each.reason,
      })),
    ],
    said: asList<string>(shown['guidance']),
    errors: asList<string>(shown['errors']),
    seenLast: typeof shown['lastObservation'] === 'string' ? shown['lastObservation'] : null,
  };
}

interface AskedLimit {
  readonly taskId: string | null;
  readonly run?: string;
  readonly measure: Sum['measure'];
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  readonly next: number;
}

function budgetEvidence({ node, step, limits }: Readonly<Record<string, unknown>>): EvidenceView {
  const meters = asList<AskedLimit>(limits).map(({ taskId, run, measure, spent, ...use }) => {
    const whose = run !== undefined ? `run ${run} above` : taskId === null ? 'run' : 'task';
    return meter(`${measure} of the ${whose}`, spent, { ...use, unit: measure });
  });
  return { ...NOTHING, what: `Blocked call: ${String(step)} of ${String(node)}.`, meters };
}

const meter = (
  name: string,
  level: unknown,
  { limit, ...use }: { readonly limit?: unknown } & Partial<Omit<Meter, 'limit'>> = {},
): Meter => ({
  ...{ name, level: Number(level), reserved: 0, next: 0, unit: 'count' as const },
  ...use,
  limit: typeof limit === 'number' ? limit : null,
});

const asList = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? (value as readonly T[]) : []);
