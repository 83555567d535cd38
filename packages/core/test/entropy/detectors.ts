import { HITL_ENTROPY_THRESHOLD } from '../../src/config/defaults.ts';
import { entropyAlong } from '../../src/engine/entropy/scoreEntropy.ts';
import { CLASSIC_PATTERNS, firstMatch } from './classicPatterns.ts';
import type { Detector } from './measure.ts';

/** The entropy score at the default threshold, looked at after every turn as the runner does. */
export const entropyScore: Detector = (turns, polling) => {
  const index = entropyAlong(turns, { polling }).findIndex((score) => score >= HITL_ENTROPY_THRESHOLD);
  return index === -1 ? null : index + 1;
};

/** Any of the five classic patterns. */
export const classicPatterns: Detector = (turns, polling) =>
  firstMatch(Object.values(CLASSIC_PATTERNS), turns, polling);
