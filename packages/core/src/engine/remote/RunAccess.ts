import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { EventBus } from '../../events/events.ts';
import { type HostIdentity, localHost } from '../../state/threads/hostIdentity.ts';
import { isOver } from '../drive/RunResult.ts';
import type { AppFactory } from '../file/AppFactory.ts';
import type { FileApp } from '../file/FileApp.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { HitlSessionNotFoundError } from '../gates/HumanInTheLoopManager.ts';
import { assertOfGraph } from '../graph/graphShape.ts';
import { type FollowedFile, followedFile, type SeenAs } from '../runs/followRun.ts';
import type { Addressee, ClaimOptions, Notice, RunFiles } from '../runs/RunFiles.ts';
import type { LeasedRun, NewRun, QueueOptions, RunFileView, RunRelease, Runs } from '../runs/Runs.ts';
import { applySignals, expireAllLeases, LeasedApp } from './LeasedApp.ts';
import { newRunFile } from './newRunFile.ts';

/** From where nobody's process can be seen: who has a lease in a copy is alive, as whoever handed it out has said. */
const ELSEWHERE: HostIdentity = { ...localHost(), bootId: '' };

/** What is refused before a run is deleted, and how that is done where its file is here. */
interface Deletion<File> {
  assert(file: File): void;
  here(file: File): Promise<number>;
}

/** How often it is tried to tell a run something as of what was seen: each time somebody else was faster. */
const ATTEMPTS = 100;

export interface RunAccessOptions<File> {
  readonly runs: Runs;
  /** What its runs are recorded as: no others are found. @defaultValue those of every graph are */
  readonly graph?: string;
  /** Where a run stands when it is let go of, and what is listed of it. */
  readonly standing: (id: string, file: File) => RunRelease | Promise<RunRelease>;
}

/**
 * Runs that have a file each. A run is read from a copy of its file, and a notice is applied to such a copy. A claim opens the run's
 * own file.
 */
