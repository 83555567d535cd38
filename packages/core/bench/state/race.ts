import { CheckpointPersister } from '../../src/state/CheckpointPersister.ts';
import type { Contender } from './contenders.ts';
import { type BenchState, graphOf, type Workload } from './workloads.ts';

/** Milliseconds of each super-step of a contender: from a node's return to the next node's start. */
export interface Lap {
  readonly contender: Contender;
  readonly times: readonly number[];
}

/** Lets one graph do one super-step at a time. */
class Pace {
  #arrived: () => void = () => {};
  #go: () => void = () => {};
  #done = false;

  /** Called by the node: says that it is there and waits until it may go on. */
  async wait(): Promise<void> {
    const granted = new Promise<void>((resolve) => {
      this.#go = resolve;
    });
    this.#arrived();
    await granted;
  }

  finish(): void {
    this.#done = true;
    this.#arrived();
  }

  /** Lets the node go on; resolves when it is back, or the graph has ended. */
  async step(): Promise<boolean> {
    const back = new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
    this.#go();
    await back;
    return !this.#done;
  }

  async start(run: () => Promise<unknown>): Promise<void> {
    const back = new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
    void run().then(
      () => this.finish(),
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        process.exit(1);
      },
    );
    await back;
  }
}

/** Runs a workload on all contenders, one super-step each in turn, so that what disturbs one disturbs all. */
export async function race(workload: Workload, contenders: readonly Contender[]): Promise<readonly Lap[]> {
  const runners = contenders.map((contender) => ({ contender, pace: new Pace(), times: [] as number[] }));
  for (const { contender, pace } of runners) {
    const graph = graphOf(workload, contender.saver, visitor(workload, contender, pace));
    const config = { configurable: { thread_id: 'bench' }, durability: 'sync' as const };
    await pace.start(() =>
      graph.invoke(workload.input(), { ...config, recursionLimit: workload.steps + 10 }),
    );
  }
  for (let step = 0; step < workload.steps; step += 1) {
    // Another one begins each time: the first after a pause is slower.
    const order = [...runners.slice(step % runners.length), ...runners.slice(0, step % runners.length)];
    for (const { pace, times } of order) {
      const begin = performance.now();
      await pace.step();
      times.push(performance.now() - begin);
    }
  }
  return runners.map(({ contender, times }) => ({ contender, times }));
}

function visitor(workload: Workload, { db }: Contender, pace: Pace) {
  const journal = workload.journaled && db !== null ? new CheckpointPersister(db) : null;
  let turns = 0;
  const save = (turnType: 'Thought' | 'Action', state: BenchState): void => {
    const turn = { graphId: 'bench', nodeName: 'work', taskId: `task-${state.step}`, createdAt: new Date() };
    journal?.save({ ...turn, id: `turn-${turns++}`, turnType, state });
  };
  return async (state: BenchState, update: () => Partial<BenchState>): Promise<Partial<BenchState>> => {
    await pace.wait();
    save('Thought', state);
    const changed = update();
    save('Action', { ...state, ...changed } as BenchState);
    return changed;
  };
}
