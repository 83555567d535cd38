import type { EntropyScore } from '@devs/core/internal';
import type { Line } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';
import { taskLabelOrEmpty } from './sentence.ts';

/** What the gate of a stuck task shows. */
export interface StuckTaskView {
  readonly taskId: string;
  readonly name: string | null;
  readonly reason: string | null;
  readonly attempts: number;
  readonly strategies: readonly { readonly strategy: string; readonly reason: string }[];
  readonly guidance: readonly string[];
  readonly errors: readonly string[];
  readonly lastObservation: string | null;
  /** Where a score opened the gate. */
  readonly entropy?: EntropyScore;
}

const REASONS: Readonly<Record<string, string>> = {
  entropy_limit: 'it keeps repeating itself',
  pivots_exhausted: 'no new strategy made progress',
  pivot_invalid: 'the pivot agent did not return a new strategy',
};

export function isStuckTask(artifact: unknown): artifact is StuckTaskView {
  if (typeof artifact !== 'object' || artifact === null) return false;
  const { attempts, strategies, guidance, errors } = artifact as Partial<StuckTaskView>;
  return typeof attempts === 'number' && [strategies, guidance, errors].every((list) => Array.isArray(list));
}

/** What was tried, for the one who says how it goes on. */
export function stuckTaskLines(task: StuckTaskView): readonly Line[] {
  const { taskId, name, reason, attempts, strategies, guidance, errors, lastObservation, entropy } = task;
  const why = reason === null ? 'no progress' : (REASONS[reason] ?? reason);
  const title = oneLine([taskLabelOrEmpty(taskId), name ?? taskId].filter((word) => word !== '').join(' '));
  return [
    { style: 'bold', text: title },
    `stopped after ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}: ${why}`,
    '',
    ...(entropy === undefined ? [] : entropyLines(entropy)),
    ...formatItems(
      'Strategies tried',
      strategies.map((tried) => `${tried.strategy}\n    reason: ${tried.reason}`),
    ),
    ...formatItems('Guidance so far', guidance),
    ...formatItems('Errors', errors),
    ...(lastObservation === null
      ? []
      : [{ style: 'bold', text: 'Last observation' } as const, lastObservation.trimEnd(), '']),
  ];
}

function formatItems(title: string, items: readonly string[]): readonly Line[] {
  if (items.length === 0) return [];
  return [{ style: 'bold', text: title }, ...items.map((item, index) => `  ${index + 1}. ${item}`), ''];
}

export function isEntropyScore(value: unknown): value is EntropyScore {
  if (typeof value !== 'object' || value === null) return false;
  const { score, parts } = value as Partial<EntropyScore>;
  return typeof score === 'number' && Array.isArray(parts);
}

/** Why a task counts as repeating itself: each part with its share of the score. */
export function entropyLines({ score, parts }: EntropyScore): readonly Line[] {
  const reasons = parts.map(({ share, evidence }) => `  ${share.toFixed(2)}  ${evidence}`);
  return [
    { style: 'bold', text: `Repetition: ${score.toFixed(2)} of 1` },
    ...(reasons.length === 0 ? ['  score set by the node'] : reasons),
    '',
  ];
}
