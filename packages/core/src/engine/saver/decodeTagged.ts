import { randomUUID } from 'node:crypto';
import { Document } from '@langchain/core/documents';
import { load } from '@langchain/core/load';
import type { Send } from '@langchain/langgraph';
import { DeltaSnapshot } from '@langchain/langgraph-checkpoint';
import { DevsError } from '../../errors/DevsError.ts';
import { ERROR_CLASSES, TAG_KEY, type TagName } from './strictTags.ts';

type TimeoutOption = NonNullable<NonNullable<ConstructorParameters<typeof Send>[2]>['timeout']>;
type DecodedMembers = Record<string | number, unknown>;
type Build = (parts: readonly unknown[]) => unknown;

/** A value that cannot be made without waiting; it takes its place when it is. */
class Later {
  readonly build: () => unknown;

  constructor(build: () => unknown) {
    this.build = build;
  }
}

const BUILDERS: Readonly<Record<TagName, Build>> = {
  undefined: () => undefined,
  'negative zero': () => -0,
  number: ([text]) => Number(text),
  bigint: ([text]) => BigInt(text as string),
  document: ([members]) => Object.assign(Object.create(Document.prototype) as object, members),
  object: ([members]) => members,
  'object without prototype': ([members]) => Object.assign(Object.create(null) as object, members),
  date: ([time]) => new Date(time as number),
  map: ([entries]) => new Map(entries as [unknown, unknown][]),
  set: ([items]) => new Set(items as unknown[]),
  regexp: ([source, flags]) => new RegExp(source as string, flags as string),
  bytes: ([base64]) => new Uint8Array(Buffer.from(base64 as string, 'base64')),
  buffer: ([base64]) => Buffer.from(base64 as string, 'base64'),
  error: buildError,
  'delta snapshot': ([value]) => new DeltaSnapshot(value),
  send: async ([node, args, timeout]) => {
    const { Send: SendClass } = await import('@langchain/langgraph');
    const options = timeout === undefined ? undefined : { timeout: timeout as TimeoutOption };
    return new SendClass(node as string, args, options);
  },
  command: async ([graph, update, resume, goto]) => {
    const { Command } = await import('@langchain/langgraph');
    return new Command({ graph, update, resume, goto } as ConstructorParameters<typeof Command>[0]);
  },
  overwrite: async ([value]) => {
    const { Overwrite } = await import('@langchain/langgraph');
    return new Overwrite(value);
  },
  // Only what came from LangChain's own serialization gets here: it has escaped every other object of its shape.
  langchain: ([record]) => loadLangChain(record),
  'langchain with parts': async ([record, parts]) => {
    const instance = (await loadLangChain(record)) as { readonly lc_kwargs: object };
    Object.assign(instance.lc_kwargs, parts); // by these it is written the next time
    return Object.assign(instance, parts);
  },
};

/** Tags whose parts have to be made first, and which then wait themselves. */
const WAITING: ReadonlySet<TagName> = new Set([
  'send',
  'command',
  'overwrite',
  'langchain',
  'langchain with parts',
]);

/**
 * The value of a tree that `StrictEncoder` has made; changes the tree in place.
 *
 * @throws DevsError `STATE_CORRUPT` for a tag this version does not know.
 */
export async function decodeTagged(tree: unknown): Promise<unknown> {
  const holder: DecodedMembers = { value: tree };
  const jobs: (() => Promise<void>)[] = [];
  reviveMember(holder, 'value', jobs);
  // In this order: what is inside another value comes before it.
  for (const job of jobs) await job();
  return holder['value'];
}

function reviveMember(container: DecodedMembers, key: string | number, jobs: (() => Promise<void>)[]): void {
  const value = reviveNode(container[key], jobs);
  container[key] = value;
  if (!(value instanceof Later)) return;
  jobs.push(async () => {
    container[key] = await value.build();
  });
}

