import type { LogView } from '../../src/views/logView.ts';

/** Lines that a page keeps: each is a row. */
const KEPT = 2_000;

/** A log with what was read besides, oldest first and each line once. Beyond so many lines the oldest are let go. Pure. */
export function mergedLog(known: LogView | null, read: LogView): LogView {
  if (known === null) return read;
  const bySeq = new Map([...known.entries, ...read.entries].map((entry) => [entry.seq, entry]));
  const entries = [...bySeq.values()].sort((a, b) => a.seq - b.seq);
  const isOlder = firstSeq(read) < firstSeq(known);
  const { earlier } = isOlder ? read : known;
  // Who asked for older lines is shown them.
  const kept = isOlder ? entries : entries.slice(-KEPT);
  return { entries: kept, earlier: kept.length < entries.length ? firstSeq({ entries: kept }) : earlier };
}

const firstSeq = ({ entries }: Pick<LogView, 'entries'>): number =>
  entries[0]?.seq ?? Number.MAX_SAFE_INTEGER;
