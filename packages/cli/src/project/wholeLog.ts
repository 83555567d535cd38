import type { LogEntry, Run } from '@devs/core';

/** The log of a run without the limit of one page. @param from - Only what came after this position. */
export async function wholeLog(run: Run, from = 0): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  for (;;) {
    const page = await run.log({ afterSeq: entries.at(-1)?.seq ?? from });
    if (page.length === 0) return entries;
    entries.push(...page);
  }
}
