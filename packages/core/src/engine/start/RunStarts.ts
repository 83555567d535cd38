import { whenFree } from '../../db/busy.ts';
import type { EventSink } from '../../events/events.ts';
import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import { isLabelValue, labelsOf } from '../../state/labels/RunLabelStore.ts';
import {
  awaitsInput,
  type NewThread,
  type Policies,
  type Thread,
} from '../../state/threads/threadRecords.ts';
import { type TakingEngine, takeBetweenTurns } from '../change/takeGraph.ts';
import type { Engine } from '../drive/Engine.ts';
import { assertLabels, type NewRunLabels } from '../drive/givenLabels.ts';
import type { NextTurn } from '../drive/queuedTurns.ts';
import {
  assertContext,
  assertInput,
  assertInvokeOptions,
  assertIsRun,
  assertSameGiven,
  dumpGiven,
  pickInvokeOptions,
} from '../drive/runInput.ts';
import type { TurnBehind } from '../drive/signals.ts';
import { outsideGraphs } from '../execution/ambientConfig.ts';
import { shouldYield, yieldToEventLoop } from '../execution/yieldToEventLoop.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { deadlinePolicies, gatePolicies } from '../gates/gatePolicies.ts';
import type { Principal } from '../gates/principals.ts';
import type { InvokeOptions, RecordedOptions } from '../graph/EngineGraph.ts';
import { graphFingerprint, recordedAs } from '../graph/graphShape.ts';
import { type Budget, parseBudget } from '../guards/Budget.ts';
import { turnBegun } from '../stream/runStreamEvents.ts';
import type { PreparedRun } from '../waits/children.ts';
import { assertHadInput, createOrBegin, firstGiven } from './firstInput.ts';
import type { StartedRun } from './startedRun.ts';
import {
  assertFirstTurn,
  assertNotQueued,
  assertTakesTurns,
  assertTurnInput,
  type MultitaskStrategy,
  startTurn,
} from './turns.ts';

/** What is recorded about a run before its graph is called. */
export interface NewRunRecord {
  readonly threadId: string;
  readonly projectId?: string;
  readonly workspace?: string | null;
  readonly briefSha256?: string | null;
  readonly policies?: Policies;
  readonly budget?: Budget | undefined;
  /** Who it is started for. */
  readonly by?: Principal | undefined;
  /** Recorded like the options of a run. */
  readonly labels?: NewRunLabels;
  readonly input: unknown;
  /** Places where the caller took a secret out of the input. */
  readonly redacted?: number;
}

/** Input and options of a turn. */
interface GivenToTurn {
  readonly input: unknown;
  readonly options: RecordedOptions;
  readonly turn: string | null;
  readonly by?: Principal | undefined;
  readonly budget?: Budget | undefined;
  /** Its fate while the turn before has not ended. @defaultValue 'reject' */
  readonly strategy?: MultitaskStrategy;
  /** Of a new run. */
  readonly owner?: NewRunLabels['owner'];
  /** True leaves it to a worker at once; false says that the caller drives it. @defaultValue false */
  readonly isHandedOver?: boolean;
}

/** A run as it would be recorded. */
interface Prepared {
  readonly dumped: TypedBytes;
  readonly declared: NewThread;
  /** Records it in the caller's transaction; returns it as it is where it is known. */
  record(store: EngineStore, emit: EventSink['emit']): { readonly thread: Thread; readonly created: boolean };
}

type StartingEngine = TakingEngine & Pick<Engine, 'budget' | 'leave' | 'streams'>;

const isKnownTurn = (threadId: string, key: string, { inputs, queue }: EngineStore): boolean =>
  inputs.find(threadId, key) !== null || queue.find(threadId, key) !== null;

/** Records runs and turns of one app, checked, before anything is executed. */
export class RunStarts {
  readonly #engine: StartingEngine;
  readonly #fingerprint: string;

  constructor(engine: StartingEngine) {
    this.#engine = engine;
    this.#fingerprint = graphFingerprint(engine.shape);
  }

