import type { LogEntry, Run } from '@devs/core';

/** The log of a run without the limit of one page. */
export async function wholeLog(run: Run): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  for (;;) {
    const page = await run.log({ afterSeq: entries.at(-1)?.seq ?? 0 });
    if (page.length === 0) return entries;
    entries.push(...page);
  }
}
