import { COMMAND_SYMBOL, type Command, isCommand, Overwrite, Send } from '@langchain/langgraph';
import { maskPreciseDeep } from '../../masking/maskPrecise.ts';

/** LangGraph takes a list for several outputs only if one of them is a command. */
export const isMany = (raw: unknown): raw is readonly unknown[] => Array.isArray(raw) && raw.some(isCommand);

/** A command like `command`, of its class and with its fields, that says something else. */
export function commandLike(
  command: Command,
  said: { readonly update: unknown; readonly goto?: unknown },
): Command {
  return likewise(command, { ...said, [COMMAND_SYMBOL]: { ...command[COMMAND_SYMBOL], ...said } });
}

/**
 * Masks what a node gives LangGraph (law L5): updates, and what its commands send. Whatever has no secret is returned
 * as it is, and what has one keeps its class.
 */
export function maskOutput(raw: unknown): { readonly value: unknown; readonly count: number } {
  const tally = { count: 0 };
  const value = isMany(raw) ? mapOrSame(raw, (part) => maskPart(part, tally)) : maskPart(raw, tally);
  return { value, count: tally.count };
}

interface Tally {
  count: number;
}

function maskPart(part: unknown, tally: Tally): unknown {
  if (isCommand(part)) return maskCommand(part, tally);
  return part instanceof Send ? maskSend(part, tally) : maskUpdate(part, tally);
}

function maskCommand(command: Command, tally: Tally): Command {
  const before = tally.count;
  const update = maskUpdate(command.update, tally) as Command['update'];
  const goto = maskGoto(command.goto, tally);
  return tally.count === before ? command : commandLike(command, { update, goto });
}

function maskGoto(goto: Command['goto'], tally: Tally): Command['goto'] {
  const mask = (to: string | Send): string | Send => (to instanceof Send ? maskSend(to, tally) : to);
  if (!Array.isArray(goto)) return goto === undefined ? goto : mask(goto);
  return goto.some((to) => to instanceof Send) ? goto.map(mask) : goto;
}

function maskSend(send: Send, tally: Tally): Send {
  const args: unknown = maskFields(send.args, tally);
  return args === send.args ? send : likewise(send, { args });
}

/** Pairs or fields; a value to overwrite with is inside an instance. */
function maskUpdate(update: unknown, tally: Tally): unknown {
  const masked = maskFields(update, tally);
  if (typeof masked !== 'object' || masked === null) return masked;
  if (Array.isArray(masked)) return mapOrSame(masked, (pair) => maskPair(pair, tally));
  let whole = masked;
  for (const [name, value] of Object.entries(masked) as [string, unknown][]) {
    const overwriting = maskOverwrite(value, tally);
    if (overwriting !== value) whole = likewise(whole, { [name]: overwriting });
  }
  return whole;
}

function maskPair(pair: unknown, tally: Tally): unknown {
  if (!Array.isArray(pair) || pair.length !== 2) return pair;
  const [name, value] = pair as [unknown, unknown];
  const overwriting = maskOverwrite(value, tally);
  return overwriting === value ? pair : [name, overwriting];
}

function maskOverwrite(value: unknown, tally: Tally): unknown {
  if (!(value instanceof Overwrite)) return value;
  const masked = mask(value.value, tally);
  return masked === value.value ? value : new Overwrite(masked);
}

/** LangGraph reads the fields of an instance as it does those of an object. */
function maskFields<T>(value: T, tally: Tally): T {
  const masked = mask(value, tally);
  if (masked !== value || typeof value !== 'object' || value === null || Array.isArray(value)) return masked;
  if (Object.getPrototypeOf(value) === Object.prototype) return value;
  const fields = { ...value };
  const clean = mask(fields, tally);
  return clean === fields ? value : likewise(value, clean);
}

function mask<T>(value: T, tally: Tally): T {
  const masked = maskPreciseDeep(value);
  tally.count += masked.count;
  return masked.value;
}

/** The list itself where nothing in it changes. */
export function mapOrSame(parts: readonly unknown[], change: (part: unknown) => unknown): readonly unknown[] {
  const changed = parts.map((part) => change(part));
  return changed.every((part, at) => part === parts[at]) ? parts : changed;
}

/** A copy of an instance of any class with other fields. */
function likewise<T extends object>(original: T, fields: object): T {
  return Object.assign(Object.create(Object.getPrototypeOf(original)) as T, original, fields);
}
