// A run that is recorded as its start alone; the first to open its file writes it there. To make the file takes ten times as long as
// to record its contents.

import { randomUUID } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { EventBus } from '../../events/events.ts';
import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import type { RunLabels } from '../../state/labels/RunLabelStore.ts';
import { StateFile } from '../../state/StateFile.ts';
import type { NewThread } from '../../state/threads/threadRecords.ts';

/** A new run for a worker, checked. */
export interface StartedRun {
  readonly thread: NewThread;
  readonly labels: RunLabels;
  readonly given: TypedBytes;
}

/** As it is kept until there is a file; another release may read it. */
export interface StartedRunRecord extends Omit<StartedRun, 'given'> {
  readonly as: 1;
  readonly type: string;
  /** In Base64. */
  readonly input: string;
}

export function startedRunBytes({ thread, labels, given: { type, bytes } }: StartedRun): Uint8Array {
  const input = Buffer.from(bytes).toString('base64');
  return Buffer.from(JSON.stringify({ as: 1, thread, labels, type, input } satisfies StartedRunRecord));
}

/** @throws SyntaxError for bytes that are something else. */
export const parseStartedRun = (bytes: Uint8Array): StartedRunRecord =>
  JSON.parse(Buffer.from(bytes).toString()) as StartedRunRecord;

/**
 * Writes a run into its empty file, as if it had been recorded there.
 *
 * @param at - When it was recorded, milliseconds since the Unix epoch.
 */
export function beginRunFile(
  db: Database,
  { thread, labels, type, input }: StartedRunRecord,
  at: number,
): void {
  const { threadId } = thread;
  const file = new StateFile(db, { events: new EventBus(), now: () => at, newId: randomUUID });
  file.commit(() => {
    file.threads.create(thread);
    file.inputs.insert(threadId, { type, bytes: Buffer.from(input, 'base64') });
    file.labels.insert(threadId, labels);
    file.threads.signals.wake(threadId);
  });
}
