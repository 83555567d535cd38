import type { Database, Statement } from 'better-sqlite3';
import { pragma, prepare, transaction } from '../db/prepare.ts';
import { RecentMap } from '../values/RecentMap.ts';
import { BlobStore } from './blobs/BlobStore.ts';
import {
  type Fence,
  immediateTransaction,
  NO_FENCE,
  withinTransaction,
} from './commits/immediateTransaction.ts';
import {
  type FieldText,
  hashOfText,
  type JournaledState,
  readJournaledState,
  referencesOf,
  type StoredState,
  storeState,
} from './journaledState.ts';
import type { LangGraphCheckpoint, TurnType } from './types.ts';

interface JournalTurnRow extends StoredState {
  readonly id: string;
  readonly graph_id: string;
  readonly node_name: string;
  readonly turn_type: TurnType;
  readonly task_id: string;
  readonly created_at: string;
  readonly visit?: string | null;
}

const REQUIRED_COLUMNS = [
  'id',
  'graph_id',
  'node_name',
  'turn_type',
  'serialized_state',
  'task_id',
  'created_at',
] as const;

/** A table made from the required columns alone has none of these, and turns are written without them. */
const OPTIONAL_COLUMNS = ['visit', 'sha256'] as const;

const SELECT_LATEST = `
  SELECT * FROM langgraph_checkpoints WHERE graph_id = ? ORDER BY rowid DESC LIMIT 1`;

const SELECT_FOR_TASK = `
  SELECT * FROM langgraph_checkpoints WHERE task_id = ? ORDER BY rowid ASC`;

const SELECT_EXISTS = 'SELECT 1 FROM langgraph_checkpoints WHERE id = ?';

const OF_TASKS = 'task_id IN (SELECT value FROM json_each(?))';

/** Where the large fields of a run's last turn lie: field → blob. */
type FieldHeads = Readonly<Record<string, number>>;

/** Runs whose last turn is remembered; the file knows the others. */
const REMEMBERED_RUNS = 64;

/** Runs whose last turn's texts are kept in memory: what did not change is neither hashed nor looked up again. */
const REMEMBERED_TEXTS = 4;

interface StoredText extends Pick<FieldText, 'json'> {
  readonly blobId: number;
}

/** A turn that was written: while its row is in the file, so are the values it refers to. */
interface LastTurn {
  readonly id: string;
  readonly texts: ReadonlyMap<string, StoredText>;
}

/** Three times as fast as `Buffer.from`. */
const utf8 = new TextEncoder();

/** What a {@link CheckpointPersister} takes besides the open state file. */
export interface CheckpointPersisterOptions {
  /** Refuses the writes of a driver that was replaced. Nothing is fenced without one. */
  readonly fence?: Fence;
}

/**
 * The turn journal in `langgraph_checkpoints`: one row before a node works ("Thought") and one after it ("Action").
 * LangGraph's resume data is in other tables; see `GraphCheckpointStore`. Source: 9_ROADMAP-REQ-014.
 *
 * Each `save` is its own transaction, so a crash between the two rows leaves the Thought.
 */
export class CheckpointPersister {
  readonly #db: Database;
  readonly #fence: Fence;
  readonly #hasBlobs: boolean;
  readonly #insert: Statement<[Required<JournalTurnRow>]>;
  readonly #selectLatest: Statement<[string], JournalTurnRow>;
  readonly #selectForTask: Statement<[string], JournalTurnRow>;
  readonly #selectExists: Statement<[string], unknown>;
  readonly #heads = new RecentMap<string, FieldHeads>(REMEMBERED_RUNS);
  readonly #turns = new RecentMap<string, LastTurn>(REMEMBERED_TEXTS);
  /** The large fields of the turn that was staged last, written or not. */
  readonly #staged = new RecentMap<string, ReadonlyMap<string, FieldText>>(REMEMBERED_TEXTS);
  #blobs: BlobStore | undefined;

  /** @param db - An open state file with the journal's table; its first seven columns are enough. */
  constructor(db: Database, { fence = NO_FENCE }: CheckpointPersisterOptions = {}) {
    this.#db = db;
    this.#fence = fence;
    this.#hasBlobs = tableColumns(db, 'state_blobs').size > 0;
    this.#insert = prepare(db, insertInto(turnColumns(db)));
    this.#selectLatest = prepare(db, SELECT_LATEST);
    this.#selectForTask = prepare(db, SELECT_FOR_TASK);
    this.#selectExists = prepare(db, SELECT_EXISTS);
  }

  /**
   * Writes one row completely or not at all.
   *
   * @throws DevsError `STATE_DISK_FULL`, `STATE_IO` or `STATE_CORRUPT` for a failing file, `LEASE_LOST` from the fence.
   * @throws TypeError if the state is not JSON: a cycle, a bigint.
   */
  save(checkpoint: LangGraphCheckpoint): void {
    this.stage(checkpoint)();
  }

  /**
   * Serializes a row now and returns a function that writes it, as `save` does. Later changes of the state are not
   * written.
   *
   * @throws TypeError if the state is not JSON.
   */
  stage(checkpoint: LangGraphCheckpoint): () => void {
    const { graphId } = checkpoint;
    const state = storeState(checkpoint.state, this.#hasBlobs, this.#staged.get(graphId));
    if (state.kind === 'manifest') this.#staged.set(graphId, state.large);
    // One row is written whole or not by itself: a caller in a transaction may go on without it.
    const commit = state.kind === 'whole' ? withinTransaction : immediateTransaction;
    return () => commit(this.#db, () => this.#saveInTx(checkpoint, state));
  }

  /** Returns the newest row of a run; `null` before the first. */
  loadLatest(graphId: string): LangGraphCheckpoint | null {
    return this.#atOneMoment(() => {
      const row = this.#selectLatest.get(graphId);
      return row === undefined ? null : this.#fromRow(row);
    });
  }

