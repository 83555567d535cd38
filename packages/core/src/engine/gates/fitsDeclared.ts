import type { HitlSession } from '../../state/hitlSession.ts';
import { unfit } from './fitsSchema.ts';
import type { NamedGates } from './parsedGate.ts';
import { takesOf } from './Takes.ts';
import { validated } from './validated.ts';

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
  const { gate, value } = takesOf(session);
  const typed = value === true && gate !== undefined ? gates.get(gate)?.answer : undefined;
  const result = typed && validated(typed.schema, answer['value']);
  if (result?.issues === undefined) return;
  const issues = result.issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((part) => (typeof part === 'object' ? part.key : part)),
  }));
  throw unfit(session.id, issues);
}
