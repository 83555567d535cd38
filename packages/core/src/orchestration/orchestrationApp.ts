import { type DurableOptions, durable } from './durable.ts';
import type { PipelineDeps } from './nodes/pipelineDeps.ts';
import { orchestrationBuilder } from './orchestrationBuilder.ts';
import { endOfPipeline, pipelineProfile } from './pipelineProfile.ts';
import type { GraphState } from './types.ts';

export interface OrchestrationAppOptions
  extends Pick<DurableOptions<GraphState>, 'db' | 'events' | 'now' | 'newId'> {
  readonly maxRecursionDepth?: number;
}

/** The pipeline as a durable app; `durable` is given what it cannot know of a graph. */
export function orchestrationApp(
  pipeline: PipelineDeps | null,
  { maxRecursionDepth, ...options }: OrchestrationAppOptions,
) {
  const guards = maxRecursionDepth === undefined ? {} : { maxDepth: maxRecursionDepth };
  return durable(
    orchestrationBuilder(pipeline),
    { ...options, guards },
    { profile: pipelineProfile, endOf: endOfPipeline },
  );
}

export type OrchestrationApp = ReturnType<typeof orchestrationApp>;