  /** Returns the rows of a task, oldest first. */
  loadForTask(taskId: string): LangGraphCheckpoint[] {
    return this.#atOneMoment(() => this.#selectForTask.all(taskId).map((row) => this.#fromRow(row)));
  }

  /**
   * Deletes the rows of every task after `targetTaskId`, for a rewind.
   *
   * @param allTaskIds - Every task, in canonical order.
   * @param graphId - Only rows of this run; without it, rows of every run.
   * @throws RangeError if the target is not in the order, because a guess would delete the wrong rows.
   */
  deleteAfter(targetTaskId: string, allTaskIds: readonly string[], graphId?: string): void {
    const later = tasksAfter(targetTaskId, allTaskIds);
    if (later.length === 0) return;
    const [inRun, run] = graphId === undefined ? ['', []] : [' AND graph_id = ?', [graphId]];
    immediateTransaction(this.#db, () => {
      this.#fence.assertInTx();
      const sql = `DELETE FROM langgraph_checkpoints WHERE ${OF_TASKS}${inRun}`;
      prepare<string[]>(this.#db, sql).run(JSON.stringify(later), ...run);
    });
  }

  #saveInTx(checkpoint: LangGraphCheckpoint, state: JournaledState): void {
    this.#fence.assertInTx();
    this.#insert.run(journalRow(checkpoint, this.#write(checkpoint, state)));
  }

  /** The text of a turn's state; its large fields are stored as what changed since the turn before. */
  #write({ id, graphId }: LangGraphCheckpoint, state: JournaledState): string {
    if (state.kind === 'whole') return state.json;
    const before = this.#headsOf(graphId);
    const stored = this.#storedTexts(graphId);
    const texts = new Map<string, StoredText>();
    const written = state.write((field, { json }) => {
      const known = stored?.get(field);
      const blobId = known?.json === json ? known.blobId : this.#put(json, before[field]);
      texts.set(field, { json, blobId });
      return blobId;
    });
    this.#heads.set(graphId, blobsOf(texts));
    this.#turns.set(graphId, { id, texts });
    return written;
  }

  #put(json: string, base: number | undefined): number {
    return this.#blobStore().put(utf8.encode(json), { base: base ?? null, sha256: hashOfText(json) });
  }

  /** The large fields of a run's last turn, if its row is there: it may have been rolled back, or deleted by another. */
  #storedTexts(graphId: string): LastTurn['texts'] | undefined {
    const last = this.#turns.get(graphId);
    return last !== undefined && this.#selectExists.get(last.id) !== undefined ? last.texts : undefined;
  }

  #headsOf(graphId: string): FieldHeads {
    const remembered = this.#heads.get(graphId);
    if (remembered !== undefined) return remembered;
    const latest = this.#selectLatest.get(graphId);
    return latest === undefined ? {} : referencesOf(latest);
  }

  #fromRow(row: JournalTurnRow): LangGraphCheckpoint {
    return {
      id: row.id,
      graphId: row.graph_id,
      nodeName: row.node_name,
      turnType: row.turn_type,
      state: readJournaledState(row, (blobId) => this.#blobStore().get(blobId)),
      taskId: row.task_id,
      createdAt: new Date(row.created_at),
      ...(typeof row.visit === 'string' && { visit: row.visit }),
    };
  }

  /** A row and the values it refers to are deleted together; they have to be read together. */
  #atOneMoment<T>(read: () => T): T {
    return transaction(this.#db, 'deferred', read);
  }

  /** Made when first needed: the journal's table may stand alone. */
  #blobStore(): BlobStore {
    this.#blobs ??= new BlobStore(this.#db);
    return this.#blobs;
  }
}

function blobsOf(texts: LastTurn['texts']): FieldHeads {
  return Object.fromEntries([...texts].map(([field, { blobId }]) => [field, blobId]));
}

function tasksAfter(targetTaskId: string, allTaskIds: readonly string[]): readonly string[] {
  const index = allTaskIds.indexOf(targetTaskId);
  if (index === -1) throw new RangeError(`targetTaskId: "${targetTaskId}" is not in the task order`);
  return allTaskIds.slice(index + 1);
}

/** The optional columns that the table has, behind the required ones. */
function turnColumns(db: Database): readonly string[] {
  const existing = tableColumns(db, 'langgraph_checkpoints');
  return [...REQUIRED_COLUMNS, ...OPTIONAL_COLUMNS.filter((name) => existing.has(name))];
}

/** None where there is no such table. */
function tableColumns(db: Database, table: 'langgraph_checkpoints' | 'state_blobs'): ReadonlySet<string> {
  const columns = pragma(db, `table_info(${table})`) as readonly { readonly name: string }[];
  return new Set(columns.map(({ name }) => name));
}

function insertInto(columns: readonly string[]): string {
  const values = columns.map((name) => `@${name}`);
  return `INSERT INTO langgraph_checkpoints (${columns.join(', ')}) VALUES (${values.join(', ')})`;
}

function journalRow(checkpoint: LangGraphCheckpoint, serializedState: string): Required<JournalTurnRow> {
  return {
    id: checkpoint.id,
    graph_id: checkpoint.graphId,
    node_name: checkpoint.nodeName,
    turn_type: checkpoint.turnType,
    serialized_state: serializedState,
    task_id: checkpoint.taskId,
    created_at: checkpoint.createdAt.toISOString(),
    visit: checkpoint.visit ?? null,
    sha256: hashOfText(serializedState),
  };
}
