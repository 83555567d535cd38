import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { canonicalJson } from '../../state/canonicalJson.ts';

/** Levels of arrays and objects; a checkpoint puts some around it. */
const MAX_VALUE_DEPTH = 100;

/** Any plain JSON that an answer may hold; how large it may be is another question: `assertAnswerSize`. */
export const storable = lateSchema(() =>
  z.unknown().superRefine((value, { addIssue }) => {
    const problem = problemOf(value);
    if (problem !== null) addIssue({ code: 'custom', message: problem });
  }),
);

function problemOf(value: unknown): string | null {
  if (value === undefined) return 'Missing';
  try {
    if (isDeeper(value, MAX_VALUE_DEPTH)) return `Nested deeper than ${MAX_VALUE_DEPTH} levels`;
    canonicalJson(value);
    return null;
  } catch (error) {
    if (isDevsError(error)) return error.message.replace(/\.$/, '');
    return 'Reading it throws an error';
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}
