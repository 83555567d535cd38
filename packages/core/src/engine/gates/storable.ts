import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { canonicalJson } from '../../state/canonicalJson.ts';

/** In bytes of canonical JSON: well below what a checkpoint takes, which keeps the answers of a visit together. */
const MAX_VALUE_BYTES = 256 * 1024;
/** Levels of arrays and objects; a checkpoint puts some around it. */
const MAX_VALUE_DEPTH = 100;

/** Any plain JSON that an answer may hold. */
export const storable = lateSchema(() =>
  z.unknown().superRefine((value, { addIssue }) => {
    const problem = problemOf(value);
    if (problem !== null) addIssue({ code: 'custom', message: problem });
  }),
);

function problemOf(value: unknown): string | null {
  if (value === undefined) return 'Missing';
  if (isDeeper(value, MAX_VALUE_DEPTH)) return `Nested deeper than ${MAX_VALUE_DEPTH} levels`;
  try {
    return Buffer.byteLength(canonicalJson(value)) > MAX_VALUE_BYTES ? 'Longer than 256 KiB' : null;
  } catch (error) {
    if (isDevsError(error)) return error.message.replace(/\.$/, '');
    throw error;
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}
