import type { AgentMiddleware } from 'langchain';
import { type RecordCallsOptions, recordCalls } from './recordCalls.ts';

/** What a subagent of `createDeepAgent` has, where it is declared and not an agent already. */
interface Declared {
  readonly middleware?: readonly AgentMiddleware[];
}

/**
 * The same subagents for `createDeepAgent` of `deepagents`, each with `recordCalls()` behind its own middlewares. Those of
 * the main agent do not reach them. A subagent stays as it is if it has `recordCalls()`, a `runnable` or a `graphId`.
 *
 * @param options - Those of `recordCalls()`.
 * @throws as `recordCalls()`.
 *
 * @example
 * ```ts
 * const subagents = recordedSubagents([GENERAL_PURPOSE_SUBAGENT, researcher]);
 * const agent = createDeepAgent({ model, tools, subagents, middleware: [recordCalls()] });
 * ```
 */
export function recordedSubagents<const Subagents extends readonly object[]>(
  subagents: Subagents,
  options: RecordCallsOptions = {},
): Subagents {
  const recording = recordCalls(options);
  const recorded = (subagent: object): object => {
    if ('runnable' in subagent || 'graphId' in subagent) return subagent;
    const { middleware = [] }: Declared = subagent;
    const isRecorded = middleware.some(({ name }) => name === recording.name);
    return isRecorded ? subagent : { ...subagent, middleware: [...middleware, recording] };
  };
  return subagents.map(recorded) as readonly object[] as Subagents;
}
