import { durable } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { PostgresRuns } from '../../src/PostgresRuns.ts';
import { Worker } from '../../src/Worker.ts';

const Work = Annotation.Root({
  run: Annotation<string>({ reducer: (_, next) => next, default: () => '' }),
  log: Annotation<readonly string[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});

/** What a node does: may never return. */
export type Act = (run: string, node: string) => Promise<void>;

/** A graph of three nodes, each an act and a checkpoint. */
export function workApp(runs: PostgresRuns, act: Act) {
  const node = (name: string) => async (state: typeof Work.State) => {
    await act(state.run, name);
    return { log: [name] };
  };
  const builder = new StateGraph(Work)
    .addNode('first', node('first'))
    .addNode('second', node('second'))
    .addNode('third', node('third'))
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', 'third')
    .addEdge('third', END);
  return durable(builder, { runs, graph: 'work' });
}

export type WorkApp = ReturnType<typeof workApp>;

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
  readonly #workers: Worker[] = [];
  /** Of each machine that has died: the runs that it had in hand. */
  readonly deaths: (readonly string[])[] = [];

  constructor(options: MachinesOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
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
    const onEvent: NonNullable<Parameters<typeof Worker.start>[1]['onEvent']> = (event) => {
      if (event.is === 'driving') inHand.add(event.runId);
      if (event.is === 'settled') inHand.delete(event.runId);
    };
    this.#workers.push(await Worker.start(runs, { drivers: [app], slots, onEvent }));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop({ drainMs: 0 })));
  }
}
