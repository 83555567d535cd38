import { maskStart } from '../../masking/maskSensitiveData.ts';

/** Characters of one text of an error that are shown and kept: a message may hold a whole answer of a server. */
export const LONGEST_TEXT: number = 16 * 1024;

const UNREADABLE = 'what cannot be read';

/** A thrown value in words that can be shown and kept. */
export interface ThrownWords {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

/** Reads whatever was thrown, once, and never throws itself. Masked, of limited length, without lone surrogates. */
export function describeThrown(thrown: unknown): ThrownWords {
  if (!isError(thrown)) return { name: typeof thrown, message: shownText(described(thrown)), stack: '' };
  const [name, message, stack] = ['name', 'message', 'stack'].map((field) =>
    shownText(fieldText(thrown, field)),
  );
  return { name, message, stack } as ThrownWords;
}

function fieldText(thrown: Error, field: string): string {
  try {
    return described((thrown as unknown as Readonly<Record<string, unknown>>)[field] ?? '');
  } catch {
    return UNREADABLE;
  }
}

/** What it was thrown because of: its cause, else the first of those that it stands for; `undefined` for nothing. */
export function causeOf(thrown: unknown): unknown {
  const [cause, errors] = [fieldOf(thrown, 'cause'), fieldOf(thrown, 'errors')];
  return cause ?? (Array.isArray(errors) ? (errors as readonly unknown[])[0] : undefined);
}

/**
 * What LangGraph can handle, for what it cannot: it writes to the error of a node, and reads its name and message. What is
 * frozen is stood for by an object that inherits from it.
 */
export function asThrowable(thrown: unknown): unknown {
  if (typeof thrown !== 'object' || thrown === null)
    return typeof thrown === 'function' ? thrown : markThrown(thrown);
  if (!isLegible(thrown)) {
    const { name, message } = describeThrown(thrown);
    return new Error(`${name}: ${message}`);
  }
  return Object.isExtensible(thrown) ? thrown : (Object.create(thrown) as object);
}

/** The very error that LangGraph ends with as it marks what is no object. */
function markThrown(thrown: unknown): unknown {
  try {
    (thrown as { pregelTaskId: string }).pregelTaskId = '';
    return thrown;
  } catch (error) {
    return error;
  }
}

/** A text as it is shown: masked, its end left out where it is too long, without lone surrogates. */
export function shownText(text: string): string {
  const said = maskStart(text, LONGEST_TEXT);
  return toWellFormedText(text.length <= LONGEST_TEXT ? said : `${said} (${text.length} characters)`);
}

const toWellFormedText = (text: string): string =>
  (text as string & { toWellFormed(): string }).toWellFormed();

function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error;
  } catch {
    return false; // a proxy
  }
}

function isLegible(thrown: object): boolean {
  try {
    const { name, message, cause, is_bubble_up } = thrown as Record<string, unknown>;
    return [name, message, cause, is_bubble_up].length > 0;
  } catch {
    return false;
  }
}

function fieldOf(thrown: unknown, name: string): unknown {
  try {
    return (thrown as Readonly<Record<string, unknown>> | null)?.[name];
  } catch {
    return undefined;
  }
}

/** Of what is no error, its message, or as JSON says it. */
function described(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    if (typeof value !== 'object' || value === null) return String(value);
    const { message } = value as { readonly message?: unknown };
    return typeof message === 'string' ? message : JSON.stringify(value);
  } catch {
    return UNREADABLE;
  }
}
