// Files of runs in PostgreSQL: the size limit, how they are stored and read, and a cache of recent reads.

import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, crc32 } from 'node:zlib';
import { DevsError, isDevsError } from '@devs/core';
import { type RunSignal, runFile } from '@devs/core/internal';
import type { ClientBase } from 'pg';
import { isLiveSql } from '../server/Owner.ts';
import { SERVER_NOW, ServerClock } from '../server/ServerClock.ts';
import type { Statement, Tables } from '../server/Tables.ts';
import { decodeChange, FileImage } from './change.ts';
import { type FileTemplates, unlike } from './FileTemplates.ts';

/** What a run's file may have, bytes, where nothing is said: who takes the run up reads it as a whole. */
export const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** The most that can be said: a change may be all of the file, and PostgreSQL takes 1 GB in one value. */
const MOST_FILE_BYTES = 1_000_000_000;

/** @throws RangeError for what no file can have. */
export function requireFileLimit(bytes: number): void {
  if (Number.isSafeInteger(bytes) && bytes > 0 && bytes <= MOST_FILE_BYTES) return;
  throw new RangeError(
    `maxFileBytes: expected a whole number from 1 to ${MOST_FILE_BYTES}, got ${String(bytes)}`,
  );
}

/** @throws DevsError `VALUE_TOO_LARGE` */
export function assertFileFits(runId: string, bytes: number, most: number): void {
  if (bytes <= most) return;
  throw new DevsError(`The file of run "${runId}" is ${bytes} bytes; the limit is ${most} bytes.`, {
    code: 'VALUE_TOO_LARGE',
    remedy:
      'Delete old checkpoints with `prune`, keep less in the state, or raise `maxFileBytes` of `postgres()` in every process.',
    context: { threadId: runId, bytes, limit: most, option: 'maxFileBytes' },
  });
}

const [compressed, decompressed] = [promisify(brotliCompress), promisify(brotliDecompress)];

/** A window of 4 MiB: a run's file has most of its values twice, as its input, in a channel, in a step. */
const COMPRESSION = {
  [constants.BROTLI_PARAM_QUALITY]: 4,
  [constants.BROTLI_PARAM_LGWIN]: 22,
};

/** Of a base, bytes: the version of the template it is unlike, and the sum of the file. */
const HEADER = 8;

/** Of a base in one row, bytes. */
const PART_BYTES = 1024 * 1024;

/** How the bytes of runs are kept: the same are given back. */
export interface RunCodec {
  encode(bytes: Uint8Array): Uint8Array;
  decode(bytes: Uint8Array): Uint8Array;
}

/** The codec of a tenant's runs. */
export type RunCodecs = (tenant: string) => RunCodec;

const PLAIN: RunCodec = { encode: (bytes) => bytes, decode: (bytes) => bytes };
export const plainCodecs: RunCodecs = () => PLAIN;

/** A file that was read, or left by its driver, at one point of its history. */
export interface KnownFile {
  readonly image: FileImage;
  /** Of the run: one that was deleted and made again is another one. */
  readonly birth: string;
  /** Of the claim before: a server that has lost commits may count to the same `seq` again, under another one. */
  readonly mark: string;
  /** Of the last change that arrived. */
  readonly seq: number;
}

/** A run's file as of its last arrival, and what the run was told, at one moment. */
export interface RunAtOnce extends KnownFile {
  readonly tenant: string;
  /** Of the changes that were read, bytes: those since the base. */
  readonly changed: number;
  /** Of what it was told last. */
  readonly told: number;
  /** Of the last of it that it has taken. */
  readonly taken: number;
  /** Whether a live process has it. */
  readonly driven: boolean;
  /** Why it was given up; `null` where it is not. */
  readonly givenUp: string | null;
  /** What it has not taken, oldest first. */
  readonly signals: readonly RunSignal[];
  /** Before the first change has arrived: the image and this make the run's file. */
  readonly start: RunStart | null;
}

/** For `runFile.begin`. */
interface RunStart {
  readonly run: ReturnType<typeof runFile.parseStart>;
  /** When it was recorded, milliseconds since the Unix epoch. */
  readonly at: number;
}

/** The file of a run, for the statement that records or settles it. */
export interface NewFile {
  /** Parts of a `WITH`, for the run in `held (run_id)`. @param first - Number of the first of its {@link values}. */
  readonly sql: (first: number) => string;
  readonly values: readonly unknown[];
  /** Puts what does not fit, in the same transaction; `null` where all of it does. */
  readonly rest: ((client: ClientBase) => Promise<void>) | null;
}

/** A packed file that has all changes of a run up to `seq`. */
interface NewBase {
  readonly runId: string;
  readonly seq: number;
  readonly bytes: Uint8Array;
}

