import { type Gate, gateInterrupt } from '@devs/core';
import type { StreamEvent } from '@devs/core/langgraph';
import { runFailure } from '../runs/runEvents.ts';
import { MessageBlocks } from './MessageBlocks.ts';
import { type ProtocolEvent, placeEvents, type UnplacedEvent } from './ProtocolEvent.ts';
import { toolEvents } from './toolEvents.ts';

const ROOT: readonly string[] = [];

/** Between the id of a run and the question that was answered. */
const LEG = '~';

/** The id of a run, from the id that a client read in an event. */
export const runOf = (id: string): string => id.split(LEG, 1)[0] ?? id;

type Lifecycle = 'running' | 'completed' | 'failed' | 'interrupted';

/** The events of one stored event, or of a piece of a message: they are sent together. */
export type EventGroup = readonly ProtocolEvent[];

/**
 * Turns a thread's events into those of the thread protocol. The events of a stored event depend on those before it alone. A
 * client that comes back receives equal events with equal ids.
 */
export class ThreadEvents {
  readonly #graph: string;
  readonly #messages = new MessageBlocks();
  /** The run that the events are of. After an answer it has another name: clients take a run that waited for ended. */
  #run: string;
  /** The newest lifecycle event of the run. */
  #said: Lifecycle | null = null;
  #last = 0;
  /** Ids of the questions that were sent and have not been answered. */
  #asked = new Map<string, string>();

  /**
   * @param graph - Name of the assistant.
   * @param run - The run that the first events are of.
   */
  constructor({ graph, run }: { readonly graph: string; readonly run: string }) {
    this.#graph = graph;
    this.#run = run;
  }

  get last(): number {
    return this.#last;
  }

  /** Whether a question was sent without its answer. */
  get asks(): boolean {
    return this.#asked.size > 0;
  }

  get isRunning(): boolean {
    return this.#said === 'running';
  }

  groupOf(event: StreamEvent, open: ReadonlySet<string>): EventGroup {
    if (event.mode === 'messages') return this.#piece(event);
    if (event.mode === 'restarted') return this.#between(this.#messages.finish(ROOT));
    this.#last = event.seq;
    const told = this.#told(event, open);
    return placeEvents(event.seq, told);
  }

  /** The run waits until a person acts. */
  waits(): EventGroup {
    if (this.#said === 'interrupted') return [];
    const key = [this.#last, ...this.#asked.keys()].join('+');
    return this.#between([this.#lifecycle('interrupted', key)]);
  }

  /** Questions that were answered meanwhile: the run goes on. */
  answered(open: ReadonlySet<string>): EventGroup {
    const closed = [...this.#asked].filter(([session]) => !open.has(session));
    return this.#between(closed.flatMap(([session, id]) => this.#answer(session, id)));
  }

  #answer(session: string, id: string): readonly UnplacedEvent[] {
    this.#asked.delete(session);
    this.#run = `${runOf(this.#run)}${LEG}${session}`;
    const answered = { method: 'input.answered', namespace: ROOT, data: { interrupt_ids: [id] } };
    return [{ ...answered, id: `answered:${session}` }, this.#lifecycle('running', session)];
  }

  #told(
    event: Exclude<StreamEvent, { mode: 'messages' | 'restarted' }>,
    open: ReadonlySet<string>,
  ): readonly UnplacedEvent[] {
    switch (event.mode) {
      case 'turn':
        this.#run = event.turn ?? this.#run;
        this.#asked.clear();
        return [this.#lifecycle('running', String(event.seq))];
      case 'gate':
        return [...this.#goingOn(event.seq), ...this.#requested(event.gate, open)];
      case 'end':
        this.#asked.clear();
        return [...this.#messages.finish(ROOT), this.#ended(event)];
      case 'updates':
      case 'values':
      case 'custom':
        return [...this.#goingOn(event.seq), ...this.#written(event)];
    }
  }

  /** A run that waited, and does something, goes on. */
  #goingOn(seq: number): readonly UnplacedEvent[] {
    return this.#said === 'running' ? [] : [this.#lifecycle('running', String(seq))];
  }

  #written(event: Extract<StreamEvent, { mode: 'updates' | 'values' | 'custom' }>): readonly UnplacedEvent[] {
    const { ns: namespace } = event;
    if (event.mode === 'custom') return [{ method: 'custom', namespace, data: customData(event.data) }];
    if (event.mode === 'values') {
      const values = { method: 'values', namespace, data: event.data ?? {} };
      return [...this.#messages.finish(namespace), ...checkpointOf(event), values];
    }
    return Object.entries(event.data).flatMap(([node, values]) => [
      ...this.#messages.finish(namespace, node),
      ...toolEvents(values, namespace),
      {
        method: 'updates',
        namespace,
        node,
        data: { node, values: isObject(values) ? values : { value: values } },
      },
    ]);
  }

  #requested(gate: Gate, open: ReadonlySet<string>): readonly UnplacedEvent[] {
    const { id, value } = gateInterrupt(gate);
    const requested = {
      method: 'input.requested',
      namespace: ROOT,
      data: { interrupt_id: id, payload: value },
    };
    if (open.has(gate.sessionId)) {
      this.#asked.set(gate.sessionId, id);
      return [requested];
    }
    return [requested, ...this.#answer(gate.sessionId, id)];
  }

  #piece({
    id: call,
    piece,
    chunk,
    metadata = {},
    ns,
    node,
  }: Extract<StreamEvent, { mode: 'messages' }>): EventGroup {
    if (chunk === undefined) return [];
    const told = this.#messages.add({ call, piece, ns, node, chunk, metadata });
    return this.#between(told);
  }

  /** Events without a stored event have the position of the newest one. */
  #between(told: readonly UnplacedEvent[]): EventGroup {
    return told.flatMap((event) => placeEvents(this.#last, [event]));
  }

  #ended({ seq, status, reason }: Extract<StreamEvent, { mode: 'end' }>): UnplacedEvent {
    if (status === 'completed') return this.#lifecycle('completed', String(seq));
    if (status === 'cancelled') return this.#lifecycle('interrupted', String(seq));
    return this.#lifecycle('failed', String(seq), runFailure(reason).message);
  }

  /** Its id begins as clients read the run's id from it. */
  #lifecycle(event: Lifecycle, key: string, error?: string): UnplacedEvent {
    this.#said = event;
    const data = { event, graph_name: this.#graph, ...(error !== undefined && { error }) };
    return { method: 'lifecycle', namespace: ROOT, data, id: `synth:${this.#run}:${event}:${key}` };
  }
}

/** Sent before the values: clients read from it where a message can be edited. */
function checkpointOf({
  ns,
  checkpoint,
}: Extract<StreamEvent, { mode: 'values' }>): readonly UnplacedEvent[] {
  if (checkpoint === undefined) return [];
  const { parentId, ...at } = checkpoint;
  const data = { ...at, ...(parentId !== undefined && { parent_id: parentId }) };
  return [{ method: 'checkpoints', namespace: ns, data }];
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const customData = (payload: unknown): unknown =>
  isObject(payload) && 'name' in payload ? payload : { payload };
