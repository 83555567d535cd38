import { pricesOf } from '../config/prices.ts';
import { requestPause, type StopReceipt, type StopRequest } from '../engine/drive/stopRequests.ts';
import { internalsOf } from '../engine/file/appInternals.ts';
import { EngineStore } from '../engine/gates/EngineStore.ts';
import { type Gate, gatesOf } from '../engine/gates/Gate.ts';
import { parseBudget } from '../engine/guards/Budget.ts';
import type { EventBus } from '../events/events.ts';
import { registerSecrets } from '../masking/SecretRegistry.ts';
import { PIPELINE_GATES } from '../orchestration/gates/pipelineGates.ts';
import type { OrchestrationApp, OrchestrationAppOptions } from '../orchestration/graph.ts';
import type { PipelinePorts } from '../orchestration/ports.ts';
import { storedState } from '../orchestration/storedState.ts';
import type { GraphState } from '../orchestration/types.ts';
import type { ResultCodec } from '../state/steps/stepRecords.ts';

/** What needs the graph; loads LangGraph. */
export const graphWork = () => import('./graphWork.ts');

export interface PipelineAppOptions extends OrchestrationAppOptions {
  readonly events: EventBus;
  readonly newId: () => string;
}

interface PipelineParts {
  readonly store: EngineStore;
  readonly events: EventBus;
  readonly newId: () => string;
  readonly load: () => Promise<OrchestrationApp>;
}

/**
 * The pipeline over an open state file: its runs are read, and their gates decided, from the rows alone. The engine, and
 * LangGraph with it, is loaded by the first call that needs the graph.
 */
export class PipelineApp {
  readonly store: EngineStore;
  readonly events: EventBus;
  readonly newId: () => string;
  readonly #load: () => Promise<OrchestrationApp>;
  #engine: Promise<OrchestrationApp> | null = null;

  private constructor({ store, events, newId, load }: PipelineParts) {
    this.store = store;
    this.events = events;
    this.newId = newId;
    this.#load = load;
  }

  /** @throws RangeError as `durable`, and DevsError `CONFIG_INVALID`: what is wrong with an option is told at once. */
  static open(pipeline: PipelinePorts | null, options: PipelineAppOptions): PipelineApp {
    const { config, db, events, now, newId } = options;
    if (options.budget !== undefined) parseBudget(options.budget);
    registerSecrets(options.secrets);
    const prices = pricesOf(options.prices);
    const codec = new LateCodec(async () => (await graphWork()).STEP_CODEC);
    const store = new EngineStore(db, {
      ...{ events, newId, prices },
      ...(now && { now }),
      ...(options.limits && { limits: options.limits }),
      entropyThreshold: config.hitlEntropyThreshold,
      rules: PIPELINE_GATES,
      codec,
    });
    const load = async (): Promise<OrchestrationApp> => {
      const { orchestrationApp, STEP_CODEC } = await graphWork();
      codec.load(STEP_CODEC);
      return orchestrationApp(pipeline, { ...options, prices, store });
    };
    return new PipelineApp({ store, events, newId, load });
  }

  /** Of an engine that is there. */
  static over(engine: OrchestrationApp): PipelineApp {
    const { store, newId } = internalsOf(engine);
    const { events } = engine;
    return new PipelineApp({ store, events, newId, load: async () => engine });
  }

  /** What drives runs, and changes what they stand on. */
  engine(): Promise<OrchestrationApp> {
    this.#engine ??= this.#load();
    return this.#engine;
  }

  /** The graph's values at the latest checkpoint; `null` before the first. */
  async values(id: string): Promise<GraphState | null> {
    const stored = storedState(id, this.store);
    return stored === undefined ? (await this.engine()).values(id) : stored;
  }

  /** The questions a run waits for, oldest first. */
  async gates(id: string): Promise<readonly Gate[]> {
    return gatesOf(id, this.store);
  }

  /** Asks the run's driver to stop. */
  async pause(id: string, request: StopRequest): Promise<StopReceipt> {
    return requestPause(id, this.newId(), request, this.store);
  }
}

/**
 * The codec of a store that may never drive: what knows LangChain's classes is loaded with the first result that is more
 * than JSON. Once it is, `encode` takes a value as it is at the call.
 */
export class LateCodec implements ResultCodec {
  readonly #load: () => Promise<ResultCodec>;
  #loaded: ResultCodec | null = null;

  constructor(load: () => Promise<ResultCodec>) {
    this.#load = load;
  }

  /** Before anything is driven. */
  load(codec: ResultCodec): void {
    this.#loaded = codec;
  }

  async encode(value: unknown): Promise<string> {
    return (this.#loaded ?? (await this.#load())).encode(value);
  }

  async decode(text: string): Promise<unknown> {
    return (this.#loaded ?? (await this.#load())).decode(text);
  }
}
