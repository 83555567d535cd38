import { BaseStore } from '@langchain/langgraph-checkpoint';

/** Of an app that was given none. */
class NoStore extends BaseStore {
  override async batch(): Promise<never> {
    throw new TypeError(
      "durable() was given no store: pass it `store: 'file'`, or one as compile() takes it.",
    );
  }
}

export const NO_STORE: BaseStore = new NoStore();

/**
 * The store of a graph: the one that is given, else the one it was compiled with.
 *
 * @throws TypeError for what is no store.
 */
export function takeStore(
  given: BaseStore | 'file' | undefined,
  compiledWith: unknown,
  openFile: () => BaseStore,
): BaseStore | undefined {
  const wanted = given === undefined ? compiledWith : given;
  const store = wanted === 'file' ? openFile() : wanted;
  if (store === undefined || isStore(store)) return store;
  throw new TypeError("Expected `store` to be a BaseStore of LangGraph or 'file'.");
}

/** By its shape: a program may have LangGraph twice. */
const isStore = (value: unknown): value is BaseStore =>
  typeof value === 'object' && value !== null && 'batch' in value && typeof value.batch === 'function';
