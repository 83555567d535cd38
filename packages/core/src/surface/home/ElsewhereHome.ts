import { setTimeout as sleep } from 'node:timers/promises';
import type { FileNews } from '../../db/FileNews.ts';
import { type ClosedGate, type Gate, gatesNamed, openGates } from '../../engine/Gate.ts';
import type { GatePage } from '../../engine/runs/inbox.ts';
import { type PageRequest, pageLimit } from '../../engine/runs/pages.ts';
import type { RunDriver, RunPlace, Runs } from '../../engine/runs/Runs.ts';
import type { Admission } from '../../engine/start/RunStarts.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import type { Thread } from '../../state/ThreadStore.ts';
import { onlyHere } from '../elsewhere/onlyHere.ts';
import type { PipelineRuns } from '../elsewhere/PipelineRuns.ts';
import { runElsewhere } from '../elsewhere/runElsewhere.ts';
import { graphWork, type PipelineAppOptions } from '../PipelineApp.ts';
import type { Run, RunDeps } from '../Run.ts';
import type { PipelineHome, RunListPage } from './PipelineHome.ts';

/** Of a list that is read to its end. */
const PAGE = 1000;

/** Each run in a file of its own that is not here, such as in a cluster. */
export class ElsewhereHome implements PipelineHome {
  readonly #runs: Runs;
  readonly #about: Omit<PipelineAppOptions, 'db'>;
  readonly #deps: RunDeps;
  #pipeline: Promise<PipelineRuns> | null = null;

  constructor(runs: Runs, about: Omit<PipelineAppOptions, 'db'>, deps: RunDeps) {
    this.#runs = runs;
    this.#about = about;
    this.#deps = deps;
  }

  async warm(): Promise<void> {
    await this.#work();
  }

  driver(): Promise<RunDriver> {
    return this.#work();
  }

  #work(): Promise<PipelineRuns> {
    this.#pipeline ??= graphWork().then((work) => work.pipelineRuns(this.#runs, this.#about, this.#deps));
    return this.#pipeline;
  }

  async find(id: string): Promise<Thread | null> {
    try {
      return await (await this.#work()).record(id, ({ threads }) => threads.get(id));
    } catch (error) {
      if (isDevsError(error, 'THREAD_NOT_FOUND')) return null;
      throw error;
    }
  }

  async require(id: string): Promise<void> {
    await (await this.#work()).record(id, ({ threads }) => threads.require(id));
  }

  /** Every machine has a folder of its own. */
  folderName(): null {
    return null;
  }

  async admit(admission: Admission, place: RunPlace): Promise<void> {
    await (await this.#work()).admit(admission, place);
  }

  handle(id: string): Run {
    return runElsewhere(id, () => this.#work(), this.#about.events);
  }

  async ids({ limit, after, status }: RunListPage): Promise<readonly string[]> {
    const isAll = limit === undefined && after === undefined && status === undefined;
    const most = isAll ? Number.POSITIVE_INFINITY : pageLimit(limit);
    if (after !== undefined) await this.require(after);
    const ids: string[] = [];
    let place: string | null | undefined;
    while (place !== null && placeAfter(ids, after) + most > ids.length) {
      const wanted = { limit: PAGE, ...(place !== undefined && { after: place }) };
      const { runs, next } = await this.#runs.list({ ...wanted, ...(status !== undefined && { status }) });
      ids.push(...runs.map(({ id }) => id));
      place = next;
    }
    const begin = placeAfter(ids, after);
    return ids.slice(begin, begin + most);
  }

  async gates(): Promise<readonly Gate[]> {
    const gates: Gate[] = [];
    let after: string | null | undefined;
    while (after !== null) {
      const page = await this.#runs.gates({ limit: PAGE, ...(after !== undefined && { after }) });
      gates.push(...page.gates);
      after = page.next;
    }
    return gates;
  }

  async openGates(page: PageRequest): Promise<GatePage & { readonly total: number }> {
    const [found, all] = [await this.#runs.gates(page), await this.gates()];
    return { ...found, total: all.length };
  }

  /** Open ones by the beginning, closed ones by the whole id: that is how they are indexed. */
  async gatesNamed(beginning: string): Promise<readonly (Gate | ClosedGate)[]> {
    const id = beginning === '' ? null : await this.#runs.runOfGate(beginning);
    if (id !== null)
      return (await this.#work()).record(id, ({ sessions }) => gatesNamed(beginning, sessions));
    return (await this.gates()).filter(({ sessionId }) => sessionId.startsWith(beginning));
  }

  async gatesOf(id: string): Promise<readonly Gate[]> {
    return (await this.#work()).record(id, ({ sessions }) => openGates(id, sessions));
  }

  /** Asks again and again: nobody is told of what others do. */
  async news(): Promise<Pick<FileNews, 'next' | 'stop'>> {
    return {
      next: async (ms, signal) => sleep(ms, undefined, { ...(signal && { signal }) }).catch(() => undefined),
      stop: () => undefined,
    };
  }

  async remove(id: string): Promise<never> {
    throw onlyHere('remove', id);
  }

  async collect(): Promise<never> {
    throw onlyHere('collect');
  }

  async dataVersion(): Promise<never> {
    throw onlyHere('dataVersion');
  }

  async verify(): Promise<never> {
    throw onlyHere('verify');
  }

  async backup(): Promise<never> {
    throw onlyHere('backup');
  }

  /** Whoever made `runs` closes it. */
  close(): void {}
}

/** Where a page begins; past the end while the run before it has not been read. */
const placeAfter = (ids: readonly string[], after: string | undefined): number => {
  if (after === undefined) return 0;
  const at = ids.indexOf(after);
  return at === -1 ? ids.length : at + 1;
};
