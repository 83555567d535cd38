import { onNews } from '../db/FileWatch.ts';
import { assertSameFile } from '../db/fileIdentity.ts';
import { DevsError } from '../errors/DevsError.ts';
import type { AppRuns, ExecuteOptions, StartOptions } from './AppRuns.ts';
import { registerInternals } from './appInternals.ts';
import { DurableApp } from './DurableApp.ts';
import type { RunResult } from './drive/RunResult.ts';
import type { EngineStore } from './EngineStore.ts';
import { outsideGraphs } from './execution/ambientConfig.ts';
import type { FileApp } from './FileApp.ts';
import type { Principal } from './gates/HumanInTheLoopManager.ts';
import { type DeleteResult, deleteRun } from './runs/deleteRuns.ts';
import { type FollowedFile, followedFile } from './runs/FollowedRun.ts';
import { type ForkOptions, type ForkResult, forkRun } from './runs/forkRun.ts';
import { listRuns, type RunFilter, type RunPage } from './runs/listRuns.ts';
import { type GatePage, inbox } from './runs/openGates.ts';
import type { PageRequest } from './runs/pages.ts';
import { OneFile } from './runs/RunFiles.ts';
import type { StreamEvent } from './stream/StreamEvent.ts';
import type { StreamOptions } from './stream/streamRun.ts';

/** Runs that are all in one open state file: each call goes to it as it is. */
class LocalRuns<Graph, State, Update, Output>
  extends OneFile<FileApp<Graph, State, Update, Output>>
  implements AppRuns<Graph, State, Update, Output>
{
  readonly #close: () => void;

  constructor(file: FileApp<Graph, State, Update, Output>, close: () => void) {
    super(file);
    this.#close = close;
  }

  start(id: string, input: Update | undefined, options: StartOptions): Promise<void> {
    return this.file.start(id, input, options);
  }

  run(id: string, input: Update | undefined, options: ExecuteOptions): Promise<RunResult<Output>> {
    return this.file.run(id, input, options);
  }

  stream(
    id: string,
    input: Update | null | undefined,
    options: StreamOptions & ExecuteOptions,
  ): AsyncGenerator<StreamEvent, void> {
    return this.file.stream(id, input, options);
  }

  follow(id: string): Promise<FollowedFile<FileApp<Graph, State, Update, Output>>> {
    const { db, threads } = this.file.store;
    return followedFile({
      watch: async (tell) => onNews(db, tell),
      look: async () => {
        assertSameFile(db); // what others record would be in another file
        threads.require(id);
        return { file: this.file, at: '', close: () => {} };
      },
    });
  }

  fork(id: string, fork: ForkOptions): Promise<ForkResult> {
    return this.file.arrived(outsideGraphs(() => forkRun(id, fork, this.file.engine)));
  }

  async delete(id: string, { by }: { readonly by: Principal }): Promise<DeleteResult> {
    return this.file.arrived(deleteRun(id, by, this.file.engine));
  }

  list(filter: RunFilter): RunPage {
    return listRuns(filter, this.file.store);
  }

  openGates(page: PageRequest): GatePage {
    return inbox(page, this.file.store.sessions);
  }

  openIn(_parent: EngineStore): FileApp<Graph, State, Update, Output> {
    return this.file;
  }

  oneFile(): FileApp<Graph, State, Update, Output> {
    return this.file;
  }

  async drive(): Promise<never> {
    throw new DevsError('A worker cannot execute runs in a local state file.', {
      code: 'CONFIG_INVALID',
      remedy: 'Open the app with `runs`, or execute due runs with `app.runDue()`.',
    });
  }

  /** The file is closed when this returns. */
  async close(): Promise<void> {
    this.#close();
  }
}

/** @param close - Closes the state file, where the app opened it. */
export function localApp<Graph, State, Update, Output>(
  file: FileApp<Graph, State, Update, Output>,
  close: () => void = () => {},
): DurableApp<Graph, State, Update, Output> {
  const { graph, fingerprint } = file;
  const { events, memory, recordedAs = '' } = file.engine;
  const queue = { graph: recordedAs, fingerprint };
  const app = new DurableApp({ graph, queue, events, memory, runs: null }, new LocalRuns(file, close));
  registerInternals(app, file);
  return app;
}
