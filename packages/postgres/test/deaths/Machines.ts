import type { PostgresRuns } from '../../src/PostgresRuns.ts';
import { Worker, type WorkerEvent } from '../../src/worker/Worker.ts';
import { workApp } from '../chaos/workApp.ts';

export interface MachinesOptions {
  /** One more process, as it were. */
  readonly runs: () => PostgresRuns;
  readonly slots: number;
  /** What a node does; `die` ends its machine, and never returns. */
  readonly act: (run: string, node: string, die: () => Promise<never>) => Promise<void>;
}

const NEVER = new Promise<never>(() => undefined);

/** Workers of machines that die: what one that is dead drives stands still, and another one starts in its place. */
export class Machines {
  readonly #options: MachinesOptions;
  /** A machine that dies starts another one, which may be on its way when all are stopped. */
  readonly #workers: Promise<Worker>[] = [];
  /** Of each machine that has died: the runs that it had in hand. */
  readonly deaths: (readonly string[])[] = [];

  constructor(options: MachinesOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const started = this.#startOne();
    this.#workers.push(started);
    await started;
  }

  async #startOne(): Promise<Worker> {
    const { runs: another, slots, act } = this.#options;
    const runs = another();
    const inHand = new Set<string>();
    let isDead = false;
    const die = async (): Promise<never> => {
      if (isDead) return NEVER;
      isDead = true;
      this.deaths.push([...inHand].sort());
      await runs.owner.close();
      void this.start();
      return NEVER;
    };
    const app = workApp(runs, async (run, node) => {
      if (isDead) await NEVER;
      inHand.add(run);
      await act(run, node, die);
      if (isDead) await NEVER;
    });
    const onEvent = (event: WorkerEvent): void => {
      if (event.is === 'driving') inHand.add(event.threadId);
      if (event.is === 'settled') inHand.delete(event.threadId);
    };
    return Worker.start(runs, { drivers: [app], slots, onEvent });
  }

  async stop(): Promise<void> {
    // Those that are dead have runs in hand that never come to an end: their workers leave them.
    await Promise.all(this.#workers.map(async (started) => (await started).stop({ drainMs: 0 })));
  }
}
