import type { AsyncLocalStorage } from 'node:async_hooks';
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';

type Fields = Readonly<Record<string, unknown>>;

/** What LangGraph hands on to a node. */
const KEPT: ReadonlySet<string> = new Set([
  ...[
    'tags',
    'metadata',
    'callbacks',
    'runName',
    'maxConcurrency',
    'recursionLimit',
    'configurable',
    'runId',
  ],
  ...[
    'outputKeys',
    'streamMode',
    'store',
    'writer',
    'interrupt',
    'context',
    'interruptBefore',
    'interruptAfter',
  ],
  ...['checkpointDuring', 'durability', 'signal', 'heartbeat', 'executionInfo', 'serverInfo', 'control'],
]);

/** What it says of a run in the metadata, too. */
const SHOWN = [
  'thread_id',
  'checkpoint_id',
  'checkpoint_ns',
  'task_id',
  'run_id',
  'assistant_id',
  'graph_id',
];

const CHILD_CONFIG = Symbol.for('lc:child_config');

const storage = (): AsyncLocalStorage<object | undefined> =>
  AsyncLocalStorageProviderSingleton.getInstance() as AsyncLocalStorage<object | undefined>;

/** Whether nothing of LangChain's is around this code: nothing of it is handed on to a node. */
export const isOutermost = (): boolean => storage().getStore() === undefined;

/**
 * Does a node's work in the context that LangGraph makes for it, with the configuration it makes of its task's: a test
 * compares both with the installed version. Where {@link isOutermost}.
 */
export function inNodeContext<Config extends object, T>(config: Config, work: (own: Config) => T): T {
  const own = nodeConfig(config as Fields) as Config;
  return storage().run(new QuietRun(own), () => work(own));
}

function nodeConfig(config: Fields): Record<string, unknown> {
  const own: Record<string, unknown> = { tags: [], callbacks: undefined, recursionLimit: 25 };
  for (const [key, value] of Object.entries(config))
    if (value !== undefined && KEPT.has(key)) own[key] = value;
  const configurable = { ...(config['configurable'] as Fields) };
  const metadata = { ...(config['metadata'] as Fields) };
  for (const key of SHOWN) {
    if (!(key in metadata) && configurable[key] !== undefined) metadata[key] = configurable[key];
  }
  // LangChain leaves the id of a run to its outermost part.
  const { runId: _ofRun, ...rest } = own;
  return { ...rest, configurable, metadata };
}

/** What LangChain keeps around a node: a run of its tracer, which takes long to make and is asked for by nobody but that. */
class QuietRun {
  readonly tracingEnabled = false;
  readonly extra: object;

  constructor(config: object) {
    this.extra = { [CHILD_CONFIG]: config };
  }
}

/** LangChain looks for members with symbols as names, which there are none of; those of the tracer's have words. */
const asRun = new Proxy(Object.prototype, {
  get: (_, key, run: QuietRun): unknown =>
    typeof key === 'symbol' ? undefined : Reflect.get(tracedRun(run), key),
});
Object.setPrototypeOf(QuietRun.prototype, asRun);

/** Makes it what LangChain would have made at first. */
function tracedRun(run: QuietRun): object {
  const make = (): unknown =>
    AsyncLocalStorageProviderSingleton.runWithConfig({}, () => storage().getStore());
  const made = storage().run(undefined, make) as QuietRun;
  const extra = { ...made.extra, ...run.extra };
  return Object.assign(Object.setPrototypeOf(run, Object.getPrototypeOf(made) as object) as object, made, {
    extra,
  });
}
