import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';

/** What one super-step does, and what a run begins with. */
export interface Workload {
  readonly name: string;
  readonly steps: number;
  /** Whether contenders with a state file also journal two turns per step. */
  readonly journaled: boolean;
  readonly input: () => Partial<BenchState>;
  readonly update: (state: BenchState, step: number) => Partial<BenchState>;
}

interface Task {
  readonly taskId: string;
  readonly name: string;
  readonly description: string;
  readonly status: string;
  readonly dependsOn: readonly string[];
  readonly gitHash: string | null;
}

const last = <T>(initial: T) => Annotation<T>({ reducer: (_, next) => next, default: () => initial });

const State = Annotation.Root({
  step: last(0),
  stable: last(''),
  changing: last(''),
  appended: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  tasks: last<readonly Task[]>([]),
  documents: last<readonly string[]>([]),
  logs: last<readonly string[]>([]),
  turns: last(0),
});

export type BenchState = typeof State.State;

const KIB = 1024;
const WORDS =
  'the plan of this run is kept as text that a person reads and an agent wrote once more today'.split(' ');

/** Random numbers that are the same in every run. */
let seed = 7;
function random(): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
}

function prose(length: number): string {
  const words: string[] = [];
  for (let size = 0; size < length; size += 6) words.push(WORDS[Math.floor(random() * WORDS.length)] ?? '');
  return words.join(' ').padEnd(length, '.').slice(0, length);
}

function noise(length: number): string {
  const bytes = Uint8Array.from({ length: Math.ceil(length * 0.75) }, () => Math.floor(random() * 256));
  return Buffer.from(bytes).toString('base64').slice(0, length);
}

export function changing(steps: number): Workload {
  return {
    name: `100 KiB stable, 1 KiB changing, ${steps} steps`,
    steps,
    journaled: false,
    input: () => ({ stable: prose(100 * KIB) }),
    update: () => ({ changing: prose(KIB) }),
  };
}

export function appending(steps: number, content: 'text' | 'random'): Workload {
  const make = content === 'text' ? prose : noise;
  return {
    name: `1 KiB of ${content} appended, ${steps} steps`,
    steps,
    journaled: false,
    input: () => ({}),
    update: () => ({ appended: [make(KIB)] }),
  };
}

/** Two visits a task, a plan of all tasks in one channel, the last 20 log entries in another. */
export function pipeline(tasks: number): Workload {
  return {
    name: `pipeline of ${tasks} tasks with its journal`,
    steps: tasks * 2,
    journaled: true,
    input: () => ({
      documents: [prose(8 * KIB), prose(8 * KIB)],
      tasks: Array.from({ length: tasks }, (_, at) => aTask(at)),
    }),
    update: ({ tasks: all, logs, turns }, step) => {
      const at = Math.floor(step / 2);
      const status = step % 2 === 0 ? 'in_progress' : 'completed';
      const gitHash = step % 2 === 0 ? null : noise(40);
      return {
        tasks: all.map((task, index) => (index === at ? { ...task, status, gitHash } : task)),
        logs: [...logs, prose(400)].slice(-20),
        turns: turns + 1,
      };
    },
  };
}

function aTask(at: number): Task {
  return {
    taskId: `csv-export-1a2b3c:${at}`,
    name: prose(40),
    description: prose(200),
    status: 'pending',
    dependsOn: at === 0 ? [] : [`csv-export-1a2b3c:${at - 1}`],
    gitHash: null,
  };
}

/** A graph of one node that goes round until the workload is done; `visit` is called before each update. */
export function graphOf(
  workload: Workload,
  saver: BaseCheckpointSaver,
  visit: (state: BenchState, update: () => Partial<BenchState>) => Promise<Partial<BenchState>>,
) {
  return new StateGraph(State)
    .addNode('work', async (state) => {
      const update = () => ({ ...workload.update(state, state.step), step: state.step + 1 });
      return await visit(state, update);
    })
    .addEdge(START, 'work')
    .addConditionalEdges('work', ({ step }) => (step < workload.steps ? 'work' : END), ['work', END])
    .compile({ checkpointer: saver });
}
