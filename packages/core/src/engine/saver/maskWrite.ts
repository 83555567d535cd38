import { ERROR } from '@langchain/langgraph-checkpoint';
import { isDevsError } from '../../errors/DevsError.ts';
import { maskPreciseDeep } from '../../masking/maskPrecise.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import { isRecord } from '../isRecord.ts';

const INTERRUPT = '__interrupt__';

/**
 * The net below the runner (law L5): what a task writes is masked once more, which changes nothing that was masked
 * before. LangGraph keeps the error of a failed task as it was thrown; it passes the broad rules, as every error does.
 */
export function maskWrite(channel: string, value: unknown): unknown {
  if (channel === ERROR) return maskError(value);
  return maskPlain(channel === INTERRUPT && Array.isArray(value) ? value.map(withPlainSchema) : value);
}

/** What zod makes of a schema carries hidden properties, which are no part of it. */
function withPlainSchema(asked: unknown): unknown {
  if (!isRecord(asked) || asked['response_schema'] === undefined) return asked;
  return { ...asked, response_schema: JSON.parse(JSON.stringify(asked['response_schema'])) as unknown };
}

function maskError(value: unknown): unknown {
  if (typeof value === 'string') return maskSensitiveData(value);
  if (value instanceof Error) return maskThrown(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return maskPlain(value);
  const masked = Object.entries(value).map(([name, field]: [string, unknown]) => [name, maskError(field)]);
  return Object.fromEntries(masked) as unknown;
}

function maskThrown(error: Error): Error {
  const masked = new Error(maskSensitiveData(error.message));
  masked.name = error.name;
  masked.stack = maskSensitiveData(error.stack ?? '');
  return masked;
}

/** A value too deep to be searched is left to the serializer, which refuses it and names the place. */
function maskPlain(value: unknown): unknown {
  try {
    return maskPreciseDeep(value).value;
  } catch (error) {
    if (isDevsError(error, 'VALUE_TOO_LARGE')) return value;
    throw error;
  }
}
