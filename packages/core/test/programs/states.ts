import { Annotation } from '@langchain/langgraph';

const joined = (left: readonly string[], right: readonly string[]): readonly string[] => [...left, ...right];

/** What nodes did, in order, and one value of any kind. */
export const Log = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: joined, default: () => [] }),
  last: Annotation<unknown>(),
});

export const Inner = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: joined, default: () => [] }),
  word: Annotation<string>(),
});
