import { randomUUID } from 'node:crypto';
import { load } from '@langchain/core/load';

/** Characters from which a text is kept out of LangChain's reading, which makes JSON of every record twice. */
const LONG = 1_024;

/** What stands for a long text meanwhile; nobody can have written it. */
const MARK = `\0${randomUUID()}:`;

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
  if (typeof value === 'string') return value.length < LONG ? value : `${MARK}${texts.push(value) - 1}`;
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item, texts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withoutTexts(field, texts)]));
}

function putBack(value: object, texts: readonly string[], seen: Set<object>): void {
  if (seen.has(value)) return;
  seen.add(value);
  for (const [key, field] of Object.entries(value) as [string, unknown][]) {
    if (typeof field === 'object' && field !== null) putBack(field, texts, seen);
    else if (typeof field === 'string' && field.startsWith(MARK)) {
      (value as Record<string, unknown>)[key] = texts[Number(field.slice(MARK.length))];
    }
  }
}
