import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';
import { DevsError } from '../errors/DevsError.ts';
import { equalBytes } from './blobs/BlobStore.ts';
import type { CommitBarrier } from './commits/CommitBarrier.ts';
import { withinTransaction } from './commits/immediateTransaction.ts';
import { hashOfRow, parseStored } from './rows/rows.ts';

/** Bytes of a pack in one row: what is written at once is no larger. */
export const PACK_PART_BYTES = 4 * 1024 * 1024;

/** Where git stands in a run. */
export interface GitPosition {
  /** Commit by name of its ref (`refs/…`). */
  readonly refs: Readonly<Record<string, string>>;
  /** Tree of the folder as the engine left it; `null` before. */
  readonly left: string | null;
}

/** Objects of git. */
export interface GitPack {
  /** Ids; it has all that they reach, as far as no pack before it has that. Not empty. */
  readonly tips: readonly string[];
  /** As `git index-pack --fix-thin` takes it. */
  readonly bytes: Uint8Array;
  /** How often it was made of others: 0 for a new one. */
  readonly level: number;
  /** Numbers of those it is made of. */
  readonly replaces: readonly number[];
}

/** A pack that is kept; numbers grow, and it leans on those before it. */
export interface StoredGitPack extends Pick<GitPack, 'tips' | 'level'> {
  readonly pack: number;
}

interface PackRow {
  readonly pack: number;
  readonly level: number;
  readonly tips: string;
}

interface PartRow extends PackRow {
  readonly threadId: string;
  readonly part: number;
  readonly bytes: Uint8Array;
  /** Of the other columns; `null` in rows of before. */
  readonly sha256: Uint8Array | null;
}

interface StandRow {
  readonly refsJson: string;
  readonly left: string | null;
  /** Of the other columns, and of {@link PartPlace} of every whole pack; `null` in rows of before. */
  readonly rowSha256: Uint8Array | null;
}

type PartPlace = readonly [pack: number, part: number, level: number, tips: string];

const OF_RUN = 'FROM git_packs WHERE thread_id = ?';

// The last part is written last, and has the tips: without them a pack is the beginning of one, and is none.
const WHOLE =
  "SELECT pack FROM git_packs AS whole WHERE whole.thread_id = git_packs.thread_id AND whole.tips <> ''";

/**
 * Rows of `git_packs` and `git_stands`: what git holds of a run, as far as it travels with the run's file. A part that is
 * missing, or not the one that was written, is `STATE_CORRUPT`.
 */
