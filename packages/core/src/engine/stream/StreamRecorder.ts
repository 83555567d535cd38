// The stream of LangGraph in one call of a run's graph, on its way into the file.
//
//   updates   belong to the write of a task: LangGraph pushes them right after it asked for that write, and they are rows
//             of its transaction. What was written already and is pushed again when a run goes on has no write
//   values    of the run's own graph belong to its checkpoint: rows of its transaction
//   the rest  is recorded at once, in the order it came, at the latest with the next write: what nodes tell (custom), and
//             chunks of graphs inside nodes. Each is the n-th of its task, and the n-th of a task is recorded once
//
// Invariants:
//   T1. A chunk is in the file if and only if what it tells of is.
//   T2. Within a task, the order of the file is that of the stream.
//   T3. Nothing here waits for a reader.

import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  INTERRUPT,
  type PendingWrite,
} from '@langchain/langgraph-checkpoint';
import type { Limits } from '../../config/limits.ts';
import type { NewStreamEvent } from '../../state/events/StreamStore.ts';
import type { Alongside, StreamedGraph, StreamedWrite } from '../saver/DrivenSaver.ts';
import type { StreamedTask } from './ModelVoices.ts';
import { dumpChunk, shapeOfUpdate } from './StreamEvent.ts';
import { graphNsOf, lastingTask, ownTaskOf, type PlaceHere, type Teller, taskNsHere } from './tasks.ts';

/** LangGraph pushes the namespace of a graph, a mode, and the chunk. */
type Pushed = [ns: string[], mode: string, payload: unknown];

type ChunkRecord = Readonly<Record<string, unknown>>;

/** Where a recorder writes. */
interface StreamSink {
  /** Appends, in the caller's transaction. */
  append(events: readonly NewStreamEvent[]): void;
  /** Appends in a transaction of its own, under the lease. */
  record(events: readonly NewStreamEvent[]): void;
  /** Something was committed. */
  wake(): void;
  /** Whether a reader here waits. */
  isRead(): boolean;
  taskBegins(task: StreamedTask): void;
}

/** A chunk on its way to the file. */
interface QueuedChunk {
  readonly event: Omit<NewStreamEvent, 'body'>;
  /** `null` while it is being serialized. */
  body: NewStreamEvent['body'] | null;
  /** Resolves once it was. */
  readonly serialized: Promise<void> | null;
}

/** The checkpoint of the values that LangGraph pushes next. */
interface Envelope {
  readonly ns: string;
  readonly id: string;
  readonly source: string;
  /** The same when the super-step is ended anew; the id is another one then. */
  readonly step: number;
}

/** Of the run's own graph: its values are known from its checkpoints. */
const OWN_MODES = new Set(['updates']);
const INNER_MODES = new Set(['updates', 'values']);

interface RecordedStream {
  readonly threadId: string;
  /** Channels that the run's own graph streams. */
  readonly channels: readonly string[];
  readonly limits: Limits;
  /** @defaultValue there are no nodes */
  readonly placeHere?: PlaceHere;
}

/** Given to LangGraph as the stream of a graph around the run's own. */
export class StreamRecorder implements StreamedGraph {
  readonly #run: RecordedStream;
  readonly #sink: StreamSink;
  /** The write that LangGraph has just asked for: what it pushes before it does anything else is of that. */
  #write: TaskWrite | null = null;
  #envelope: Envelope | null = null;
  /** The latest of the run's own graph. */
  #checkpointId: string | null = null;
  #hasBegun = false;
  /** Writes of tasks that are not in the file yet. */
  readonly #begun = new Set<Promise<void>>();
  readonly #loose: QueuedChunk[] = [];
  #isDue = false;
  #failure: unknown = null;
  /** Graphs inside nodes that keep checkpoints. */
  readonly #keeping = new Set<string>();
  /** The latest checkpoint of each, until it was pushed as values. */
  readonly #latest = new Map<string, Pick<Checkpoint, 'id' | 'channel_values'>>();
  /** By task of the run's own graph, how many chunks each teller in it has told in this execution. */
  readonly #counts = new Map<string, Map<string, { readonly attempt: number; readonly told: number }>>();

  constructor(run: RecordedStream, sink: StreamSink) {
    this.#run = run;
    this.#sink = sink;
  }

  /** Copied by LangGraph as it begins a graph, the run's own before any other, and asked at every chunk. */
  get modes(): Set<string> {
    const modes = this.#hasBegun ? INNER_MODES : OWN_MODES;
    this.#hasBegun = true;
    return modes;
  }

