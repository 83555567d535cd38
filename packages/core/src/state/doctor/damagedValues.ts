import type { Database } from 'better-sqlite3';
import { findingsOrDamage } from '../../db/checkFile.ts';
import { prepare } from '../../db/prepare.ts';
import { BlobStore, equalBytes, hashBytes } from '../blobs/BlobStore.ts';
import { StreamStore } from '../events/StreamStore.ts';
import { GitPackStore } from '../GitPackStore.ts';
import { blobsOfTurn, type StoredState } from '../journaledState.ts';
import { StepStore } from '../steps/StepStore.ts';
import type { StepKey } from '../steps/stepRecords.ts';
import { QueuedTurnStore } from '../threads/QueuedTurnStore.ts';
import { ThreadInputStore } from '../threads/ThreadInputStore.ts';
import { error, type ValueFinding } from './finding.ts';

interface InlineChannel {
  readonly channel: string;
  readonly version: string;
  readonly value: Uint8Array;
  readonly sha256: Uint8Array;
}

interface JournalRow extends StoredState {
  readonly id: string;
}

// Ascending: the base of a splice is older than the splice, so a store that remembers its last values reads each once.
const SELECT_BLOBS = 'SELECT blob_id FROM state_blobs ORDER BY blob_id ASC';

const SELECT_INLINE_CHANNELS = `
  SELECT channel, version, value, sha256 FROM checkpoint_blobs WHERE value IS NOT NULL`;

const SELECT_STEPS = `
  SELECT thread_id AS threadId, lg_task_id AS lgTaskId, name FROM agent_steps`;

const SELECT_TURNS = `
  SELECT id, serialized_state, sha256 FROM langgraph_checkpoints ORDER BY rowid ASC`;

const SELECT_INPUTS = 'SELECT thread_id AS threadId, turn FROM thread_inputs ORDER BY rowid ASC';

// The turns of a run count up from 1, and the last one has not ended: the next would have begun with it.
const SELECT_RUNS_WITHOUT_INPUT = `
  SELECT thread_id FROM thread_inputs GROUP BY thread_id
  HAVING count(*) <> max(turn) OR max(iif(ended_as IS NULL, 0, turn)) = max(turn)`;

const SELECT_QUEUES = 'SELECT DISTINCT thread_id FROM queued_turns';

const SELECT_STREAMS = 'SELECT DISTINCT thread_id FROM stream_events';

const SELECT_STANDS = 'SELECT thread_id FROM git_stands UNION SELECT thread_id FROM git_packs';

const SELECT_JOURNAL_VALUES = 'SELECT blob_id, turn_id FROM journal_values';

/** Values that are not the ones whose SHA-256 was stored with them, in every table that has one but those of checkpoints. */
export function damagedValues(db: Database): readonly ValueFinding[] {
  return [
    ...damagedBlobs(db),
    ...damagedChannels(db),
    ...damagedSteps(db),
    ...damagedInputs(db),
    ...damagedQueues(db),
    ...damagedStreams(db),
    ...damagedPacks(db),
    ...unreadableTurns(db),
  ];
}

function damagedBlobs(db: Database): readonly ValueFinding[] {
  const blobs = new BlobStore(db);
  const ids = prepare<[], number>(db, SELECT_BLOBS).pluck().all();
  return ids.flatMap((blobId) => damageOf('state_blobs', () => blobs.get(blobId)));
}

function damagedSteps(db: Database): readonly ValueFinding[] {
  const steps = new StepStore(db);
  const keys = prepare<[], StepKey>(db, SELECT_STEPS).all();
  return keys.flatMap((key) => damageOf('agent_steps', () => steps.find(key)));
}