export class RunAccess<Graph, State, Update, Output>
  implements RunFiles<FileApp<Graph, State, Update, Output>>
{
  readonly #plan: AppFactory<Graph, State, Update, Output>;
  readonly #runs: Runs;
  readonly #graph: string | undefined;
  readonly #standing: RunAccessOptions<FileApp<Graph, State, Update, Output>>['standing'];

  constructor(
    plan: AppFactory<Graph, State, Update, Output>,
    { runs, graph, standing }: RunAccessOptions<FileApp<Graph, State, Update, Output>>,
  ) {
    this.#plan = plan;
    this.#runs = runs;
    this.#graph = graph;
    this.#standing = standing;
  }

  /**
   * Records a new run and queues it; false for a known id.
   *
   * @param record - Writes it into its file; false where it is not to be.
   */
  async create(
    id: string,
    place: QueueOptions & Pick<NewRun, 'queue' | 'isDue'> & { readonly events?: EventBus },
    record: (file: FileApp<Graph, State, Update, Output>) => Promise<boolean>,
  ): Promise<boolean> {
    const { events, ...queued } = place;
    const db = newRunFile();
    try {
      const file = this.#plan.open({ db, ...(events && { events }) });
      if (!(await record(file))) return false;
      const index = await this.#standing(id, file);
      return await this.#runs.create({ ...queued, id, index, file: db.serialize() });
    } finally {
      db.close();
    }
  }

  read<T>(
    id: string,
    use: (file: FileApp<Graph, State, Update, Output>, view: RunFileView) => T | Promise<T>,
  ): Promise<T> {
    return this.#looking(id, async (file, view) => {
      this.#assertOurs([id], file);
      await applySentSignals(id, file, view);
      return use(file, view);
    });
  }

  /** Reads a run as it was when its last change arrived. */
  readRecord<T>(id: string, use: (store: EngineStore) => T): Promise<T> {
    return this.#looking(id, async (file) => {
      this.#assertOurs([id], file);
      return use(file.store);
    });
  }

  follow(id: string, as: SeenAs): Promise<FollowedFile<FileApp<Graph, State, Update, Output>>> {
    return followedFile({
      watch: (tell) => this.#runs.watch(id, tell),
      look: async (at) => {
        const view = at === null ? await this.#runs.open(id) : await this.#runs.reopen(id, at);
        if (view === null) return null;
        try {
          const file = this.#open(view);
          this.#assertOurs([id], file);
          if (as === 'told') await applySentSignals(id, file, view);
          return { file, at: view.at, close: () => view.close() };
        } catch (error) {
          view.close();
          throw error;
        }
      },
    });
  }

  /** Applies the notice to a copy and records its signal; begins again on a new copy if the run got another signal meanwhile. */
  async notify<T>(to: Addressee, notice: Notice<FileApp<Graph, State, Update, Output>, T>): Promise<T> {
    const id = 'run' in to ? to.run : await this.#runOf(to.gate);
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const told = await this.#looking(id, async (file, view) => {
        // A gate of a child is in the file of its parent, and is decided by the graph of either.
        const whose = 'run' in to ? id : (file.store.sessions.require(to.gate).threadId ?? id);
        this.#assertOurs([id, whose], file);
        await applySentSignals(id, file, view);
        const said = await notice.draft(file);
        const isTold = !view.isCopy || said.signal === null || (await view.tell(said.signal));
        return isTold ? said : null;
      });
      if (told !== null) return told.left;
    }
    throw tooBusy(id);
  }

  async #runOf(gate: string): Promise<string> {
    const id = await this.#runs.runOfGate(gate);
    if (id === null) throw new HitlSessionNotFoundError(gate);
    return id;
  }

  async claim<T>(
    id: string,
    change: (file: FileApp<Graph, State, Update, Output>) => T | Promise<T>,
    { goesOn = false, takesOver = false }: ClaimOptions = {},
  ): Promise<T> {
    const graph = takesOver ? undefined : this.#graph;
    return this.#holding(id, graph, async (held) => {
      await held.take();
      let changed: Promise<T> | null = null;
      const work = async (): Promise<T> => {
        if (changed !== null) await held.take();
        changed ??= Promise.resolve(change(held.file));
        return changed;
      };
      return this.#leaving(held, work, goesOn);
    });
  }

  /** Claims a run while it is executed, again where it was told something since, and lets go of it as it stands then. */
  async execute<T>(
    id: string,
    execute: (held: LeasedApp<Graph, State, Update, Output>) => Promise<T>,
  ): Promise<T> {
    return this.#holding(id, this.#graph, (held) => this.#leaving(held, () => execute(held)));
  }

  /**
   * Deletes a run and its signals, unless a process executes it; in a file with other runs, as `deletion.here` does it.
   *
   * @returns Bytes of its file. @throws What `deletion.assert` throws: nothing is deleted then.
   */
  async remove(id: string, deletion: Deletion<FileApp<Graph, State, Update, Output>>): Promise<number> {
    return this.#holding(id, this.#graph, async (opened) => {
      const { held, file } = opened;
      if (!held.isCopy) return deletion.here(file);
      const check = async (): Promise<void> => {
        await opened.take();
        deletion.assert(file);
      };
      do {
        const [checked] = await Promise.allSettled([check()]);
        if (checked.status === 'rejected') return this.#leaving(opened, () => Promise.reject(checked.reason));
      } while (!(await held.remove()));
      return held.db.serialize().length;
    });
  }

  #assertOurs(
    threadIds: readonly [string, ...string[]],
    { store }: FileApp<Graph, State, Update, Output>,
  ): void {
    assertOfGraph(this.#graph, threadIds, store);
  }

  /** @param graph - Of whose runs it is; `undefined` for a run of any graph. */
  async #holding<T>(
    id: string,
    graph: string | undefined,
    work: (held: LeasedApp<Graph, State, Update, Output>) => Promise<T>,
  ): Promise<T> {
    const held = await this.#hold(id, graph);
    try {
      const opened = new LeasedApp(held, this.#plan);
      assertOfGraph(graph, [id], opened.file.store);
      return await work(opened);
    } finally {
      await held.close();
    }
  }

  /** A run of another graph is not taken from who drives it. Storage may have an older name of its graph than its file. */
  async #hold(id: string, graph: string | undefined): Promise<LeasedRun> {
    if (graph === undefined) return this.#runs.hold(id);
    try {
      return await this.#runs.hold(id, graph);
    } catch (error) {
      if (!isDevsError(error, 'THREAD_NOT_FOUND')) throw error;
      await this.readRecord(id, () => undefined);
      return this.#runs.hold(id);
    }
  }

  async #looking<T>(
    id: string,
    use: (file: FileApp<Graph, State, Update, Output>, view: RunFileView) => T | Promise<T>,
  ): Promise<T> {
    const view = await this.#runs.open(id);
    try {
      return await use(this.#open(view), view);
    } finally {
      view.close();
    }
  }

  /** What is done to a copy has not happened: nobody hears of it. */
  #open({ db, isCopy, isDriven }: RunFileView): FileApp<Graph, State, Update, Output> {
    if (!isCopy) return this.#plan.open({ db });
    const file = this.#plan.open({ db, events: new EventBus(), host: ELSEWHERE, isDriven });
    if (!isDriven) expireAllLeases(file.store);
    return file;
  }

  /** Does `work` until nothing was told since. What it throws is thrown once the run was let go of, if that can be. */
  async #leaving<T>(
    opened: LeasedApp<Graph, State, Update, Output>,
    work: () => Promise<T>,
    goesOn = false,
  ): Promise<T> {
    const { held, file } = opened;
    const settle = async (): Promise<'settled' | 'again'> => {
      const standing = await this.#standing(held.id, file);
      const isDue = goesOn && !isOver(standing.status);
      return held.settle(isDue ? { ...standing, until: this.#plan.now() } : standing);
    };
    for (;;) {
      const [done] = await Promise.allSettled([work()]);
      if (done.status === 'rejected') {
        await opened
          .take()
          .then(settle)
          .catch(() => undefined);
        throw done.reason;
      }
      if ((await settle()) === 'settled') return done.value;
    }
  }
}

/** Writes into a copy what its run was told, as its driver will. */
async function applySentSignals(
  id: string,
  { engine }: Pick<FileApp<unknown, unknown, unknown>, 'engine'>,
  { isCopy, signals }: RunFileView,
): Promise<void> {
  if (isCopy) await applySignals(id, signals, engine);
}

const tooBusy = (id: string): DevsError =>
  new DevsError(`Run "${id}" receives other signals and decisions too quickly.`, {
    code: 'STATE_IO',
    remedy: 'Try again.',
    context: { threadId: id },
  });