  /** As `config.writer`. @throws DevsError `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE`: the chunk is nowhere then. */
  readonly writer = (chunk: unknown): void => {
    const taskNs = taskNsHere();
    // Without a name, it may be told again after a restart.
    if (taskNs === null) this.#add(this.#serialize({ mode: 'custom', ns: '' }, chunk));
    else this.#tell({ mode: 'custom', ns: graphNsOf(taskNs) }, chunk, taskNs, this.#run.placeHere?.());
  };

  push(pushed: Pushed): void {
    const [path, mode, payload] = pushed;
    if (!isChunkRecord(payload)) return;
    const ns = path.join('|');
    // LangGraph keeps what the run's own graph pushes until that has ended.
    if (this.#isOwn(ns, payload)) (pushed as unknown[]).length = 0;
    if (INTERRUPT in payload) return;
    try {
      if (mode === 'updates') this.#updates(ns, payload);
      else if (mode === 'values') this.#innerValues(ns, payload);
      else if (mode === 'checkpoints') this.#envelope = { ns, ...(payload as Omit<Envelope, 'ns'>) };
    } catch (error) {
      this.#failure ??= error; // LangGraph expects nothing to be thrown here
    }
  }

  get isRead(): boolean {
    return this.#sink.isRead();
  }

  #isOwn(ns: string, payload: ChunkRecord): boolean {
    return ns === '' && (this.#write?.isOwn === true || payload['id'] === this.#checkpointId);
  }

  begins(ns: string): void {
    this.#keeping.add(ns);
  }

  writes(
    { threadId, ns, checkpointId }: StreamedWrite,
    taskId: string,
    writes: readonly PendingWrite[],
  ): Alongside {
    const isOfRun = threadId === this.#run.threadId;
    const refersTo = isOfRun ? { checkpointId, taskId } : null;
    const write: TaskWrite = { ns, refersTo, writes, isOwn: isOfRun && ns === '', told: null };
    this.#write = write;
    queueMicrotask(() => {
      if (this.#write === write) this.#write = null;
      if (ns === '') this.#forget(taskId);
    });
    const { promise, over } = deferred();
    this.#begun.add(promise);
    const done = (): void => {
      this.#begun.delete(promise);
      over();
    };
    return { ...this.#alongside(() => write.told), over: done };
  }

  checkpoint(
    { threadId, ns }: Pick<StreamedWrite, 'threadId' | 'ns'>,
    { id, channel_values }: Checkpoint,
    { source }: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Alongside {
    const isOfRun = threadId === this.#run.threadId;
    const isOwn = isOfRun && ns === '';
    if (isOwn) this.#checkpointId = id;
    else if (isOfRun) this.#latest.set(ns, { id, channel_values });
    const isTold = isOwn && source === 'loop' && this.#run.channels.some((name) => name in newVersions);
    const told: QueuedChunk = {
      event: { mode: 'values', ns },
      body: { refers: { checkpointId: id } },
      serialized: null,
    };
    // LangGraph does not wait for the writes of the tasks before it asks for the checkpoint they lead to.
    const begun = [...this.#begun];
    const { ready, ...alongside } = this.#alongside(() => (isTold ? told : null));
    const readyAfter = async (): Promise<void> => {
      await Promise.all(begun);
      await ready();
    };
    return { ...alongside, ready: readyAfter };
  }

  /** A task of the run's own graph begins, or begins anew: what it tells is counted from the start. */
  taskBegins(task: StreamedTask): void {
    this.#counts.delete(task.id);
    this.#sink.taskBegins(task);
  }

  /** @throws what could not be recorded. */
  async settled(): Promise<void> {
    await this.#serialized(this.#loose);
    this.#flush();
    if (this.#failure !== null) throw this.#failure;
  }

  #alongside(own: () => QueuedChunk | null): Alongside {
    let sent = 0;
    return {
      ready: async () => {
        const told = own();
        await this.#serialized(told === null ? this.#loose : [...this.#loose, told]);
        if (this.#failure !== null) throw this.#failure;
      },
      inTx: () => {
        const told = own();
        const loose = this.#whole();
        sent = loose.length;
        this.#sink.append(told === null ? loose : [...loose, ...wholeEvents([told])]);
      },
      taken: () => {
        const told = own();
        const loose = this.#whole();
        this.#loose.splice(0, loose.length);
        const events = told === null ? loose : [...loose, ...wholeEvents([told])];
        return () => this.#sink.append(events);
      },
      committed: () => {
        this.#loose.splice(0, sent);
        this.#sink.wake();
      },
      over: () => {},
    };
  }

  #updates(ns: string, chunk: ChunkRecord): void {
    const write = this.#write;
    if (write !== null && write.ns === ns) {
      this.#write = null;
      const { refersTo, writes } = write;
      const shape = refersTo === null || '__metadata__' in chunk ? null : shapeOfUpdate(chunk, writes);
      const event = { mode: 'updates', ns } as const;
      write.told =
        shape === null
          ? this.#serialize(event, chunk)
          : { event, body: { refers: { ...refersTo, shape } }, serialized: null };
      return;
    }
    // Written before, and pushed again as the run goes on.
    if ('__metadata__' in chunk && (ns === '' || this.#keeping.has(ns))) return;
    this.#tell({ mode: 'updates', ns }, chunk, ns);
  }

  /** Pushed once the checkpoint is in the file, and again as the graph goes on from it. */
  #innerValues(ns: string, chunk: ChunkRecord): void {
    const at = this.#envelope;
    this.#envelope = null;
    if (!this.#keeping.has(ns) || at?.ns !== ns) {
      this.#tell({ mode: 'values', ns }, chunk, ns);
      return;
    }
    if (at.source !== 'loop') return;
    const event = { mode: 'values', ns, once: { scope: `values ${ns}`, ordinal: at.step } } as const;
    const latest = this.#latest.get(ns);
    this.#latest.delete(ns);
    const channels = Object.keys(chunk);
    const isStored =
      latest?.id === at.id && channels.every((name) => Object.is(chunk[name], latest.channel_values[name]));
    if (isStored) {
      this.#add({ event, body: { refers: { checkpointId: at.id, channels } }, serialized: null });
    } else this.#add(this.#serialize(event, chunk));
  }

  /** The n-th of who tells it, in a task: the n-th of another execution is the same. */
  #tell(
    event: Pick<NewStreamEvent, 'mode' | 'ns'>,
    chunk: unknown,
    taskNs: string,
    place: Teller | null = null,
  ): void {
    const { id, attempt } = place ?? lastingTask(taskNs, (graphNs) => this.#keeping.has(graphNs));
    const task = ownTaskOf(taskNs);
    const scope = `${event.mode} ${id}`;
    const counts = this.#counts.get(task) ?? new Map<string, { attempt: number; told: number }>();
    this.#counts.set(task, counts);
    const before = counts.get(scope);
    const ordinal = before?.attempt === attempt ? before.told : 0;
    const told = this.#serialize({ ...event, once: { scope, ordinal } }, chunk);
    counts.set(scope, { attempt, told: ordinal + 1 });
    this.#add(told);
  }

  #serialize(event: QueuedChunk['event'], chunk: unknown): QueuedChunk {
    const dumped = dumpChunk(chunk, event.mode, this.#run.limits);
    if (!(dumped instanceof Promise)) return { event, body: { value: dumped }, serialized: null };
    const serialized = dumped.then(
      (value) => {
        told.body = { value };
        this.#soon();
      },
      (error: unknown) => {
        this.#failure ??= error;
      },
    );
    const told: QueuedChunk = { event, body: null, serialized };
    return told;
  }

  #add(told: QueuedChunk): void {
    this.#loose.push(told);
    this.#soon();
  }

  /** One transaction for what is told in one go. */
  #soon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#flush();
    });
  }

  #flush(): void {
    const events = this.#whole();
    if (events.length === 0 || this.#failure !== null) return;
    try {
      this.#sink.record(events);
      this.#loose.splice(0, events.length);
      this.#sink.wake();
    } catch (error) {
      this.#failure = error;
    }
  }

  /** The first ones, up to one that is still being serialized. */
  #whole(): readonly NewStreamEvent[] {
    const end = this.#loose.findIndex(({ body }) => body === null);
    return wholeEvents(end === -1 ? this.#loose : this.#loose.slice(0, end));
  }

  async #serialized(told: readonly QueuedChunk[]): Promise<void> {
    for (const { serialized } of [...told]) await serialized;
  }

  /** A task has ended, and what was in it. */
  #forget(taskId: string): void {
    this.#counts.delete(taskId);
    for (const known of [this.#keeping, this.#latest]) {
      for (const ns of known.keys()) if (ownTaskOf(ns) === taskId) known.delete(ns);
    }
  }
}

/** A write of a task, from when LangGraph asks for it until it is in the file. */
interface TaskWrite {
  readonly ns: string;
  readonly refersTo: { readonly checkpointId: string; readonly taskId: string } | null;
  readonly writes: readonly PendingWrite[];
  /** Of the run's own graph. */
  readonly isOwn: boolean;
  told: QueuedChunk | null;
}

function deferred(): { readonly promise: Promise<void>; readonly over: () => void } {
  let over = (): void => {};
  const promise = new Promise<void>((resolve) => {
    over = resolve;
  });
  return { promise, over };
}

const wholeEvents = (told: readonly QueuedChunk[]): readonly NewStreamEvent[] =>
  told.flatMap(({ event, body }) => (body === null ? [] : [{ ...event, body }]));

const isChunkRecord = (payload: unknown): payload is ChunkRecord =>
  typeof payload === 'object' && payload !== null;
