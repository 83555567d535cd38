import { Command, isInterrupted } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import { aState } from '../../src/orchestration/__tests__/aState.ts';
import { OrchestrationGraph } from '../../src/orchestration/graph.ts';
import type { StageAgents } from '../../src/orchestration/ports.ts';
import type { GraphState } from '../../src/orchestration/types.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../src/testing/index.ts';

// What the recovery nodes add to the graph, over a checkpointer in memory and with no state file.

const shop = OrchestrationGraph.configForProject('shop');

function graphWith(agents: Partial<StageAgents>, checks = scriptedChecks()): OrchestrationGraph {
  const pipeline = {
    agents: { ...fakeAgents({ tasks: 1 }), ...agents },
    workspace: new MemoryWorkspace(),
    checks,
    now: () => 0,
  };
  return new OrchestrationGraph(undefined, { pipeline });
}

async function toTheEnd({ graph }: OrchestrationGraph): Promise<GraphState> {
  let state = await graph.invoke(aState(), shop);
  while (isInterrupted(state)) state = await graph.invoke(new Command({ resume: { approved: true } }), shop);
  return state;
}

/** An agent call that throws `times` times, with the same words. */
function failing<Call extends (...args: never[]) => Promise<unknown>>(
  call: Call,
  times: number,
  message = 'No.',
) {
  let left = times;
  return (async (...args: Parameters<Call>) => {
    left -= 1;
    if (left >= 0) throw new Error(message);
    return call(...args);
  }) as Call;
}

describe('the recovery nodes', () => {
  test('are part of the graph, and every router’s targets are drawn', async () => {
    const { nodes, edges } = await new OrchestrationGraph().graph.getGraphAsync();
    expect(Object.keys(nodes)).toEqual(
      expect.arrayContaining(['error', 'pivot_agent', '__start__', '__end__']),
    );
    const targetsOf = (node: string): readonly string[] =>
      edges.flatMap(({ source, target }) => (source === node ? [target] : [])).sort();
    expect(targetsOf('error')).toEqual(['design', 'distill', 'implement', 'pivot_agent', 'research']);
    expect(targetsOf('pivot_agent')).toEqual(['__end__', 'design', 'distill', 'implement', 'research']);
    expect(targetsOf('verify')).toEqual([
      '__end__',
      'design',
      'distill',
      'implement',
      'pivot_agent',
      'research',
    ]);
    expect(targetsOf('__start__')).toEqual(['research']);
  });

  test.for(['research', 'design', 'distill'] as const)(
    'lead a %s that threw back to itself',
    async (stage) => {
      const agents = fakeAgents({ tasks: 1 });
      const { status, errorHistory } = await toTheEnd(
        graphWith({ [stage]: failing(agents[stage] as (...args: never[]) => Promise<unknown>, 2) }),
      );
      expect(status).toBe('completed');
      const history = errorHistory.map(({ sourceNode, consecutiveCount }) => [sourceNode, consecutiveCount]);
      // Picking the first task begins a new episode, with no errors.
      expect(history).toEqual([]);
    },
  );

  test('record what was thrown, masked, with the node and how often in a row', async () => {
    const { research } = fakeAgents();
    const secret = 'password=hunter2 failed';
    const { status, errorHistory, implementationTurns } = await toTheEnd(
      graphWith({ research: failing(research, 99, secret) }),
    );
    expect([status, implementationTurns]).toEqual(['strategy_pivot', 0]);
    expect(
      errorHistory.map(({ sourceNode, message, consecutiveCount, kind }) => ({
        sourceNode,
        message,
        consecutiveCount,
        kind,
      })),
    ).toEqual(
      [1, 2, 3].map((consecutiveCount) => ({
        sourceNode: 'research',
        message: '[SECRET=REDACTED] failed',
        consecutiveCount,
        kind: expect.any(String),
      })),
    );
    expect(JSON.stringify(errorHistory)).not.toContain('hunter2');
  });

  test('try a task again whose implement threw', async () => {
    const { implement } = fakeAgents();
    const { status, tasks } = await toTheEnd(graphWith({ implement: failing(implement, 2) }));
    expect([status, tasks.map((task) => task.status)]).toEqual(['completed', ['completed']]);
  });

  test('end a task in a pivot when it fails three times in the same words', async () => {
    const { implement } = fakeAgents();
    const { status, tasks, errorHistory } = await toTheEnd(graphWith({ implement: failing(implement, 99) }));
    expect(status).toBe('strategy_pivot');
    expect(tasks.map((task) => task.status)).toEqual(['failed']);
    expect(errorHistory).toHaveLength(3);
  });

  test('end a task in a pivot when its ten turns are spent, and do not call it done', async () => {
    const { status, tasks } = await toTheEnd(graphWith({}, scriptedChecks([false])));
    expect(status).toBe('strategy_pivot');
    expect(tasks.map((task) => task.status)).toEqual(['failed']);
  });

  test('clear what the handler captured, so that no error is told twice', async () => {
    const { research } = fakeAgents();
    const { capturedError } = await toTheEnd(graphWith({ research: failing(research, 1) }));
    expect(capturedError).toBeNull();
  });
});
