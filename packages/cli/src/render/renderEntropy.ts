import type { EntropyScore } from '@devs/core/internal';
import type { Line } from '../terminal/Line.ts';

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
