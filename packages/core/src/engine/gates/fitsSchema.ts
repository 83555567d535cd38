import { z } from 'zod';
import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession } from '../../state/hitlSession.ts';
import { answerPolicyOf } from './AnswerPolicy.ts';
import type { NamedGates } from './parsedGate.ts';
import { validated } from './validated.ts';

/**
 * Refuses a value that the `responseSchema` of its question does not take. A schema that cannot be read is not checked:
 * the gate could never be answered.
 *
 * @throws DevsError `INVALID_ANSWER` naming the place.
 */
export function assertFitsSchema(answer: object, { id, question }: HitlSession): void {
  const { responseSchema } = (question ?? {}) as { readonly responseSchema?: unknown };
  const schema = readSchema(responseSchema);
  const parsed = schema?.safeParse((answer as { readonly value: unknown }).value);
  if (parsed?.success !== false) return;
  throw unfit(id, parsed.error.issues);
}

interface SchemaIssue {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

/** Names the places, never what they hold. */
export function unfit(sessionId: string, issues: readonly SchemaIssue[]): DevsError {
  const found = issues.map(({ path, message }) => `${['value', ...path].map(String).join('.')}: ${message}`);
  return new DevsError(`The value does not match the schema of gate "${sessionId}". ${found.join('; ')}.`, {
    code: 'INVALID_ANSWER',
    remedy: 'Answer with { value: … } that matches the schema of the gate.',
    context: { sessionId },
  });
}

function readSchema(responseSchema: unknown): z.ZodType | null {
  if (typeof responseSchema !== 'object' || responseSchema === null) return null;
  try {
    return z.fromJSONSchema(responseSchema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return null; // a keyword it does not know
  }
}

/**
 * Refuses a value by the schema itself where its program decides: JSON Schema, which every process has, has no word for
 * some of it. A session that cannot take a value is left to be refused as every other.
 *
 * @throws DevsError `INVALID_ANSWER` naming the place.
 */
export function assertFitsDeclared(
  session: HitlSession | null,
  answer: Readonly<Record<string, unknown>>,
  gates: NamedGates = new Map(),
): void {
  if (session?.status !== 'awaiting_approval' || !('value' in answer)) return;
  const { gate, value } = answerPolicyOf(session);
  const typed = value === true && gate !== undefined ? gates.get(gate)?.answer : undefined;
  const result = typed && validated(typed.schema, answer['value']);
  if (result?.issues === undefined) return;
  const issues = result.issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((part) => (typeof part === 'object' ? part.key : part)),
  }));
  throw unfit(session.id, issues);
}
