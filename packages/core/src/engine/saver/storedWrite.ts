import { ERROR } from '@langchain/langgraph-checkpoint';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import { isRecord } from '../isRecord.ts';

const INTERRUPT = '__interrupt__';

/**
 * What a task writes, as it is stored: exactly, but for the error of a failed task. LangGraph keeps that as it was thrown; it
 * passes the broad rules, as every error does.
 */
export function storedWrite(channel: string, value: unknown): unknown {
  if (channel === ERROR) return maskedError(value);
  return channel === INTERRUPT && Array.isArray(value) ? value.map(withPlainSchema) : value;
}

/** What zod makes of a schema carries hidden properties, which are no part of it. */
function withPlainSchema(asked: unknown): unknown {
  if (!isRecord(asked) || asked['response_schema'] === undefined) return asked;
  return { ...asked, response_schema: JSON.parse(JSON.stringify(asked['response_schema'])) as unknown };
}

function maskedError(value: unknown): unknown {
  if (typeof value === 'string') return maskSensitiveData(value);
  if (value instanceof Error) return maskThrown(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(maskedError);
  const masked = Object.entries(value).map(([name, field]: [string, unknown]) => [name, maskedError(field)]);
  return Object.fromEntries(masked) as unknown;
}

function maskThrown(error: Error): Error {
  const masked = new Error(maskSensitiveData(error.message));
  masked.name = error.name;
  masked.stack = maskSensitiveData(error.stack ?? '');
  return masked;
}
