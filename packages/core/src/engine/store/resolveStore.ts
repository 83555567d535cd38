import { type BaseCache, BaseStore } from '@langchain/langgraph-checkpoint';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { CompileSettings } from '../graph/graphSource.ts';
import type { NodeEngine } from '../graph/NodeEngine.ts';
import { GuardedCache } from './GuardedCache.ts';
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
