import type { Database } from 'better-sqlite3';
import { createDatabase } from '../db/createDatabase.ts';
import { type EncryptionKey, refuseKey } from '../db/encryptionKey.ts';
import { type AppOptions, type KnownGraph, planApp } from './AppFactory.ts';
import type { CompiledOf } from './compile/compileDurable.ts';
import type { DurableApp } from './DurableApp.ts';
import type { EngineStore } from './EngineStore.ts';
import type { AnswersAt, GateOf, GatesBefore } from './gates/DeclaredGate.ts';
import { type OwnGraphGuards, ownGraphProfile } from './graph/GraphProfile.ts';
import { graphName } from './graph/graphShape.ts';
import type { BuilderOf, GraphSource, NameOf, OutputOf, StateOf, UpdateOf } from './graph/graphSource.ts';
import { localApp } from './LocalRuns.ts';
import { remoteApp } from './remoteApp.ts';
import type { Runs } from './runs/Runs.ts';

/** Options of `durable`. Set exactly one of `file`, `db` and `runs`. */
export interface DurableOptions<
  State,
  Name extends string = string,
  Gates = { readonly [Node in Name]?: GateOf<State> },
> extends AppOptions<State, Name, Gates> {
  /** Path of the state file; created if missing. */
  readonly file?: string;
  /** An open state file from `createDatabase`. `app.close()` leaves it open. */
  readonly db?: Database;
  /**
   * Longest wait for a write while other processes write the file, in milliseconds; at least 5,000. Only with `file`.
   * @defaultValue 30,000
   */
  readonly busyTimeoutMs?: number;
  /**
   * Key of the state file: 32 bytes, or a string of at least 16 characters. A new file is encrypted with it. Needs the
   * driver `better-sqlite3-multiple-ciphers`; change it with `rekey`. Only with `file`.
   * @defaultValue the file is not encrypted
   */
  readonly encryptionKey?: EncryptionKey;
}

/** Where the runs of an app are, if not in a file of its own. */
export interface DurableRuns {
  /** Where each run has a file, such as a cluster; without `file` and `db`. It is closed with the app. */
  readonly runs?: Runs;
  /**
   * Name of the graph among those whose runs are there: `[A-Za-z0-9_-]`, at most 40.
   * @defaultValue the name the graph was compiled with
   */
  readonly graph?: string;
}

/**
 * Makes a LangGraph graph durable: every node, gate and step is stored in one SQLite file, and a run resumes from there
 * in any process. Accepts a builder (which is not changed), a compiled graph (with its store, cache, name and
 * breakpoints) or an agent.
 *
 * With `runs`, each run has its own file there, and workers execute it.
 *
 * @throws RangeError for a limit outside its range.
 * @throws TypeError if a gate names an unknown node; unless exactly one of `file`, `db` and `runs` is set; if the graph
 *   needs a name and lacks one; if `encryptionKey` is set with `db`; or if the graph is not supported: it has a channel
 *   of the engine's name, or lacks a builder.
 * @throws DevsError as `createDatabase`; `CONFIG_INVALID` for `encryptionKey` with `runs`.
 *
 * @example
 * ```ts
 * const app = durable(builder, { file: 'state.sqlite', gates: { publish: (state) => state.draft } });
 * const { gates } = await app.run('post-42', { brief: 'Say hello.' });
 * await app.decide(gates[0], { approved: true, by: { kind: 'human', id: 'ada' } });
 * await app.run('post-42');
 * ```
 */
export function durable<Source extends GraphSource, Answers extends AnswersAt<NameOf<Source>>>(
  source: Source,
  options: DurableOptions<
    StateOf<Source>,
    NameOf<Source>,
    GatesBefore<StateOf<Source>, NameOf<Source>, Answers>
  > &
    DurableRuns,
  { store, ...known }: KnownGraph<StateOf<Source>> & { readonly store?: EngineStore } = ownGraph(
    options.guards,
  ),
): DurableApp<CompiledOf<BuilderOf<Source>>, StateOf<Source>, UpdateOf<Source>, OutputOf<Source>> {
  const { file, db, runs, graph, busyTimeoutMs, encryptionKey, ...about } = options;
  if ([file, db, runs].filter((place) => place !== undefined).length !== 1)
    throw new TypeError('Expected exactly one of `file`, `db` and `runs`.');
  if (runs !== undefined) {
    refuseKey(encryptionKey);
    const named = { ...known, recordedAs: (own: string | undefined) => graphName(graph ?? own) };
    const plan = planApp<Source>(source, about, named);
    if (about.store === 'file') throw new TypeError(FILE_OF_ITS_OWN);
    return remoteApp(plan, runs);
  }
  const plan = planApp<Source>(source, about, known);
  const opened = openStateFile({ file, db, busyTimeoutMs, encryptionKey });
  return localApp(plan.open({ db: opened.db, ...(store && { store }) }), opened.close);
}

const FILE_OF_ITS_OWN =
  "With `runs`, each run has its own file, so `store: 'file'` would not be shared: use a BaseStore.";

function ownGraph<State extends object>(guards?: OwnGraphGuards<State>): KnownGraph<State> {
  return { profile: ownGraphProfile(guards), endOf: () => ({ status: 'completed', reason: null }) };
}

type FileOptions = Pick<DurableOptions<object>, 'file' | 'db' | 'busyTimeoutMs' | 'encryptionKey'>;

function openStateFile({
  file,
  db,
  busyTimeoutMs,
  encryptionKey,
}: { readonly [Name in keyof FileOptions]: FileOptions[Name] | undefined }): {
  readonly db: Database;
  readonly close: () => void;
} {
  if (db !== undefined) {
    if (encryptionKey !== undefined)
      throw new TypeError('encryptionKey: only allowed with `file`; open `db` with its key.');
    return { db, close: () => {} };
  }
  const waits = busyTimeoutMs === undefined ? {} : { busyTimeoutMs };
  const opened = createDatabase({ dbPath: file as string, encryptionKey, ...waits });
  return { db: opened, close: () => opened.close() };
}