function damagedInputs(db: Database): readonly ValueFinding[] {
  const inputs = new ThreadInputStore(db);
  const turns = prepare<[], { readonly threadId: string; readonly turn: number }>(db, SELECT_INPUTS).all();
  const damaged = turns.flatMap(({ threadId, turn }) =>
    damageOf('thread_inputs', () => inputs.require(threadId, turn)),
  );
  const missing = prepare<[], string>(db, SELECT_RUNS_WITHOUT_INPUT).pluck().all();
  return [
    ...damaged,
    ...missing.map((id) => error('VALUE_MISSING', 'thread_inputs', `An input of run "${id}" is missing.`)),
  ];
}

function damagedQueues(db: Database): readonly ValueFinding[] {
  const queue = new QueuedTurnStore(db);
  const ids = prepare<[], string>(db, SELECT_QUEUES).pluck().all();
  return ids.flatMap((id) => damageOf('queued_turns', () => queue.list(id)));
}

function damagedStreams(db: Database): readonly ValueFinding[] {
  const streams = new StreamStore(db);
  const ids = prepare<[], string>(db, SELECT_STREAMS).pluck().all();
  return ids.flatMap((id) =>
    damageOf('stream_events', () => {
      const last = streams.lastSeq(id);
      let after = streams.firstSeq(id) - 1;
      while (after < last) after = streams.page(id, after).at(-1)?.seq ?? last;
    }),
  );
}

function damagedPacks(db: Database): readonly ValueFinding[] {
  const packs = new GitPackStore(db);
  const ids = prepare<[], string>(db, SELECT_STANDS).pluck().all();
  return ids.flatMap((id) => [
    ...damageOf('git_stands', () => packs.standOf(id)),
    ...packs.list(id).flatMap(({ pack }) => damageOf('git_packs', () => packs.bytesOf(id, pack))),
  ]);
}

/** Of the values that lie in their rows. */
function damagedChannels(db: Database): readonly ValueFinding[] {
  const damaged: InlineChannel[] = [];
  for (const channel of prepare<[], InlineChannel>(db, SELECT_INLINE_CHANNELS).iterate()) {
    if (!equalBytes(hashBytes(channel.value), channel.sha256)) damaged.push(channel);
  }
  return damaged.map(({ channel, version }) =>
    error(
      'VALUE_DAMAGED',
      'checkpoint_blobs',
      `Channel ${channel} at ${version} does not match its SHA-256.`,
    ),
  );
}

/** Whether a turn's text is the one that was written, and its large fields exist. */
function unreadableTurns(db: Database): readonly ValueFinding[] {
  const existing = new Set(prepare<[], number>(db, SELECT_BLOBS).pluck().all());
  const references = prepare<[], [blobId: number, turnId: string]>(db, SELECT_JOURNAL_VALUES).raw().all();
  const kept = new Set(references.map(([blobId, turnId]) => `${blobId} ${turnId}`));
  const findings: ValueFinding[] = [];
  for (const turn of prepare<[], JournalRow>(db, SELECT_TURNS).iterate()) {
    const blobIds = blobsOfTurn(turn);
    const missing = blobIds?.filter((blobId) => !existing.has(blobId));
    if (missing === undefined) {
      findings.push(
        error('VALUE_DAMAGED', 'langgraph_checkpoints', `Turn ${turn.id} was changed after it was written.`),
      );
    } else if (missing.length > 0) {
      const detail = `Turn ${turn.id} refers to missing blobs: ${missing.join(', ')}.`;
      findings.push(error('VALUE_MISSING', 'langgraph_checkpoints', detail));
    } else if (blobIds?.some((blobId) => !kept.has(`${blobId} ${turn.id}`)) === true) {
      const detail = `The blobs of turn ${turn.id} have no reference from it.`;
      findings.push(error('VALUE_MISSING', 'journal_values', detail));
    }
  }
  return findings;
}

function damageOf(table: string, read: () => unknown): readonly ValueFinding[] {
  const damage = findingsOrDamage(() => {
    read();
    return [];
  });
  return damage.map(({ detail }) => error('VALUE_DAMAGED', table, detail));
}
