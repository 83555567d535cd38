import { z } from 'zod';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { canonicalJson } from '../../state/canonicalJson.ts';
import type { HitlSession } from '../../state/hitlSession.ts';
import type { GateRule } from './GateRule.ts';

// An answer to a bare `interrupt()`: any plain JSON, which is what the call returns.

/** In bytes of canonical JSON: well below what a checkpoint takes, which keeps the answers of a visit together. */
const MAX_VALUE_BYTES = 256 * 1024;
/** Levels of arrays and objects; a checkpoint puts some around it. */
const MAX_VALUE_DEPTH = 100;

const storable = z.unknown().superRefine((value, { addIssue }) => {
  const problem = problemOf(value);
  if (problem !== null) addIssue({ code: 'custom', message: problem });
});

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

const given = z.strictObject({ value: storable });

export const interruptGate = {
  given,
  recorded: given,
  shape: '{ value: … }, plain JSON: what the call of interrupt() returns',
  policyName: null,
  assertFits: assertFitsSchema,
} satisfies GateRule;

/**
 * Refuses a value that the interrupt's `responseSchema` does not take. A schema that cannot be read is not checked: the
 * gate could never be answered.
 *
 * @throws DevsError `INVALID_ANSWER` naming the place.
 */
function assertFitsSchema(answer: object, { id, question }: HitlSession): void {
  const { responseSchema } = (question ?? {}) as { readonly responseSchema?: unknown };
  const schema = readSchema(responseSchema);
  const parsed = schema?.safeParse((answer as { readonly value: unknown }).value);
  if (parsed?.success !== false) return;
  const found = parsed.error.issues.map(({ path, message }) => `${['value', ...path].join('.')}: ${message}`);
  throw new DevsError(
    `The value does not fit the schema that session "${id}" asks by. ${found.join('; ')}.`,
    {
      code: 'INVALID_ANSWER',
      remedy: 'Answer with { value: … } that fits the schema the gate shows.',
      context: { sessionId: id },
    },
  );
}

function readSchema(responseSchema: unknown): z.ZodType | null {
  if (typeof responseSchema !== 'object' || responseSchema === null) return null;
  try {
    return z.fromJSONSchema(responseSchema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return null; // a keyword it does not know
  }
}
