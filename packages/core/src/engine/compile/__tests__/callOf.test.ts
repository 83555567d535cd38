import { RunnableLambda } from '@langchain/core/runnables';
import { Annotation, StateGraph } from '@langchain/langgraph';
import { describe, expect, test, vi } from 'vitest';
import { callOf, type NodeRunnable } from '../gatedGraph.ts';

const Counting = Annotation.Root({ n: Annotation<number>() });
type Count = typeof Counting.State;

/** The node as the installed LangGraph keeps it. */
function nodeOf(run: (state: Count) => unknown): NodeRunnable {
  const { nodes } = new StateGraph(Counting).addNode('count', run as (state: Count) => Count);
  return nodes.count.runnable as unknown as NodeRunnable;
}

describe('callOf', () => {
  test('calls a function node of the installed LangGraph without its wrapper', async () => {
    const node = nodeOf(({ n }) => ({ n: n + 1 }));
    const invoke = vi.spyOn(node, 'invoke');
    expect(await callOf(node)({ n: 1 }, {})).toEqual({ n: 2 });
    expect(invoke).not.toHaveBeenCalled();
  });

  test('goes on with a runnable that a function node returns, as LangGraph does', async () => {
    const node = nodeOf(() => RunnableLambda.from(({ n }: Count) => ({ n: n * 10 })));
    expect(await callOf(node)({ n: 4 }, {})).toEqual(await node.invoke({ n: 4 }, {}));
  });

  test('invokes every other runnable', async () => {
    const lambda = RunnableLambda.from(({ n }: Count) => ({ n: n + 5 }));
    expect(await callOf(lambda as unknown as NodeRunnable)({ n: 1 }, {})).toEqual({ n: 6 });
  });
});
