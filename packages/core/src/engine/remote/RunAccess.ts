import { DevsError } from '../../errors/DevsError.ts';
import { EventBus } from '../../events/EventBus.ts';
import { type HostIdentity, localHost } from '../../state/threads/hostIdentity.ts';
import type { AppFactory, AppInstance } from '../AppFactory.ts';
import { internalsOf } from '../appInternals.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { Principal } from '../gates/HumanInTheLoopManager.ts';
import { assertOfGraph } from '../graph/graphShape.ts';
import { assertDeletable } from '../runs/deleteRuns.ts';
import type { RunFileView, RunRelease, RunSignal, Runs } from '../runs/Runs.ts';
import { applySignals } from './applySignals.ts';
import { FollowedRun, type UseRunFile } from './FollowedRun.ts';
import { expireAllLeases, LeasedApp } from './LeasedApp.ts';

/** What came of telling a run something. */
export interface SignalDraft<T> {
  readonly left: T;
  /** What is to be recorded of it; `null` where nothing is new. */
  readonly signal: RunSignal | null;
}

/** From where nobody's process can be seen: who has a lease in a copy is alive, as whoever handed it out has said. */
const ELSEWHERE: HostIdentity = { ...localHost(), bootId: '' };

/** How a held run stands when it is let go of. */
type StatusReader<Graph, State, Update> = (
  opened: AppInstance<Graph, State, Update>,
) => RunRelease | Promise<RunRelease>;

/** What is refused before a run is deleted, and how that is done where its file is here. */
interface Deletion<Graph, State, Update> {
  assert(opened: AppInstance<Graph, State, Update>): void;
  here(opened: AppInstance<Graph, State, Update>): Promise<number>;
}

/** How often it is tried to tell a run something as of what was seen: each time somebody else was faster. */
const ATTEMPTS = 100;

/** The ways to a run's file: to look at it, to tell the run something, to hold it. Each has an ordinary app over it. */
export class RunAccess<Graph, State, Update> {
  readonly #plan: AppFactory<Graph, State, Update>;
  readonly #runs: Runs;
  readonly #graph: string | undefined;

  /** @param graph - What its runs are recorded as: no others are found. @defaultValue those of every graph are */
  constructor(plan: AppFactory<Graph, State, Update>, runs: Runs, graph?: string) {
    this.#plan = plan;
    this.#runs = runs;
    this.#graph = graph;
  }