  async begin(threadId: string, given: GivenToTurn): Promise<void> {
    const { input, options, turn } = given;
    assertInput(input, threadId);
    assertInvokeOptions(options, threadId);
    const { store } = this.#engine;
    const known = store.threads.get(threadId);
    if (known === null && input === undefined) store.threads.require(threadId);
    const isFirst = known === null || awaitsInput(known);
    const isNew = turn === null ? isFirst : !isKnownTurn(threadId, turn, store);
    assertLabels({ ...(given.owner && { owner: given.owner }) });
    if (isNew) await this.#assertNew(threadId, given);
    const first = isFirst ? firstGiven(known, given, store) : given;
    const { dumped, record } = await this.#prepare({ threadId, ...first });
    while (shouldYield()) await yieldToEventLoop(); // many may be started in one turn
    if (isFirst && store.commit((emit) => record(store, emit)).created) return;
    if (turn !== null) return this.#beginTurn({ threadId, key: turn, given: dumped }, { ...given, isNew });
    assertHadInput(threadId, store);
    return assertFirstTurn(threadId, dumped, this.#engine);
  }

  /**
   * Checks a new run without a turn, and records it nowhere.
   *
   * @throws DevsError as {@link begin}.
   */
  async startedRun(threadId: string, given: GivenToTurn & { readonly turn: null }): Promise<StartedRun> {
    const { input, options, owner } = given;
    assertInput(input, threadId);
    assertInvokeOptions(options, threadId);
    const labels = owner === undefined ? {} : { owner };
    assertLabels(labels);
    await this.#assertNew(threadId, given);
    const { dumped, declared } = await this.#prepare({ threadId, ...given });
    return { thread: declared, labels: labelsOf({ ...options, ...labels }), given: dumped };
  }

  async #beginTurn(
    next: NextTurn,
    { isNew, isHandedOver = false, strategy = 'reject', by }: GivenToTurn & { readonly isNew: boolean },
  ): Promise<void> {
    if (isNew) await outsideGraphs(() => takeBetweenTurns(next.threadId, this.#engine));
    if (!isHandedOver) assertNotQueued(next, this.#engine.store);
    return startTurn({ ...next, isHandedOver, strategy, by }, this.#engine);
  }

  /**
   * A turn for a run that another process may have, checked; `null` for one that is known.
   *
   * @throws DevsError as {@link begin}.
   */
  async turnBehind(
    threadId: string,
    given: GivenToTurn & Pick<TurnBehind, 'strategy'>,
  ): Promise<TurnBehind | null> {
    const { input, options, turn: key, strategy, by } = given;
    if (key === null) throw new TypeError(`multitaskStrategy: '${strategy}' needs a turn.`);
    assertInput(input, threadId);
    assertInvokeOptions(options, threadId);
    const { inputs, queue, threads } = this.#engine.store;
    const known = inputs.find(threadId, key) ?? queue.find(threadId, key);
    if (known === null) {
      await this.#assertNew(threadId, given);
      assertTakesTurns(threads.require(threadId), key, this.#engine);
    }
    const { dumped } = await this.#prepare({ threadId, ...given });
    if (known === null) return { threadId, key, given: dumped, strategy, by };
    const recorded = 'given' in known ? known.given : inputs.require(threadId, known.turn);
    await assertSameGiven(dumped, recorded, { threadId, turn: key }, this.#engine);
    return null;
  }

  async #assertNew(threadId: string, { input, options, turn }: GivenToTurn): Promise<void> {
    if (turn !== null) assertTurnInput(input, { threadId, key: turn });
    await assertContext(this.#engine.graph, options, threadId);
  }

  /**
   * Calls `tell` for a run; a run that is missing or has no input yet is recorded before, in the same transaction.
   * Another ignores the input.
   *
   * @throws DevsError as {@link begin} for a new run; the errors of `tell`. The file is unchanged then.
   */
  async beginWith<T>(threadId: string, given: GivenToTurn, tell: () => T): Promise<T> {
    const { store, graph } = this.#engine;
    const known = store.threads.get(threadId);
    if (known !== null && !awaitsInput(known)) return whenFree(store.db, tell);
    const { input, options } = given;
    if (input === undefined) throw new TypeError('start.input: a new run needs an input.');
    assertInput(input, threadId);
    assertInvokeOptions(options, threadId);
    await assertContext(graph, options, threadId);
    const { record } = await this.#prepare({ threadId, ...firstGiven(known, given, store) });
    return whenFree(store.db, () =>
      store.commit((emit) => {
        record(store, emit);
        return tell();
      }),
    );
  }

  /**
   * Records a run; returns it as it is when the id is known. Nothing is executed.
   *
   * @throws DevsError `INVALID_INPUT` for a `Command`; `THREAD_NOT_OURS` for an id that has checkpoints and is no run.
   * @throws TypeError as `assertLabels`.
   */
  async admit({ labels = {}, ...admission }: NewRunRecord): Promise<Thread> {
    const { threadId } = admission;
    const { metadata, tags } = labels;
    assertLabels(labels);
    for (const [name, value] of Object.entries(metadata ?? {}))
      if (!isLabelValue(value))
        throw new TypeError(`metadata.${name} must be a string, a finite number, a boolean or null.`);
    assertInput(admission.input, threadId);
    const known = this.#engine.store.threads.get(threadId);
    if (known !== null) return known;
    const options = { ...(metadata && { metadata }), ...(tags && { tags: [...tags] }) };
    const { record } = await this.#prepare({ ...admission, options, turn: null });
    return this.#engine.store.commit((emit) => record(this.#engine.store, emit)).thread;
  }

  /**
   * Records a run before its first input, which makes it due. False for a known id, which stays as it is.
   *
   * @throws DevsError `THREAD_NOT_OURS`; TypeError as `assertLabels`.
   */
  create(threadId: string, given: NewRunLabels): boolean {
    assertLabels(given);
    const { store, shape } = this.#engine;
    return store.commit(() => {
      assertIsRun(threadId, store);
      const { created } = store.threads.create({
        ...{ threadId, projectId: threadId, workspace: null, briefSha256: null, awaitsInput: true },
        graphFingerprint: this.#fingerprint,
        policies: { graph: shape, ...recordedAs(this.#engine.recordedAs) },
      });
      if (created) store.labels.insert(threadId, { ...labelsOf(given), metadata: given.metadata ?? {} });
      return created;
    });
  }

  /** What is given is serialized once, whether it is recorded or compared with what is. */
  async #prepare({
    threadId,
    input,
    options,
    turn,
    redacted = 0,
    policies,
    isHandedOver = false,
    ...about
  }: NewRunRecord & GivenToTurn): Promise<Prepared> {
    const dumped = await dumpGiven({ input, options }, threadId, this.#engine.saver);
    const budget = parseBudget(about.budget ?? this.#engine.budget);
    const gates = gatePolicies(this.#engine.gates, about.by, threadId);
    const declared: NewThread = {
      threadId,
      projectId: about.projectId ?? threadId,
      workspace: about.workspace ?? null,
      briefSha256: about.briefSha256 ?? null,
      graphFingerprint: this.#fingerprint,
      policies: {
        ...policies,
        ...gates,
        ...deadlinePolicies(this.#engine.gates),
        ...(Object.keys(budget).length > 0 && { budget }),
        graph: this.#engine.shape,
        ...recordedAs(this.#engine.recordedAs),
      },
    };
    const record: Prepared['record'] = (store, emit) => {
      assertIsRun(threadId, store);
      const isKnown = store.threads.get(threadId) !== null;
      const { thread, created } = createOrBegin(declared, store);
      if (created) this.#recordInput({ threadId, key: turn, given: dumped }, isHandedOver, store);
      // The owner of a run that was recorded before its input stays.
      const owner = isKnown ? undefined : about.owner;
      if (created) store.labels.insert(threadId, labelsOf({ ...options, ...(owner && { owner }) }));
      if (created && redacted > 0) emit('SECRET_REDACTED', { place: 'input', count: redacted }, { threadId });
      return { thread, created };
    };
    return { dumped, declared, record };
  }

  #recordInput(
    { threadId, key, given }: Omit<NextTurn, 'key'> & { readonly key: string | null },
    isHandedOver: boolean,
    { inputs, threads }: EngineStore,
  ): void {
    inputs.insert(threadId, given, key);
    if (key !== null) this.#engine.streams.record(threadId, [turnBegun(key)]);
    if (isHandedOver) threads.signals.wake(threadId);
  }

  async prepareChild(threadId: string, input: unknown, given: InvokeOptions): Promise<PreparedRun> {
    const options = pickInvokeOptions(given);
    assertInput(input, threadId);
    assertInvokeOptions(options, threadId);
    await assertContext(this.#engine.graph, options, threadId);
    const { dumped, record } = await this.#prepare({ threadId, input, options, turn: null });
    const { inputs } = this.#engine.store;
    const assertSame = () => assertSameGiven(dumped, inputs.require(threadId), { threadId }, this.#engine);
    return { record, assertSame };
  }
}
