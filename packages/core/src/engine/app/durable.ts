import type { Database } from 'better-sqlite3';
import { type OptionNames, withKnownNames } from '../../config/knownOptions.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { type EncryptionKey, refuseKey } from '../../db/encryptionKey.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { type AppFactory, type AppOptions, type KnownGraph, planApp } from '../file/AppFactory.ts';
import { registerInternals } from '../file/appInternals.ts';
import type { FileApp } from '../file/FileApp.ts';
import type { AnswersAt, GateOf, GatesBefore } from '../gates/DeclaredGate.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { Gate, GateOfApp } from '../gates/Gate.ts';
import { graphFingerprint, graphName } from '../graph/graphShape.ts';
import type { GraphOf, GraphSource, NameOf, OutputOf, StateOf, UpdateOf } from '../graph/graphSource.ts';
import { type OwnGraphGuards, ownGraphProfile } from '../graph/NodeEngine.ts';
import type { RemoteRuns } from '../remote/RemoteRuns.ts';
import type { GateEventSource } from '../runs/gateEvents.ts';
import type { Runs } from '../runs/Runs.ts';
import type { StreamEvent } from '../stream/StreamEvent.ts';
import { toldBy } from '../stream/toldBy.ts';
import { type AppRuns, LocalRuns } from './AppRuns.ts';
import { APP_OPTIONS, assertGuardNames } from './appOptions.ts';
import { DurableApp } from './DurableApp.ts';

/** Options of `durable`. Set exactly one of `file`, `db` and `runs`. */
export interface DurableOptions<
  State,
  Name extends string = string,
  Gates = { readonly [Node in Name]?: GateOf<State> },
> extends AppOptions<State, Name, Gates> {
  /**
   * Name of the app, recorded with its runs: `[A-Za-z0-9_-]`, at most 40. Give each graph a name where several share a file:
   * `runDue` and `work` then execute the app's own runs only. In a cluster it is the name of the queue, as `graph`.
   * @defaultValue the name the graph was compiled with, if any
   */
  readonly name?: string;
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
   * @defaultValue `name`
   */
  readonly graph?: string;
}

/**
 * Makes a LangGraph graph durable: every node, gate and step is stored in one SQLite file, and a run resumes from there
 * in any process. Accepts a builder (which is not changed), a compiled graph (with its store, cache, name and
 * breakpoints) or an agent. Also accepts an `entrypoint` of the functional API and records its tasks as steps.
 *
 * With `runs`, each run has its own file there, and workers execute it.
 *
 * @throws RangeError for a limit outside its range.
 * @throws TypeError for an option that there is not; if a gate names an unknown node; unless exactly one of `file`, `db` and `runs` is set; if the graph
 *   needs a name and lacks one; if `encryptionKey` is set with `db`; or if the graph is not supported: it has a channel
 *   of the engine's name; or if an entrypoint is given `gates` or `guards.entropy`.
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
export function durable<Source extends GraphSource, Answers extends AnswersAt<NameOf<Source>>, Gates>(
  source: Source,
  options: DurableOptions<
    StateOf<Source>,
    NameOf<Source>,
    GatesBefore<StateOf<Source>, NameOf<Source>, Answers> & Gates
  > &
    DurableRuns,
  { store, ...known }: KnownGraph<StateOf<Source>> & { readonly store?: EngineStore } = ownGraph(
    options.guards,
  ),
): DurableApp<GraphOf<Source>, StateOf<Source>, UpdateOf<Source>, OutputOf<Source>, GateOfApp<Gates>> {
  assertGuardNames(withKnownNames('durable()', options, OPTIONS).guards);
  const { file, db, runs, graph, name, busyTimeoutMs, encryptionKey, ...about } = options;
  if ([file, db, runs].filter((place) => place !== undefined).length !== 1)
    throw new TypeError('Expected exactly one of `file`, `db` and `runs`.');
  if (runs !== undefined) {
    refuseKey(encryptionKey);
    if (graph !== undefined && name !== undefined && graph !== name)
      throw new TypeError('`name` and `graph` differ: set one of them.');
    const recordedAs = (own: string | undefined) => graphName(graph ?? name ?? own);
    // Their logs are in many files: who sends their spans finds an ended run by its event.
    const named = { ...known, recordedAs, numbersEnds: true };
    const { now = runs.now } = about;
    const plan = planApp<Source>(source, { ...about, ...(now && { now }) }, named);
    if (about.store === 'file') throw new TypeError(FILE_OF_ITS_OWN);
    return remoteApp(plan, runs);
  }
  if (name !== undefined) graphName(name, 'name');
  const plan = planApp<Source>(source, about, { ...known, recordedAs: (own) => name ?? own });
  const opened = openStateFile({ file, db, busyTimeoutMs, encryptionKey });
  return localApp(plan.open({ db: opened.db, ...(store && { store }) }), opened.close, plan);
}

const OPTIONS = {
  file: true,
  db: true,
  runs: true,
  graph: true,
  name: true,
  busyTimeoutMs: true,
  encryptionKey: true,
  ...APP_OPTIONS,
} satisfies OptionNames<DurableOptions<never> & DurableRuns>;

const FILE_OF_ITS_OWN =
  "With `runs`, each run has its own file, so `store: 'file'` would not be shared: use a BaseStore.";

function ownGraph<State>(guards?: OwnGraphGuards<State>): KnownGraph<State> {
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

type Hearing = Pick<AppFactory<never, never, never>, 'webhooks' | 'telemetry'>;

const NOBODY_HEARS: Hearing = { webhooks: {}, telemetry: null };

/** @param close - Closes the state file, where the app opened it. */
export function localApp<Graph, State, Update, Output, AppGate extends Gate = Gate>(
  file: FileApp<Graph, State, Update, Output>,
  close: () => void = () => {},
  { webhooks, telemetry }: Hearing = NOBODY_HEARS,
): DurableApp<Graph, State, Update, Output, AppGate> {
  const { graph, fingerprint } = file;
  const { events, memory, recordedAs = '' } = file.engine;
  const queue = { graph: recordedAs, fingerprint };
  const { db } = file.engine.store;
  const hearing = { webhooks, telemetry };
  const about = { graph, queue, events, memory, ...hearing, runs: null, file: db.memory ? null : db.name };
  const app = new DurableApp<Graph, State, Update, Output, AppGate>(about, new LocalRuns(file, close));
  registerInternals(app, file);
  return app;
}