  /** Looks at a run as it is once its driver has taken what it was told. */
  look<T>(id: string, use: UseRunFile<Graph, State, Update, T>): Promise<T> {
    return this.#looking(id, async (opened, looked) => {
      this.#assertOurs([id], opened);
      await applySentSignals(id, opened, looked);
      return use(opened, looked);
    });
  }

  /** Looks at a run as it was when its last change arrived. */
  lookAtRecord<T>(id: string, use: (store: EngineStore) => T): Promise<T> {
    return this.#looking(id, async (opened) => {
      this.#assertOurs([id], opened);
      return use(internalsOf(opened.app).store);
    });
  }

  /** Looks at a run again whenever something of it is new. Close it when done. */
  follow(id: string): Promise<FollowedRun<Graph, State, Update>> {
    return FollowedRun.of(id, this.#runs, (looked) => {
      const opened = this.#open(looked);
      this.#assertOurs([id], opened);
      return opened;
    });
  }

  /**
   * Does something to a copy of a run's file, with all of the engine's checks, and records what the run is to be told of it,
   * if it was told nothing else meanwhile; else looks again.
   *
   * @param whose - The run of its file that is meant: a child, by its own graph. @defaultValue the one whose file it is
   */
  async tell<T>(
    id: string,
    say: (opened: AppInstance<Graph, State, Update>) => Promise<SignalDraft<T>>,
    whose: (store: EngineStore) => string = () => id,
  ): Promise<T> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const told = await this.#looking(id, async (opened, looked) => {
        this.#assertOurs([id, whose(internalsOf(opened.app).store)], opened);
        await applySentSignals(id, opened, looked);
        const said = await say(opened);
        const isTold = !looked.isCopy || said.signal === null || (await looked.tell(said.signal));
        return isTold ? said : null;
      });
      if (told !== null) return told.left;
    }
    throw tooBusy(id);
  }

  /** Holds a run while `change` is made to its file, and lets go of it as it stands then. */
  async change<T>(
    id: string,
    change: (opened: AppInstance<Graph, State, Update>) => Promise<T>,
    standing: StatusReader<Graph, State, Update>,
  ): Promise<T> {
    await this.#lookBefore(id);
    return this.takeOver(id, change, standing);
  }

  /** {@link change} of a run that another graph may have: it is this one's then, if the change says so. */
  takeOver<T>(
    id: string,
    change: (opened: AppInstance<Graph, State, Update>) => Promise<T>,
    standing: StatusReader<Graph, State, Update>,
  ): Promise<T> {
    return this.#holding(id, async (held) => {
      await held.take();
      let changed: Promise<T> | null = null;
      const work = async (): Promise<T> => {
        if (changed !== null) await held.take();
        changed ??= change(held);
        return changed;
      };
      return leaving(held, work, standing);
    });
  }

  /** Holds a run while it is driven, again where it was told something since, and lets go of it as it stands then. */
  async drive<T>(
    id: string,
    drive: (held: LeasedApp<Graph, State, Update>) => Promise<T>,
    standing: StatusReader<Graph, State, Update>,
  ): Promise<T> {
    await this.#lookBefore(id);
    return this.#holding(id, (held) => leaving(held, () => drive(held), standing));
  }

  /**
   * Deletes a run that nobody drives, with what it was told, in a file that others share as `deletion.here` says.
   *
   * @returns Bytes of its file. @throws What `deletion.assert` throws: nothing is deleted then.
   */
  async remove(
    id: string,
    deletion: Deletion<Graph, State, Update>,
    standing: StatusReader<Graph, State, Update>,
  ): Promise<number> {
    await this.#lookBefore(id);
    return this.#holding(id, async (opened) => {
      const { held } = opened;
      if (!held.isCopy) return deletion.here(opened);
      const check = async (): Promise<void> => {
        await opened.take();
        deletion.assert(opened);
      };
      do {
        const [checked] = await Promise.allSettled([check()]);
        if (checked.status === 'rejected')
          return leaving(opened, () => Promise.reject(checked.reason), standing);
      } while (!(await held.remove()));
      return held.db.serialize().length;
    });
  }

  /** Before it is held: a run of another graph is not taken from who drives it. */
  async #lookBefore(id: string): Promise<void> {
    if (this.#graph !== undefined) await this.lookAtRecord(id, () => undefined);
  }

  #assertOurs(threadIds: readonly [string, ...string[]], { app }: AppInstance<Graph, State, Update>): void {
    assertOfGraph(this.#graph, threadIds, internalsOf(app).store);
  }

  async #holding<T>(id: string, work: (held: LeasedApp<Graph, State, Update>) => Promise<T>): Promise<T> {
    const held = await this.#runs.hold(id);
    try {
      return await work(new LeasedApp(held, this.#plan));
    } finally {
      await held.close();
    }
  }

  async #looking<T>(id: string, use: UseRunFile<Graph, State, Update, T>): Promise<T> {
    const looked = await this.#runs.open(id);
    try {
      return await use(this.#open(looked), looked);
    } finally {
      looked.close();
    }
  }

  /** What is done to a copy has not happened: nobody hears of it. */
  #open({ db, isCopy, isDriven }: RunFileView): AppInstance<Graph, State, Update> {
    if (!isCopy) return this.#plan.open({ db });
    const opened = this.#plan.open({ db, events: new EventBus(), host: ELSEWHERE });
    if (!isDriven) expireAllLeases(internalsOf(opened.app).store);
    return opened;
  }
}

/** As `DurableApp.delete` does it. */
export const endedOnly = <Graph, State, Update>(
  id: string,
  by: Principal,
): Deletion<Graph, State, Update> => ({
  assert: ({ app }) => assertDeletable(id, by, internalsOf(app).store),
  here: async ({ app }) => (await app.delete(id, { by })).bytes,
});

/** Writes into a copy what its run was told, as its driver will. */
export async function applySentSignals<Graph, State, Update>(
  id: string,
  { parts }: AppInstance<Graph, State, Update>,
  { isCopy, signals }: RunFileView,
): Promise<void> {
  if (isCopy) await applySignals(id, signals, parts);
}

/** Does `work` until nothing was told since. What it throws is thrown once the run was let go of, if that can be. */
async function leaving<Graph, State, Update, T>(
  opened: LeasedApp<Graph, State, Update>,
  work: () => Promise<T>,
  standing: StatusReader<Graph, State, Update>,
): Promise<T> {
  const settle = async (): Promise<'settled' | 'again'> => opened.held.settle(await standing(opened));
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

const tooBusy = (id: string): DevsError =>
  new DevsError(`Run "${id}" receives other signals and decisions too quickly.`, {
    code: 'STATE_IO',
    remedy: 'Try again.',
    context: { threadId: id },
  });
