import { ERROR } from '@langchain/langgraph-checkpoint';
import { isRecord } from '../isRecord.ts';
import { describeThrown } from '../thrown.ts';

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

/** Can be stored, whatever it holds: no run ends with the error of its error. */
function maskedError(value: unknown): unknown {
  if (value instanceof Error) {
    const { message, ...words } = describeThrown(value);
    return Object.assign(new Error(message), words);
  }
  if (Array.isArray(value)) return value.map(maskedWord);
  if (!isRecord(value)) return maskedWord(value);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, maskedWord(field)]));
}

function maskedWord(value: unknown): unknown {
  const isPlain =
    value === undefined || value === null || typeof value === 'boolean' || Number.isFinite(value);
  return isPlain ? value : describeThrown(value).message;
}
