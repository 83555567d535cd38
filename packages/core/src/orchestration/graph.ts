import { randomUUID } from 'node:crypto';
import type { RunnableConfig } from '@langchain/core/runnables';
import { END, MemorySaver, type RetryPolicy, START, StateGraph } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { type Limits, validLimits } from '../config/limits.ts';
import { type OrchestratorConfig, orchestratorConfigOf } from '../config/orchestratorConfig.ts';
import { localApp } from '../engine/app/durable.ts';
import { compileDurable } from '../engine/compile/compileDurable.ts';
import { EngineFaults } from '../engine/execution/EngineFaults.ts';
import { type AppOptions, planApp } from '../engine/file/AppFactory.ts';
import { EngineStore } from '../engine/gates/EngineStore.ts';
import type { NodeEngine } from '../engine/graph/NodeEngine.ts';
import { STEP_CODEC } from '../engine/saver/StrictSerde.ts';
import { WindowedSaver } from '../engine/saver/WindowedSaver.ts';
import { type EventBus, orchestratorEvents } from '../events/events.ts';
import { NullRunStore } from '../state/NullRunStore.ts';
import { approveDesignNode, approveTaskDagNode } from './hitl.ts';
import { designNode, makeDesignNode } from './nodes/designNode.ts';
import { distillNode, makeDistillNode } from './nodes/distillNode.ts';
import { implementNode, makeImplementNode } from './nodes/implementNode.ts';
import { makePivotNode } from './nodes/pivotNode.ts';
import { makeResearchNode, researchNode } from './nodes/researchNode.ts';
import { makeVerifyNode, verifyNode } from './nodes/verifyNode.ts';
import { pipelineGoals } from './pipelineGoals.ts';
import { endOfPipeline, pipelineProfile } from './pipelineProfile.ts';
import type { PipelinePorts } from './ports.ts';
import { transientRetryPolicy } from './robustness/classifyError.ts';
import { captureError } from './robustness/errorNode.ts';
import { errorNode, pivotAgentNode } from './robustness.ts';
import {
  type AskingNode,
  routeAfterApproveDesign,
  routeAfterApproveTaskDag,
  routeAfterDesign,
  routeAfterDistill,
  routeAfterErrorNode,
  routeAfterImplement,
  routeAfterPivot,
  routeAfterResearch,
  routeAfterVerify,
  type VerifyRoute,
} from './routing.ts';
import { SqliteSaver } from './SqliteSaver.ts';
import { driverOf } from './task/openWorkspace.ts';
import { type GraphState, OrchestratorAnnotation } from './types.ts';

// The pipeline as a LangGraph graph: its topology, and nothing of its nodes. What a node does is in
// nodes/, where it leads in routing.ts. What holds around every node is in graph-runner.ts.

export {
  approveDesignNode,
  approveTaskDagNode,
  designNode,
  distillNode,
  implementNode,
  researchNode,
  routeAfterVerify,
  type VerifyRoute,
  verifyNode,
};

export interface OrchestrationGraphOptions {
  /** Without agents the nodes only move the project on. */
  readonly pipeline?: PipelinePorts;
  /** An open state file: turns are journalled and steps recorded in it. */
  readonly db?: Database;
  readonly events?: EventBus;
  /** Read from the environment when left out. */
  readonly config?: OrchestratorConfig;
}

/**
 * The pipeline as a plain LangGraph graph: brief → research → design → gate → distill → gate → implement ⇄ verify.
 *
 * Use it as any compiled graph. `Orchestrator` adds leases and recorded decisions; use that for real runs.
 *
 * @example
 * ```ts
 * const og = OrchestrationGraph.withSqlitePersistence(createDatabase({ dbPath: '.devs/state.sqlite' }));
 * const config = OrchestrationGraph.configForProject('project-abc');
 * await og.graph.invoke(state, config); // suspends at the first gate
 * await og.graph.invoke(new Command({ resume: { approved: true } }), config);
 * ```
 */
export class OrchestrationGraph {
  readonly graph: CompiledPipeline;

  /**
   * @throws RangeError if an option of `config` is outside its range.
   * @throws DevsError `CONFIG_INVALID` for a bad `DEVS_MAX_RECURSION_DEPTH`, without `config`.
   */
  constructor(
    checkpointer: BaseCheckpointSaver = new MemorySaver(),
    options: OrchestrationGraphOptions = {},
  ) {
    const { pipeline = null, db, events = orchestratorEvents } = options;
    const { maxRecursionDepth, hitlEntropyThreshold } = orchestratorConfigOf(options.config);
    const store =
      db === undefined
        ? null
        : new EngineStore(db, { events, entropyThreshold: hitlEntropyThreshold, codec: STEP_CODEC });
    this.graph = compilePipeline(pipeline, checkpointer, {
      runs: store?.runs ?? new NullRunStore(events),
      store,
      events,
      profile: pipelineProfile,
      maxDepth: maxRecursionDepth,
      faults: new EngineFaults(),
      now: Date.now,
      newId: randomUUID,
    });
  }

  /** Commits every node transition to `db`, so that a second process can resume. Migrates `db` if needed. */
  static withSqlitePersistence(
    db: Database,
    options: Omit<OrchestrationGraphOptions, 'db'> = {},
  ): OrchestrationGraph {
    return new OrchestrationGraph(new WindowedSaver(new SqliteSaver(db)), { ...options, db });
  }

