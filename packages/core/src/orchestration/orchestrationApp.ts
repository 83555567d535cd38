import type { Database } from 'better-sqlite3';
import { type Limits, validLimits } from '../config/limits.ts';
import type { OrchestratorConfig } from '../config/orchestratorConfig.ts';
import { localApp } from '../engine/app/durable.ts';
import { type AppOptions, planApp } from '../engine/file/AppFactory.ts';
import type { EngineStore } from '../engine/gates/EngineStore.ts';
import { orchestrationBuilder } from './graph.ts';
import { pipelineGoals } from './pipelineGoals.ts';
import { endOfPipeline, pipelineProfile } from './pipelineProfile.ts';
import type { PipelinePorts } from './ports.ts';
import { driverOf } from './task/openWorkspace.ts';
import type { GraphState } from './types.ts';

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
