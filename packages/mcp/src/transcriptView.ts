import type { Run } from '@devs/core';
import { WrongArguments } from './renderToolError.ts';
import type { ReadContext, RunReader } from './StateReader.ts';

/** Characters after which a page ends, whatever its limit: of JSON, unmasked. */
const PAGE_CHARACTERS = 64 * 1024;

interface TranscriptArguments {
  readonly threadId: string;
  readonly stage: string;
  readonly attempt?: number | undefined;
  readonly afterSeq: number;
  readonly limit: number;
}

interface TranscriptPage {
  readonly entries: Awaited<ReturnType<Run['transcript']>>;
  /** Where the next page starts; `null` at the end of what is written now. */
  readonly nextAfterSeq: number | null;
}

/**
 * A page of what a stage told.
 *
 * @throws WrongArguments for a stage or an attempt there is none of.
 */
export const transcriptView = ({ devs }: ReadContext, asked: TranscriptArguments): Promise<TranscriptPage> =>
  devs.view(asked.threadId, (run) => pageWithin(run, asked));

async function pageWithin(
  run: RunReader,
  { threadId: _, attempt, limit, ...query }: TranscriptArguments,
): Promise<TranscriptPage> {
  const wanted: Parameters<Run['transcript']>[0] = { ...query, ...(attempt !== undefined && { attempt }) };
  const entries = await run.transcript({ ...wanted, limit: limit + 1 }).catch((error: unknown) => {
    throw error instanceof RangeError ? new WrongArguments(error.message) : error;
  });
  const page = transcriptPage(entries, limit);
  const last = entries.at(-1);
  if (page.nextAfterSeq !== null || last === undefined || entries.length <= limit) return page;
  const [more] = await run.transcript({ ...wanted, afterSeq: last.seq, limit: 1 });
  return { entries, nextAfterSeq: more === undefined ? null : last.seq };
}

/** What was written together has one number, so a page holds all of it. */
function transcriptPage(entries: Awaited<ReturnType<Run['transcript']>>, limit: number): TranscriptPage {
  let size = 0;
  const next = entries.findIndex(({ seq, activity }, at) => {
    const isFull = at >= limit || size >= PAGE_CHARACTERS;
    size += JSON.stringify(activity).length;
    return isFull && seq !== entries[at - 1]?.seq;
  });
  return next === -1
    ? { entries, nextAfterSeq: null }
    : { entries: entries.slice(0, next), nextAfterSeq: entries[next - 1]?.seq ?? null };
}