  /** Returns the config of a project: several projects share one state file, with one thread each. */
  static configForProject(
    projectId: string,
  ): RunnableConfig & { readonly configurable: { readonly thread_id: string } } {
    return { configurable: { thread_id: projectId } };
  }
}

function compilePipeline(
  pipeline: PipelinePorts | null,
  checkpointer: BaseCheckpointSaver,
  engine: NodeEngine<GraphState>,
) {
  return compileDurable(orchestrationBuilder(pipeline), {
    checkpointer,
    engine,
    gates: new Map(),
    version: '1',
  }).graph;
}

type CompiledPipeline = ReturnType<typeof compilePipeline>;

/**
 * The nine nodes and the edges between them. Every edge but the first is conditional: a router must be able to
 * lead a suspended run to a node that can ask.
 *
 * @param ports - Without agents the nodes only move the project on, so that the whole topology runs with no model.
 */
export function orchestrationBuilder(
  ports: PipelinePorts | null,
  retryPolicy: RetryPolicy = transientRetryPolicy,
) {
  const nodes =
    ports === null
      ? {
          research: researchNode,
          design: designNode,
          distill: distillNode,
          implement: implementNode,
          verify: verifyNode,
          pivot_agent: pivotAgentNode,
        }
      : workingNodes(ports);
  return new StateGraph(OrchestratorAnnotation)
    .addNode('research', nodes.research)
    .addNode('design', nodes.design)
    .addNode('approveDesign', approveDesignNode)
    .addNode('distill', nodes.distill)
    .addNode('approveTaskDag', approveTaskDagNode)
    .addNode('implement', nodes.implement)
    .addNode('verify', nodes.verify)
    .addNode('error', errorNode)
    .addNode('pivot_agent', nodes.pivot_agent)
    .setNodeDefaults({ retryPolicy, errorHandler: captureError })
    .addEdge(START, 'research')
    .addConditionalEdges('research', routeAfterResearch, ['design', ...ASKING])
    .addConditionalEdges('design', routeAfterDesign, ['approveDesign', ...ASKING])
    .addConditionalEdges('approveDesign', routeAfterApproveDesign, ['approveDesign', ...ASKING])
    .addConditionalEdges('distill', routeAfterDistill, ['approveTaskDag', ...ASKING])
    .addConditionalEdges('approveTaskDag', routeAfterApproveTaskDag, ['approveTaskDag', ...ASKING])
    .addConditionalEdges('implement', routeAfterImplement, ['verify', 'pivot_agent', ...ASKING])
    .addConditionalEdges('verify', routeAfterVerify, ['pivot_agent', ...ASKING, END])
    .addConditionalEdges('error', routeAfterErrorNode, ['pivot_agent', ...ASKING])
    .addConditionalEdges('pivot_agent', routeAfterPivot, [...ASKING, END]);
}

/** Where the question of a pending suspension is asked. */
const ASKING: AskingNode[] = ['research', 'design', 'distill', 'implement'];

function workingNodes(ports: PipelinePorts) {
  return {
    research: makeResearchNode(ports),
    design: makeDesignNode(ports),
    distill: makeDistillNode(ports),
    implement: makeImplementNode(ports),
    verify: makeVerifyNode(ports),
    pivot_agent: makePivotNode(ports),
  };
}

/** A plan is one value, and its gate shows it with what it is made from: one write may be as large as a channel. */
function pipelineLimits(given: Partial<Limits> = {}): Limits {
  const limits = validLimits(given);
  return { ...limits, valueBytes: given.valueBytes ?? limits.channelBytes };
}

export interface OrchestrationOptions
  extends Pick<
    AppOptions<GraphState>,
    'events' | 'now' | 'newId' | 'secrets' | 'budget' | 'prices' | 'limits'
  > {
  readonly config: OrchestratorConfig;
}

export interface OrchestrationAppOptions extends OrchestrationOptions {
  readonly db: Database;
}

/** The pipeline as a graph that is durable over any file, with the settings that `durable` cannot derive from a graph. */
export function orchestrationPlan(
  pipeline: PipelinePorts | null,
  { config, ...options }: OrchestrationOptions,
  recordedAs?: string,
) {
  const guards = { maxDepth: config.maxRecursionDepth, entropyThreshold: config.hitlEntropyThreshold };
  return planApp(
    orchestrationBuilder(pipeline),
    {
      ...{ ...options, guards, limits: pipelineLimits(options.limits) },
      streams: false, // it has a log of its own
      durability: 'sync', // a Thought is on disk before its node works, an Action before the next
    },
    {
      profile: pipelineProfile,
      endOf: endOfPipeline,
      goals: pipelineGoals,
      leave: async (lease, store) => pipeline?.workspace.leave?.(lease.threadId, driverOf(store, lease)),
      ...(recordedAs !== undefined && { recordedAs: () => recordedAs }),
    },
  );
}

export type OrchestrationPlan = ReturnType<typeof orchestrationPlan>;

/** The pipeline as a durable app over a file. */
export function orchestrationApp(
  pipeline: PipelinePorts | null,
  { db, store, ...options }: OrchestrationAppOptions & { readonly store?: EngineStore },
) {
  return localApp(orchestrationPlan(pipeline, options).open({ db, ...(store && { store }) }));
}

export type OrchestrationApp = ReturnType<typeof orchestrationApp>;

/** The pipeline over its file, with the ports of its nodes: `null` for runs without agents, which have no files. */
export interface OpenPipeline<Ports extends PipelinePorts | null = PipelinePorts | null> {
  readonly app: OrchestrationApp;
  readonly pipeline: Ports;
}
