import type { LogEntry, Run } from '@devs/core';

/** The log of a run page by page, to its end. @param from - Only what came after this position. */
export async function* logPages(run: Pick<Run, 'log'>, from = 0): AsyncGenerator<readonly LogEntry[]> {
  for (let afterSeq = from; ; ) {
    const page = await run.log({ afterSeq });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    afterSeq = last.seq;
  }
}

/** The log of a run without the limit of one page. @param from - Only what came after this position. */
export async function wholeLog(run: Run, from = 0): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  for await (const page of logPages(run, from)) entries.push(...page);
  return entries;
}
