import type { Database } from 'better-sqlite3';
import { CheckpointPersister } from '../CheckpointPersister.ts';
import { GraphCheckpointStore } from '../checkpoints/GraphCheckpointStore.ts';
import { NO_FENCE } from '../commits/immediateTransaction.ts';
import { HitlSessionStore } from '../gates/HitlSessionStore.ts';
import { StepStore } from '../steps/StepStore.ts';
import { ThreadInputStore } from '../threads/ThreadInputStore.ts';
import { ThreadStore } from '../threads/ThreadStore.ts';
import { aQuestion, HASH } from './aQuestion.ts';
import { aThread } from './aThread.ts';
import { decideAndLog } from './decideAndLog.ts';

/** Letters and digits without a pattern, the same for the same seed: nothing in them compresses away. */
export function noise(length: number, seed: number): string {
  let state = seed * 2654435761 + 1;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 27).toString(36);
  }).join('');
}

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

/** What the run of {@link aFullFile} was given. */
export const INPUT_TEXT = JSON.stringify(noise(3000, 9));

/** What a checkpoint of {@link aFullFile} holds, to compare with what is read back. */
export interface StoredTexts {
  readonly checkpointId: string;
  readonly checkpoint: string;
  readonly metadata: string;
  readonly channel: string;
  /** A channel whose value lies in its row. */
  readonly small: string;
  readonly writes: readonly string[];
  readonly turn: Record<string, unknown>;
}

export const RUN = { threadId: 'run-1', checkpointNs: '' };

const CHANNELS = ['text', 'small', 'nothing'] as const;

const versionsOf = (n: number): object => Object.fromEntries(CHANNELS.map((channel) => [channel, n]));

export function storedTexts(n: number): StoredTexts {
  return {
    checkpointId: `checkpoint-${n}`,
    checkpoint: JSON.stringify({ v: 4, text: noise(400, n), channel_versions: versionsOf(n) }),
    metadata: JSON.stringify({ step: n, text: noise(100, n + 1000) }),
    channel: JSON.stringify(noise(2000, n + 2000)),
    small: JSON.stringify(noise(50, n + 6000)),
    writes: [JSON.stringify(noise(200, n + 3000)), JSON.stringify(noise(1500, n + 4000))],
    turn: { n, text: noise(600, n + 5000) },
  };
}

function saveCheckpoint(store: GraphCheckpointStore, n: number): void {
  const { checkpointId, checkpoint, metadata, channel, small, writes } = storedTexts(n);
  const json = (text: string) => ({ type: 'json', bytes: bytesOf(text) });
  const key = { ...RUN, checkpointId };
  store.saveChannels(RUN, [{ channel: 'text', version: String(n), value: json(channel) }]);
  store.saveChannels(RUN, [{ channel: 'small', version: String(n), value: json(small) }]);
  store.saveChannels(RUN, [{ channel: 'nothing', version: String(n), value: null }]);
  store.saveCheckpoint(
    { ...key, parentId: null, checkpoint: json(checkpoint), metadata: json(metadata) },
    CHANNELS.map((name) => ({ channel: name, version: String(n) })),
  );
  const records = writes.map((text, idx) => ({
    taskId: `task-${n}`,
    idx,
    taskPath: '',
    channel: 'text',
    value: json(text),
  }));
  store.saveWrites(key, records);
}

/** A state file with something in every table that `doctor` examines. */
export function aFullFile(db: Database, { checkpoints = 3 } = {}): void {
  const { thread } = new ThreadStore(db).create(aThread());
  new ThreadInputStore(db).insert(thread.threadId, { type: 'json', bytes: bytesOf(INPUT_TEXT) });
  const store = new GraphCheckpointStore(db);
  const save = db.transaction((n: number) => saveCheckpoint(store, n));
  for (let n = 1; n <= checkpoints; n += 1) save.immediate(n);

  const turn = { graphId: 'run-1', nodeName: 'design', taskId: 'run-1', createdAt: new Date(0) };
  const journal = new CheckpointPersister(db);
  journal.save({ ...turn, id: 'thought', turnType: 'Thought', state: { small: true } });
  for (let n = 1; n <= checkpoints; n += 1) {
    journal.save({
      ...turn,
      id: `turn-${n}`,
      taskId: `task-${n}`,
      turnType: 'Action',
      state: storedTexts(n).turn,
    });
  }
  journal.save({ ...turn, id: 'action', turnType: 'Action', state: { large: noise(12_000, 7) } });

  const steps = new StepStore(db);
  const step = { threadId: 'run-1', lgTaskId: 'lg-1', name: 'call', node: 'design', taskId: null };
  steps.intent(step, NO_FENCE);
  steps.finish(step, noise(10_000, 8), {}, NO_FENCE);

  const sessions = new HitlSessionStore(db, { newId: () => 'session-1' });
  const { id } = sessions.openForInterrupt(aQuestion()).session;
  const principal = { kind: 'human', id: 'reviewer-1' } as const;
  const decision = { approved: true, feedback: 'Good.' };
  decideAndLog(db, { id, artifactHash: HASH, decision, principal }, sessions);
}
