import {
  BaseCache,
  BaseStore,
  type CacheFullKey,
  type CacheNamespace,
} from '@langchain/langgraph-checkpoint';
import { currentDrive } from '../execution/driveContext.ts';
import { GUARD_NAMES } from '../execution/nodeExecution.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { CompileSettings } from '../graph/graphSource.ts';
import type { NodeEngine } from '../graph/NodeEngine.ts';
import { SqliteStore } from './SqliteStore.ts';

/** Of an app that was given none. */
class NoStore extends BaseStore {
  override async batch(): Promise<never> {
    throw new TypeError("durable() has no store: set `store: 'file'`, or a store as in compile().");
  }
}

export const NO_STORE: BaseStore = new NoStore();

interface StoreChoice {
  readonly store?: BaseStore | 'file';
  readonly cache?: BaseCache;
}

/**
 * The store and the cache of a graph: those that are given, else those it was compiled with.
 *
 * @throws TypeError for what is none.
 */
export function resolveStore(
  given: StoreChoice,
  carried: CompileSettings,
  {
    db,
    limits,
    maxDepth,
    now,
  }: Pick<EngineStore, 'db' | 'limits'> & Pick<NodeEngine<never>, 'maxDepth' | 'now'>,
): CompileSettings {
  const { store: wanted = carried.store, cache = carried.cache } = given;
  const store = wanted === 'file' ? new SqliteStore(db, { now, limits }) : wanted;
  if (store !== undefined && !isStore(store))
    throw new TypeError("`store` must be a BaseStore of LangGraph or 'file'.");
  return {
    ...carried,
    ...(store !== undefined && { store }),
    ...(cache !== undefined && { cache: new GuardedCache(cache, maxDepth) }),
  };
}

/** By its shape: a program may have LangGraph twice. */
const isStore = (value: unknown): value is BaseStore =>
  typeof value === 'object' && value !== null && 'batch' in value && typeof value.batch === 'function';

interface CachedWrites {
  readonly key: CacheFullKey;
  /** Writes of a task. */
  readonly value: readonly (readonly [channel: string, value: unknown])[];
  /** Seconds. */
  readonly ttl?: number;
}

/**
 * A cache of nodes' results under the engine's promises: it answers for nobody.
 *
 * Invariants:
 *   K1. A super-step that is given answers or signals is neither taken from the cache nor put into it: they are of one
 *       run. LangGraph looks up after what it has put before, however slow the cache is.
 *   K2. What a node wrote to the guards' channels is of its run, and is not kept.
 *   K3. A node is entered at least once in `maxDepth` super-steps, so that its depth guard can ask.
 */
class GuardedCache extends BaseCache<CachedWrites['value']> {
  readonly #cache: BaseCache<CachedWrites['value']>;
  readonly #maxDepth: number;

  /**
   * @param maxDepth - Node transitions without progress from which a human is asked.
   * @throws TypeError for what is no cache.
   */
  constructor(cache: BaseCache, maxDepth: number) {
    super();
    assertCache(cache);
    this.#cache = cache as BaseCache<CachedWrites['value']>;
    this.#maxDepth = maxDepth;
  }

  override async get(keys: CacheFullKey[]): Promise<CachedWrites[]> {
    if (!mayLookUp(this.#maxDepth)) return [];
    return this.#cache.get(keys);
  }

  override async set(pairs: CachedWrites[]): Promise<void> {
    if (currentDrive()?.answers === 'last') return;
    await this.#cache.set(pairs.map((pair) => ({ ...pair, value: withoutGuardWrites(pair.value) })));
  }

  override async clear(namespaces: CacheNamespace[]): Promise<void> {
    await this.#cache.clear(namespaces);
  }
}

/** By its shape: a program may have LangGraph twice. */
function assertCache(cache: unknown): void {
  const { get, set, clear } = Object(cache) as Partial<BaseCache>;
  if ([get, set, clear].every((method) => typeof method === 'function')) return;
  throw new TypeError('`cache` must be a BaseCache of LangGraph.');
}

function mayLookUp(maxDepth: number): boolean {
  const drive = currentDrive();
  if (drive === null) return true;
  drive.answers = drive.answers === 'next' ? 'last' : 'none';
  if (drive.answers === 'last' || drive.lookupsInARow >= maxDepth) return false;
  drive.lookupsInARow += 1;
  return true;
}

function withoutGuardWrites(writes: CachedWrites['value']): CachedWrites['value'] {
  const guards: readonly string[] = GUARD_NAMES;
  return writes.filter(([channel]) => !guards.includes(channel));
}
