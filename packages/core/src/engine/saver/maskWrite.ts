import { ERROR } from '@langchain/langgraph-checkpoint';
import { isDevsError } from '../../errors/DevsError.ts';
import { maskPreciseDeep } from '../../masking/maskPrecise.ts';
import { isRecord } from '../isRecord.ts';
import { wordsOf } from '../thrown.ts';

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

/** Can be stored, whatever it holds: no run ends with the error of its error. */
function maskError(value: unknown): unknown {
  if (value instanceof Error) {
    const { message, ...words } = wordsOf(value);
    return Object.assign(new Error(message), words);
  }
  if (!isRecord(value)) return maskWord(value);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, maskWord(field)]));
}

function maskWord(value: unknown): unknown {
  const isPlain =
    value === undefined || value === null || typeof value === 'boolean' || Number.isFinite(value);
  return isPlain ? value : wordsOf(value).message;
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