interface FilePiece {
  readonly kind: 'run' | 'base' | 'change' | 'signal' | 'start';
  readonly bytes: Buffer | null;
  readonly text: string | null;
}

type RunText = Pick<
  RunAtOnce,
  'tenant' | 'birth' | 'mark' | 'seq' | 'told' | 'taken' | 'driven' | 'givenUp'
> & {
  readonly now: number;
  readonly created: number;
  /** Whether what was known is its file as it was: only what came after it was read. */
  readonly grown: boolean;
};

export interface RunFilesOptions {
  readonly codecs: RunCodecs;
  readonly maxFileBytes?: number;
  /** Every look sets it: a process without a session has these alone. @defaultValue a clock of its own */
  readonly clock?: ServerClock;
}

/** The files of runs, each as a base and the changes since: `run_bases`, `run_changes`. */
export class RunFiles {
  readonly #tables: Tables;
  readonly #templates: FileTemplates;
  readonly #codecs: RunCodecs;
  readonly #maxFileBytes: number;
  readonly #clock: ServerClock;
  /** Files that no run has written to, by version: never changed. */
  readonly #blanks = new Map<number, FileImage>();
  readonly #sql: Readonly<Record<'read' | 'putPart', Statement>>;

  constructor(
    tables: Tables,
    templates: FileTemplates,
    { codecs, maxFileBytes = MAX_FILE_BYTES, clock = new ServerClock() }: RunFilesOptions,
  ) {
    this.#tables = tables;
    this.#templates = templates;
    this.#codecs = codecs;
    this.#maxFileBytes = maxFileBytes;
    this.#clock = clock;
    this.#sql = {
      read: tables.statement('read', readSql(tables.schema)),
      putPart: tables.statement('put_part', putPartSql(tables.schema)),
    };
  }

  codecOf(tenant: string): RunCodec {
    return this.#codecs(tenant);
  }

  /**
   * `null` for no such run.
   *
   * @param known - What is there already: where only more has come to it, that alone is read, and put into its image, which
   *   is of no use once this has thrown.
   * @throws DevsError `STATE_CORRUPT`, `STATE_IO`
   */
  async read(runId: string, known: KnownFile | null = null): Promise<RunAtOnce | null> {
    const values = known === null ? [null, null, null] : [known.birth, known.mark, known.seq];
    const ask = () => this.#tables.query<FilePiece>(this.#sql.read, [runId, ...values]);
    const pieces = await this.#clock.reading(ask, ([piece]) => runText(piece)?.now);
    const of = (kind: FilePiece['kind']): readonly FilePiece[] =>
      pieces.filter((piece) => piece.kind === kind);
    const run = runText(pieces[0]);
    if (run === null) return null;
    const { grown, now: _, created, ...row } = run;
    const changes = of('change').map(pieceBytes);
    const codec = this.#codecs(row.tenant);
    try {
      const [started] = of('start');
      const image =
        (grown ? known?.image : undefined) ??
        (started === undefined ? await this.#imageOf(of('base'), codec) : await this.#blankOf(started));
      for (const bytes of changes) this.#apply(codec.decode(bytes), image);
      const changed = changes.reduce((sum, { length }) => sum + length, 0);
      const signals = of('signal').map(({ text }) => JSON.parse(text ?? '') as RunSignal);
      const start =
        started === undefined || row.seq > 0
          ? null
          : { run: runFile.parseStart(codec.decode(pieceBytes(started))), at: created };
      return { ...row, image, changed, signals, start };
    } catch (error) {
      throw runFileCorrupt(runId, error, this.#maxFileBytes);
    }
  }

  /** Before there is room for it: a few bytes can say that the file has any number of pages. */
  #apply(bytes: Uint8Array, image: FileImage): void {
    const change = decodeChange(bytes, (page) => image.page(page));
    if (change.pages * change.pageSize > this.#maxFileBytes) throw new RangeError(TOO_LARGE);
    image.apply(change);
  }

  /**
   * What {@link baseOf} takes.
   *
   * @param file - Its bytes are changed.
   */
  async packed(file: Uint8Array, tenant: string): Promise<Uint8Array> {
    const header = Buffer.alloc(HEADER);
    header.writeUInt32LE(runFile.schema);
    header.writeUInt32LE(crc32(file), 4);
    const own = unlike(file, await this.#templates.own());
    const params = { ...COMPRESSION, [constants.BROTLI_PARAM_SIZE_HINT]: own.length };
    return this.#codecs(tenant).encode(Buffer.concat([header, await compressed(own, { params })]));
  }

  async #imageOf(base: readonly FilePiece[], codec: RunCodec): Promise<FileImage> {
    const bytes = Buffer.from(codec.decode(Buffer.concat(base.map(pieceBytes))));
    const template = await this.#templates.of(bytes.readUInt32LE());
    const limit = { maxOutputLength: this.#maxFileBytes };
    const file = unlike(await decompressed(bytes.subarray(HEADER), limit), template);
    if (crc32(file) !== bytes.readUInt32LE(4)) throw new RangeError('The base belongs to another file.');
    return new FileImage(file);
  }

  /** Of which the run's first driver has made its file. */
  async #blankOf({ text }: FilePiece): Promise<FileImage> {
    const version = Number(text);
    const blank = this.#blanks.get(version) ?? new FileImage(markWalMode(await this.#templates.of(version)));
    this.#blanks.set(version, blank);
    return new FileImage(blank);
  }

  /** The start of a new run, of which its file is to be made. */
  async newStart(start: Uint8Array, tenant: string): Promise<NewFile> {
    await this.#templates.own(); // its readers find it
    const { schema } = this.#tables;
    return {
      sql: (first) => `placed AS (
  INSERT INTO ${schema}.run_starts (run_id, version, bytes) SELECT run_id, $${first}::int, $${first + 1}::bytea FROM held
)`,
      values: [runFile.schema, Buffer.from(this.#codecs(tenant).encode(start))],
      rest: null,
    };
  }

  /**
   * A file that has all changes up to `seq`, in their place.
   *
   * @param base - `bytes` of {@link packed}.
   */
  baseOf(base: NewBase): NewFile {
    const { seq, bytes } = base;
    return {
      sql: (first) => this.baseSql(first, seq === 0),
      values: [seq, partOf(bytes, 0)],
      rest: bytes.length > PART_BYTES ? (client) => this.#putRest(client, base) : null,
    };
  }

  /** Of {@link baseOf}. @param isFirst - Nothing is in its place. */
  baseSql(first: number, isFirst = false): string {
    const { schema } = this.#tables;
    return `${isFirst ? '' : forgottenSql(schema, `$${first}`)}placed AS (
  INSERT INTO ${schema}.run_bases (run_id, seq, part, bytes) SELECT run_id, $${first}::bigint, 0, $${first + 1}::bytea FROM held
)`;
  }

  async #putRest(client: ClientBase, { runId, seq, bytes }: NewBase): Promise<void> {
    for (let part = 1; part * PART_BYTES < bytes.length; part += 1)
      await client.query({ ...this.#sql.putPart, values: [runId, seq, part, partOf(bytes, part)] });
  }
}

const partOf = (bytes: Uint8Array, part: number): Buffer =>
  Buffer.from(bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES));

/** The first piece is the run. */
const runText = (piece: FilePiece | undefined): RunText | null =>
  piece?.text == null ? null : (JSON.parse(piece.text) as RunText);

const pieceBytes = ({ bytes }: FilePiece): Buffer => bytes ?? Buffer.alloc(0);

/** One statement, so that its parts are of one moment. A settled run stays as it was left until its next driver ships a change. */
const readSql = (schema: string): string => `
WITH found AS (
  SELECT *, epoch || ' ' || coalesce(lease, settled, birth) AS mark FROM ${schema}.runs WHERE run_id = $1
), run AS (
  SELECT *, coalesce(birth = $2::uuid AND base_seq <= $4 AND ($4 < head_seq
    OR ($4 = head_seq AND (mark = $3 OR settled::text = split_part($3, ' ', 2)))), false) AS grown
  FROM found
), pieces AS (
  SELECT 0 AS kind, 0::bigint AS at, NULL::bytea AS bytes,
    json_build_object('tenant', tenant, 'birth', birth, 'mark', mark, 'seq', head_seq, 'told', wake_seq, 'taken', handled_seq,
      'driven', owner IS NOT NULL AND ${isLiveSql(schema)}, 'grown', grown, 'now', ${SERVER_NOW},
      'givenUp', CASE WHEN given_up IS NOT NULL THEN coalesce(reason, '') END,
      'created', floor(extract(epoch FROM created_at) * 1000))::text AS text FROM run
  UNION ALL
  SELECT 1, b.part, b.bytes, NULL FROM run JOIN ${schema}.run_bases b ON b.run_id = run.run_id AND b.seq = run.base_seq
  WHERE NOT grown
  UNION ALL
  SELECT 2, c.seq, c.bytes, NULL FROM run JOIN ${schema}.run_changes c
    ON c.run_id = run.run_id AND c.seq > CASE WHEN grown THEN $4::bigint ELSE run.base_seq END
  UNION ALL
  SELECT 3, s.seq, NULL, s.signal FROM run JOIN ${schema}.signals s ON s.run_id = run.run_id AND s.seq > run.handled_seq
  UNION ALL
  SELECT 4, 0, s.bytes, s.version::text FROM run JOIN ${schema}.run_starts s ON s.run_id = run.run_id
  WHERE run.base_seq = 0 AND (run.head_seq = 0 OR NOT run.grown)
)
SELECT (ARRAY['run', 'base', 'change', 'signal', 'start'])[kind + 1] AS kind, bytes, text FROM pieces ORDER BY pieces.kind, at`;

/** What a new base has in it. @param seq - A parameter. */
const forgottenSql = (schema: string, seq: string): string => `bases AS (
  DELETE FROM ${schema}.run_bases b USING held WHERE b.run_id = held.run_id
), starts AS (
  DELETE FROM ${schema}.run_starts s USING held WHERE s.run_id = held.run_id
), parts AS (
  DELETE FROM ${schema}.run_parts p USING held WHERE p.run_id = held.run_id
), changes AS (
  DELETE FROM ${schema}.run_changes c USING held WHERE c.run_id = held.run_id AND c.seq <= ${seq}::bigint
), `;

const putPartSql = (schema: string): string =>
  `INSERT INTO ${schema}.run_bases (run_id, seq, part, bytes) VALUES ($1, $2, $3, $4)`;

/** As of a file that is written through a log: where it is one already, opening it changes no page. */
export function markWalMode(file: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(file);
  bytes.set([2, 2], 18);
  return bytes;
}

const TOO_LARGE = 'The file would exceed the maximum size.';

/** Of zlib: what comes of the bytes is more than it was told to give. */
const isTooLarge = (error: unknown): boolean =>
  error instanceof RangeError &&
  (error.message === TOO_LARGE || Reflect.get(error, 'code') === 'ERR_BUFFER_TOO_LARGE');

function runFileCorrupt(runId: string, cause: unknown, most: number): DevsError {
  const what = isTooLarge(cause)
    ? `results in a file of more than ${most} bytes`
    : 'does not result in its file';
  return new DevsError(`The data of run "${runId}" in PostgreSQL ${what}.`, {
    code: 'STATE_CORRUPT',
    remedy: isTooLarge(cause)
      ? 'Use the same `maxFileBytes` as the process that executed the run, or restore the database from a backup.'
      : 'Use the same `codec` that the data was written with, or restore the database from a backup.',
    context: { threadId: runId },
    cause,
  });
}

/** Of images that are kept, bytes: the run that was looked at longest ago goes first. */
const KEPT_BYTES = 64 * 1024 * 1024;

/**
 * The files of runs that were looked at or driven here, kept for the next look or drive. Only later changes are read, and not the file
 * anew. A change fits the file it was made to alone, by a sum over all of it; where it does not, the file is read as it is.
 */
export class LookedAtFiles {
  readonly #files: RunFiles;
  readonly #keptBytes: number;
  /** The longest unused first. */
  readonly #kept = new Map<string, KnownFile>();
  /** The last look at each run that is not done: one is done after the other. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(files: RunFiles, keptBytes = KEPT_BYTES) {
    this.#files = files;
    this.#keptBytes = keptBytes;
  }

  /**
   * A run as it is now, or later.
   *
   * @param use - Given it at once, as it may be another one by the next tick; `null` for no such run.
   * @throws DevsError `STATE_CORRUPT`, `STATE_IO`; what `use` throws.
   */
  look<T>(runId: string, use: (at: RunAtOnce | null) => T): Promise<T> {
    const before = this.#turns.get(runId) ?? Promise.resolve();
    const looked = before.then(async () => {
      const at = await this.#read(runId);
      if (at !== null) this.keep(runId, at);
      return use(at);
    });
    const turn = looked
      .catch(() => undefined)
      .then(() => {
        if (this.#turns.get(runId) === turn) this.#turns.delete(runId);
      });
    this.#turns.set(runId, turn);
    return looked;
  }

  async #read(runId: string): Promise<RunAtOnce | null> {
    const known = this.#kept.get(runId) ?? null;
    this.#kept.delete(runId);
    try {
      return await this.#files.read(runId, known);
    } catch (error) {
      if (known === null || !isDevsError(error, 'STATE_CORRUPT')) throw error;
      return await this.#files.read(runId); // it was another file than the one that has changed
    }
  }

  /** Reads a file to be held: the kept image belongs to its holder from then on. */
  toHold(runId: string): Promise<RunAtOnce | null> {
    return this.#read(runId);
  }

  /** The image is not to be changed by anybody else. */
  keep(runId: string, { image, birth, mark, seq }: KnownFile): void {
    this.#kept.set(runId, { image, birth, mark, seq });
    let bytes = 0;
    for (const kept of this.#kept.values()) bytes += kept.image.bytes.length;
    for (const [id, kept] of this.#kept) {
      if (bytes <= this.#keptBytes) return;
      this.#kept.delete(id);
      bytes -= kept.image.bytes.length;
    }
  }
}