function reviveNode(node: unknown, jobs: (() => Promise<void>)[]): unknown {
  if (typeof node !== 'object' || node === null) return node;
  const parts = tagParts(node);
  if (parts !== null) return reviveTag(parts, jobs);
  for (const key of Object.keys(node)) reviveMember(node as DecodedMembers, key, jobs);
  return node;
}

function tagParts(node: object): unknown[] | null {
  if (!(TAG_KEY in node) || !Array.isArray(node[TAG_KEY])) return null;
  return Object.keys(node).length === 1 ? node[TAG_KEY] : null;
}

function reviveTag([name, ...parts]: readonly unknown[], jobs: (() => Promise<void>)[]): unknown {
  if (!isTagName(name)) throw unknownTag(name);
  const waiting = jobs.length;
  if (name === 'object') {
    reviveMember(parts[0] as DecodedMembers, TAG_KEY, jobs);
    return parts[0];
  }
  for (const at of parts.keys()) reviveMember(parts as unknown as DecodedMembers, at, jobs);
  const build = (): unknown => BUILDERS[name](parts);
  return WAITING.has(name) || jobs.length > waiting ? new Later(build) : build();
}

function buildError([name, message, stack, members, causes]: readonly unknown[]): Error {
  const ErrorClass = ERROR_CLASSES[name as string] ?? Error;
  const [cause] = causes as unknown[];
  const error = new ErrorClass(message as string, (causes as unknown[]).length === 0 ? undefined : { cause });
  Object.defineProperty(error, 'stack', {
    value: stack,
    writable: true,
    configurable: true,
    enumerable: false,
  });
  return Object.assign(error, members);
}

function isTagName(name: unknown): name is TagName {
  return typeof name === 'string' && Object.hasOwn(BUILDERS, name);
}

function unknownTag(name: unknown): DevsError {
  return new DevsError(`A stored value has a part of the unknown type ${JSON.stringify(name)}.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Read the file with the version of @devs/core that wrote it.',
  });
}

/** Characters from which a text is kept out of LangChain's reading, which makes JSON of every record twice. */
const LONG_TEXT = 1_024;

/** Stands for a long text meanwhile; nobody can have written it. */
const TEXT_MARK = `\0${randomUUID()}:`;

interface MessageRecord {
  readonly id: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
}

/**
 * An instance of LangChain's, from the record that its own serialization made. No class looks into the texts of a message's
 * content: they are put into the instance that was made without them, as the very texts of the record.
 */
export async function loadLangChain(record: unknown): Promise<object> {
  if (!isMessage(record)) return await load<object>(JSON.stringify(record));
  const texts: string[] = [];
  const content = withoutTexts(record.kwargs['content'], texts);
  if (texts.length === 0) return await load<object>(JSON.stringify(record));
  const short = { ...record, kwargs: { ...record.kwargs, content } };
  const instance = await load<object>(JSON.stringify(short));
  putBack(instance, texts, new Set());
  return instance;
}

function isMessage(record: unknown): record is MessageRecord {
  const { id, kwargs } = Object(record) as Partial<MessageRecord>;
  const isOfCore = Array.isArray(id) && id[0] === 'langchain_core' && id[1] === 'messages';
  return isOfCore && typeof kwargs === 'object' && kwargs !== null;
}

function withoutTexts(value: unknown, texts: string[]): unknown {
  if (typeof value === 'string')
    return value.length < LONG_TEXT ? value : `${TEXT_MARK}${texts.push(value) - 1}`;
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item, texts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withoutTexts(field, texts)]));
}

function putBack(value: object, texts: readonly string[], seen: Set<object>): void {
  if (seen.has(value)) return;
  seen.add(value);
  for (const [key, field] of Object.entries(value) as [string, unknown][]) {
    if (typeof field === 'object' && field !== null) putBack(field, texts, seen);
    else if (typeof field === 'string' && field.startsWith(TEXT_MARK)) {
      (value as Record<string, unknown>)[key] = texts[Number(field.slice(TEXT_MARK.length))];
    }
  }
}