/** An app whose runs have a file each. @throws TypeError as `durable`. */
function remoteApp<Graph, State, Update, Output, AppGate extends Gate>(
  plan: AppFactory<Graph, State, Update, Output>,
  runs: Runs,
): DurableApp<Graph, State, Update, Output, AppGate> {
  const { events, memory, webhooks, telemetry } = plan;
  const { graph, shape } = plan.outline();
  const queue = { graph: graphName(plan.recordedAs), fingerprint: graphFingerprint(shape) };
  let loaded: Promise<RemoteRuns<Graph, State, Update, Output>> | undefined;
  const load = (): Promise<RemoteRuns<Graph, State, Update, Output>> => {
    loaded ??= import('../remote/RemoteRuns.ts').then(({ RemoteRuns }) => new RemoteRuns(plan, runs, queue));
    return loaded;
  };
  const about = { graph, queue, events, memory, webhooks, telemetry, runs };
  return new DurableApp(about, appRuns(plan, runs, load));
}

/** What moves files and opens copies of them is loaded by the first call that needs it. */
function appRuns<Graph, State, Update, Output>(
  plan: AppFactory<Graph, State, Update, Output>,
  runs: Runs,
  load: () => Promise<RemoteRuns<Graph, State, Update, Output>>,
): AppRuns<Graph, State, Update, Output> {
  const opened = new WeakMap<EngineStore, FileApp<Graph, State, Update, Output>>();
  return {
    read: async (id, use) => (await load()).read(id, use),
    claim: async (...claim) => (await load()).claim(...claim),
    notify: async (...notify) => (await load()).notify(...notify),
    start: async (...start) => (await load()).start(...start),
    signalOrStart: async (...signal) => (await load()).signalOrStart(...signal),
    create: async (...create) => (await load()).createRun(...create),
    run: async (...run) => (await load()).run(...run),
    stream: (id, input, options) => {
      const { drain, signal = options.abort } = options;
      if (input === null)
        return reading(async () => (await load()).streamThere(id, { ...options, ...(signal && { signal }) }));
      return toldBy(
        async (tell, stop) => (await load()).streamHere(id, input, { ...options, drain: stop }, tell),
        drain,
      );
    },
    follow: async (...follow) => (await load()).follow(...follow),
    fork: async (...fork) => (await load()).fork(...fork),
    importThread: async (...thread) => (await load()).importThread(...thread),
    delete: async (...deletion) => (await load()).delete(...deletion),
    drive: async (...drive) => (await load()).drive(...drive),
    list: (filter) => runs.list(filter),
    get: (id) => runs.get(id),
    updateMetadata: (id, patch) => runs.updateMetadata(id, patch),
    openGates: (page) => runs.gates(page),
    numbers: () => runs.numbers(),
    ...sourcesOf(runs),
    webhooks: runs.webhooks,
    schedules: runs.schedules,
    openIn: (parent) => {
      const file = opened.get(parent) ?? plan.open({ db: parent.db, outlet: parent.outlet });
      opened.set(parent, file);
      return file;
    },
    oneFile: (what) => {
      throw elsewhere(what);
    },
    close: () => runs.close(),
  };
}

function sourcesOf(runs: Runs): Pick<AppRuns<never, never, never, never>, 'gateEvents' | 'outboxEvents'> {
  const all: GateEventSource = {
    page: (page) => runs.gateEvents(page),
    watch: (tell) => runs.watch(null, tell),
  };
  return { gateEvents: all, outboxEvents: all };
}

async function* reading(
  open: () => Promise<AsyncGenerator<StreamEvent, void>>,
): AsyncGenerator<StreamEvent, void> {
  yield* await open();
}

const elsewhere = (what: string): DevsError =>
  new DevsError(`These runs are not in a local state file, which ${what} needs.`, {
    code: 'RUN_ELSEWHERE',
    remedy:
      'Start a worker, devs worker ./app.js: it executes due runs. To delete ended runs, list them and delete each.',
    context: { what },
  });
