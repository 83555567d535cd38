import { DevsError } from '../errors/DevsError.ts';
import type { AppFactory } from './AppFactory.ts';
import type { AppRuns } from './AppRuns.ts';
import { DurableApp } from './DurableApp.ts';
import type { EngineStore } from './EngineStore.ts';
import type { FileApp } from './FileApp.ts';
import { graphFingerprint, graphName } from './graph/graphShape.ts';
import type { RemoteRuns } from './remote/RemoteRuns.ts';
import type { Runs } from './runs/Runs.ts';
import type { StreamEvent } from './stream/StreamEvent.ts';
import { toldBy } from './stream/toldBy.ts';

/** An app whose runs have a file each. @throws TypeError as `durable`. */
export function remoteApp<Graph, State, Update, Output>(
  plan: AppFactory<Graph, State, Update, Output>,
  runs: Runs,
): DurableApp<Graph, State, Update, Output> {
  const { events, memory } = plan;
  const { graph, shape } = plan.outline();
  const queue = { graph: graphName(plan.recordedAs), fingerprint: graphFingerprint(shape) };
  let loaded: Promise<RemoteRuns<Graph, State, Update, Output>> | undefined;
  const load = (): Promise<RemoteRuns<Graph, State, Update, Output>> => {
    loaded ??= import('./remote/RemoteRuns.ts').then(({ RemoteRuns }) => new RemoteRuns(plan, runs, queue));
    return loaded;
  };
  return new DurableApp({ graph, queue, events, memory, runs }, appRuns(plan, runs, load));
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
    run: async (...run) => (await load()).run(...run),
    stream: (id, input, { signal, ...options }) => {
      if (input === null)
        return reading(async () => (await load()).streamThere(id, { ...options, ...(signal && { signal }) }));
      return toldBy(
        async (tell, stop) => (await load()).streamHere(id, input, { ...options, signal: stop }, tell),
        signal,
      );
    },
    follow: async (...follow) => (await load()).follow(...follow),
    fork: async (...fork) => (await load()).fork(...fork),
    delete: async (...deletion) => (await load()).delete(...deletion),
    drive: async (...drive) => (await load()).drive(...drive),
    list: (filter) => runs.list(filter),
    openGates: (page) => runs.gates(page),
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

async function* reading(
  open: () => Promise<AsyncGenerator<StreamEvent, void>>,
): AsyncGenerator<StreamEvent, void> {
  yield* await open();
}

const elsewhere = (what: string): DevsError =>
  new DevsError(`These runs are not in a local state file, which ${what} needs.`, {
    code: 'RUN_ELSEWHERE',
    remedy: 'Start a worker: it executes due runs. To delete ended runs, list them and delete each.',
    context: { what },
  });