export class GitPackStore {
  readonly #db: Database;
  readonly #stand: Statement<[string], StandRow>;
  readonly #putStand: Statement<[StandRow & { readonly threadId: string }]>;
  readonly #places: Statement<[string], PartPlace>;
  readonly #packs: Statement<[string], PackRow>;
  readonly #parts: Statement<[string, number], PartRow>;
  readonly #next: Statement<[string], number>;
  readonly #insert: Statement<[PartRow]>;
  readonly #delete: Statement<[string, number]>;
  readonly #deleteBegun: Statement<[string]>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#db = db;
    this.#stand = prepare(
      db,
      `SELECT refs_json AS refsJson, left_tree AS left, row_sha256 AS rowSha256 FROM git_stands
       WHERE thread_id = ?`,
    );
    this.#putStand = prepare(
      db,
      `INSERT INTO git_stands (thread_id, refs_json, left_tree, row_sha256)
       VALUES (@threadId, @refsJson, @left, @rowSha256)
       ON CONFLICT (thread_id) DO UPDATE SET
         refs_json = excluded.refs_json, left_tree = excluded.left_tree, row_sha256 = excluded.row_sha256`,
    );
    this.#places = prepare<[string], PartPlace>(
      db,
      `SELECT pack, part, level, tips ${OF_RUN} AND pack IN (${WHOLE}) ORDER BY pack, part`,
    ).raw();
    this.#packs = prepare(db, `SELECT pack, level, tips ${OF_RUN} AND tips <> '' ORDER BY pack ASC`);
    this.#parts = prepare(
      db,
      `SELECT thread_id AS threadId, pack, part, level, tips, bytes, sha256 ${OF_RUN} AND pack = ? ORDER BY part ASC`,
    );
    this.#next = prepare<[string], number>(db, `SELECT coalesce(max(pack), 0) + 1 ${OF_RUN}`).pluck();
    this.#insert = prepare(
      db,
      `INSERT INTO git_packs (thread_id, pack, part, level, tips, bytes, sha256)
       VALUES (@threadId, @pack, @part, @level, @tips, @bytes, @sha256)`,
    );
    this.#delete = prepare(db, 'DELETE FROM git_packs WHERE thread_id = ? AND pack = ?');
    this.#deleteBegun = prepare(db, `DELETE FROM git_packs WHERE thread_id = ? AND pack NOT IN (${WHOLE})`);
  }

  /** `null` for a run whose objects never travelled. */
  standOf(threadId: string): GitPosition | null {
    const row = this.#stand.get(threadId);
    if (row === undefined) return null;
    const { rowSha256 } = row;
    if (rowSha256 !== null && !equalBytes(this.#standSeal(threadId, row), rowSha256))
      throw packCorrupt(threadId, 'its git position or a git pack is missing or was replaced');
    return { refs: parseStored(row.refsJson, 'git_stands') as GitPosition['refs'], left: row.left };
  }

  /** In the caller's transaction. */
  putStand(threadId: string, { refs, left }: GitPosition): void {
    const stand = { refsJson: JSON.stringify(refs), left };
    this.#putStand.run({ threadId, ...stand, rowSha256: this.#standSeal(threadId, stand) });
  }

  #standSeal(threadId: string, { refsJson, left }: Omit<StandRow, 'rowSha256'>): Uint8Array {
    return hashOfRow([threadId, refsJson, left, ...this.#places.all(threadId).flat()]);
  }

  /** Oldest first. */
  list(threadId: string): readonly StoredGitPack[] {
    return this.#packs.all(threadId).map(({ tips, ...row }) => ({ ...row, tips: tips.split(' ') }));
  }

  bytesOf(threadId: string, pack: number): Uint8Array {
    const parts = this.#parts.all(threadId, pack);
    parts.forEach((row, at) => {
      if (row.part !== at || (row.sha256 !== null && !equalBytes(partSeal(row), row.sha256)))
        throw packCorrupt(threadId, `part ${at} of git pack ${pack} is missing or was replaced`);
    });
    return Buffer.concat(parts.map(({ bytes }) => bytes));
  }

  /** Forgets what travelled: in the caller's transaction, or its own. */
  clear(threadId: string): void {
    withinTransaction(this.#db, () => {
      for (const table of ['git_packs', 'git_stands'])
        prepare<[string]>(this.#db, `DELETE FROM ${table} WHERE thread_id = ?`).run(threadId);
    });
  }

  /** The number of the next pack; what was begun of one and never ended is gone, in the caller's transaction. */
  begin(threadId: string): number {
    this.#deleteBegun.run(threadId);
    return this.#next.get(threadId) ?? 1;
  }

  /** A part of a pack, in the caller's transaction; the last one makes it count, and takes those it replaces away. */
  putPart(
    threadId: string,
    place: { readonly pack: number; readonly part: number },
    { tips, bytes, level, replaces }: GitPack,
  ): void {
    const from = place.part * PACK_PART_BYTES;
    const isLast = from + PACK_PART_BYTES >= bytes.length;
    const part = bytes.subarray(from, from + PACK_PART_BYTES);
    const row = { threadId, ...place, level, tips: isLast ? tips.join(' ') : '', bytes: part };
    this.#insert.run({ ...row, sha256: partSeal(row) });
    if (isLast) for (const pack of replaces) this.#delete.run(threadId, pack);
  }
}

function partSeal({ threadId, pack, part, level, tips, bytes }: Omit<PartRow, 'sha256'>): Uint8Array {
  return hashOfRow([threadId, pack, part, level, tips, bytes]);
}

function packCorrupt(threadId: string, what: string): DevsError {
  return new DevsError(`The file of run "${threadId}" is damaged: ${what}.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
    context: { threadId },
  });
}

/**
 * What git holds of a run, kept in the run's record: for drivers on machines that share nothing else. A row that names an id
 * is written after this has what the id reaches.
 */
export interface GitRecord {
  /** As it was recorded last; `null` before. */
  stand(): GitPosition | null;
  /** Oldest first. */
  packs(): readonly StoredGitPack[];
  bytesOf(pack: number): Uint8Array;
  /** Resolves when it is written; a large pack goes in parts, and counts with the last. */
  record(stand: GitPosition, pack: GitPack | null): Promise<void>;
  /** Resolves when all that was recorded can be lost no more (law L11). */
  arrived(): Promise<void>;
}

/** What it is kept in: a state file. */
export interface RecordedFile {
  readonly db: Database;
  readonly outlet: Pick<CommitBarrier, 'pending'>;
  /** Runs `work` in one write transaction. */
  commit(work: () => void): void;
}

/** What git holds of a run, in the state file. */
export function gitRecord(threadId: string, store: RecordedFile): GitRecord {
  const gitPacks = new GitPackStore(store.db);
  return {
    stand: () => gitPacks.standOf(threadId),
    packs: () => gitPacks.list(threadId),
    bytesOf: (pack) => gitPacks.bytesOf(threadId, pack),
    record: (stand, pack) => recordGit(threadId, { stand, pack }, { store, gitPacks }),
    arrived: async () => void (await store.outlet.pending()),
  };
}

/** The last part of a pack, and with it the pack, is in one commit with where git stands; those before it go ahead. */
async function recordGit(
  threadId: string,
  { stand, pack }: { readonly stand: GitPosition; readonly pack: GitPack | null },
  { store, gitPacks }: { readonly store: RecordedFile; readonly gitPacks: GitPackStore },
): Promise<void> {
  const parts = pack === null ? 0 : Math.ceil(pack.bytes.length / PACK_PART_BYTES);
  let number = 0;
  for (let part = 0; pack !== null && part < parts - 1; part += 1) {
    store.commit(() => {
      if (part === 0) number = gitPacks.begin(threadId);
      gitPacks.putPart(threadId, { pack: number, part }, pack);
    });
    await store.outlet.pending();
  }
  store.commit(() => {
    if (parts === 1) number = gitPacks.begin(threadId);
    if (pack !== null) gitPacks.putPart(threadId, { pack: number, part: parts - 1 }, pack);
    gitPacks.putStand(threadId, stand);
  });
}
