import { AIMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import type { Limits } from '../../src/config/limits.ts';
import type { DurableApp } from '../../src/engine/app/DurableApp.ts';
import type { ErrorCode } from '../../src/errors/DevsError.ts';

export const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  value: Annotation<unknown>(),
  sum: Annotation<number>({ reducer: (left, right) => left + right, default: () => 0 }),
  strict: Annotation<unknown>({
    reducer: (_left, right: unknown) => {
      if (right instanceof Error) throw right;
      return right;
    },
    default: () => null,
  }),
});

type Update = typeof State.Update;
export type App = DurableApp<
  { invoke(input: object, config: object): Promise<unknown> },
  typeof State.State,
  Update
>;

/** What a node of a case may reach. */
export interface Here {
  readonly id: string;
  /** `null` where LangGraph runs it alone. */
  readonly app: App | null;
  readonly config: LangGraphRunnableConfig;
}

export type Node = (here: Here) => unknown;
export type Work = (config: LangGraphRunnableConfig) => unknown;
export type Builder = ReturnType<typeof oneNode>;

/** A mistake that a node makes, or what is around it. */
export interface Mistake {
  readonly node: Node;
  /** @defaultValue a graph of that node */
  readonly graph?: (work: Work) => Builder;
  readonly gate?: () => unknown;
  readonly limits?: Partial<Limits>;
  /** Times that the node works before its run has failed. @defaultValue 1 */
  readonly works?: number;
  /** Times that it works where somebody drives the run once more. @defaultValue as before */
  readonly again?: number;
  /** Of the error that the run has failed with; of several, one of them. @defaultValue none of ours */
  readonly code?: ErrorCode | readonly ErrorCode[];
  /** Of the value that was refused. */
  readonly path?: string;
  /** What the reason says, too. */
  readonly says?: string;
}

/** How often LangGraph tries, without waiting. */
export const tries = (maxAttempts: number) => ({
  retryPolicy: { maxAttempts, initialInterval: 1, jitter: false, logWarning: false },
});

type Options = NonNullable<Parameters<StateGraph<object>['addNode']>[2]>;

/** A graph of the node alone. */
export const oneNode = (work: Work, options: Options = {}) =>
  new StateGraph(State)
    .addNode('work', (_state, config) => work(config) as Update, options as object)
    .addEdge(START, 'work')
    .addEdge('work', END);

export const withOptions =
  (options: Options) =>
  (work: Work): Builder =>
    oneNode(work, options);

/** The node, with a handler of whatever a node throws. */
export const handledBy =
  (handler: () => Update) =>
  (work: Work): Builder =>
    oneNode(work).setNodeDefaults({ errorHandler: () => handler() } as object) as Builder;

/** The node, and an edge behind it that makes the mistake. */
export const withEdge =
  (edge: () => unknown) =>
  (work: Work): Builder =>
    new StateGraph(State)
      .addNode('work', (_state, config) => work(config) as Update)
      .addNode('next', () => ({}))
      .addEdge(START, 'work')
      .addConditionalEdges('work', edge as () => 'next', ['next', END])
      .addEdge('next', END) as Builder;

/** The node, in a state with a channel that cannot be read once it has worked. */
export function breakingAChannel(work: Work): Builder {
  let isBroken = false;
  const broken = Annotation<unknown>({
    reducer: (_left, right) => right,
    default: () => {
      if (isBroken) throw new Error('no beginning');
    },
  });
  return new StateGraph(Annotation.Root({ ...State.spec, broken }))
    .addNode('work', (_state, config) => {
      isBroken = true;
      return work(config) as Update;
    })
    .addEdge(START, 'work')
    .addEdge('work', END) as unknown as Builder;
}

/** The node in a graph that is a node. */
export const inside = (work: Work): Builder =>
  new StateGraph(State)
    .addNode('outer', oneNode(work).compile())
    .addEdge(START, 'outer')
    .addEdge('outer', END) as unknown as Builder;

/** The node, with another one beside it. */
export const besideIt =
  (other: () => unknown) =>
  (work: Work): Builder =>
    new StateGraph(State)
      .addNode('work', (_state, config) => work(config) as Update)
      .addNode('beside', () => other() as Update)
      .addEdge(START, 'work')
      .addEdge(START, 'beside')
      .addEdge('work', END)
      .addEdge('beside', END) as Builder;

/** The node as a tool, whose errors are those of the graph. */
export function inTool(work: Work): Builder {
  const mend = tool((_args, config) => work(config as LangGraphRunnableConfig), {
    name: 'mend',
    description: 'Mends.',
    schema: z.object({}),
  });
  const asked = { id: 'c1', name: 'mend', args: {}, type: 'tool_call' } as const;
  return new StateGraph(State)
    .addNode('ask', () => ({ messages: [new AIMessage({ content: '', tool_calls: [asked] })] }))
    .addNode('tools', new ToolNode([mend], { handleToolErrors: false }))
    .addEdge(START, 'ask')
    .addEdge('ask', 'tools')
    .addEdge('tools', END) as unknown as Builder;
}
