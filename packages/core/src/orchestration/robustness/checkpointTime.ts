/** Between the epoch of version 6 UUIDs (1582-10-15) and the Unix epoch. */
const GREGORIAN_OFFSET_MS = 12_219_292_800_000n;
const TICKS_PER_MS = 10_000n;
const UUID6 = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/i;

/**
 * When a checkpoint was written, in milliseconds since the Unix epoch, read from its id; `null` for an id of
 * another form.
 *
 * A node that needs a time takes it from here: it runs again after a crash, and the checkpoint it starts from
 * is then the same.
 */
export function checkpointTime(checkpointId: string): number | null {
  const parts = UUID6.exec(checkpointId);
  if (parts === null) return null;
  const ticks = BigInt(`0x${parts[1]}${parts[2]}${parts[3]}`);
  return Number(ticks / TICKS_PER_MS - GREGORIAN_OFFSET_MS);
}
