// Tasks of LangGraph's functional API. Each call of one is a step of its caller, with intent and result.
//
// LangGraph lends a task the function that calls tasks, in its config. Here it is lent another one. The key of a call is its
// caller's place and the number of the call of that name. It is equal after a crash and in a retry.

import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';
import { GraphDrained, isGraphBubbleUp, type LangGraphRunnableConfig } from '@langchain/langgraph';
import type { StepKey } from '../../state/steps/stepRecords.ts';
import { ambientConfig, CHILD_CONFIG } from '../execution/ambientConfig.ts';
import { asThrowable } from '../execution/thrown.ts';
import { isRecorded, type RecordedNode } from './ActiveNode.ts';
import { currentNode } from './nodeContext.ts';
import { freeName } from './repeatableStep.ts';
import { recordedCall } from './step.ts';
import { claimOf, recordedPlace, type StepPlace, stepPlace } from './stepPlace.ts';
import { attemptOf } from './toolCalls.ts';
import { WithheldAnswers } from './WithheldAnswers.ts';

type TaskFunction = (...args: readonly unknown[]) => unknown;

/** LangGraph's, in the config of a task. */
type CallTask = (
  func: TaskFunction,
  name: string,
  args: readonly unknown[],
  options: object,
) => Promise<unknown>;

const CALL = '__pregel_call';

/** Records calls of tasks with this config of a node, and with LangChain's ambient one. */
export function withRecordedTasks<Config extends LangGraphRunnableConfig>(config: Config): Config {
  watchConfigs();
  const ambient = ambientConfig();
  if (ambient !== undefined) recordTasksIn(ambient);
  const own = { ...config };
  recordTasksIn(own);
  return own;
}

/** The functions that are lent instead of LangGraph's. */
const lent = new WeakSet<CallTask>();

function recordTasksIn(config: LangGraphRunnableConfig): void {
  const call = config.configurable?.[CALL] as CallTask | undefined;
  if (typeof call !== 'function' || lent.has(call)) return;
  const recorded: CallTask = async (func, name, args, options) => {
    const active = currentNode();
    if (active === null || !isRecorded(active)) return call(func, name, args, options);
    if (name.includes('|')) throw new TypeError(`The name of task "${name}" must not contain "|".`);
    if (active.isLeft) throw new GraphDrained('its node was left');
    const running = call(recordedTask(active, func, name), name, args, options);
    return active.calls.trackTask(running).then(resultOf);
  };
  lent.add(recorded);
  config.configurable = { ...config.configurable, [CALL]: recorded };
}

/** LangGraph's outcome of a task, which it returns of one that it is running already. */
interface Outcome {
  readonly task: { readonly proc: unknown; readonly path: unknown };
  readonly result: unknown;
  readonly error: unknown;
}

function resultOf(returned: unknown): unknown {
  const { task } = Object(returned) as { readonly task?: Partial<Outcome['task']> };
  if (typeof task !== 'object' || task === null || !('proc' in task && 'path' in task)) return returned;
  const { result, error } = returned as Outcome;
  if (error !== undefined) throw error;
  return result;
}

/** The function of a task as LangGraph is to call it, once or in several attempts. */
function recordedTask(active: RecordedNode, func: TaskFunction, taskName: string): TaskFunction {
  const place = stepPlace(active);
  const name = freeName(active, place, `task ${taskName}`);
  const claim = claimOf(place, name);
  active.claims.names.add(claim);
  active.stepNames.add(claim);
  return async (...args) => {
    const attempt = attemptOf(ambientConfig()) ?? 1;
    const call = {
      active,
      key: () => keyAt(active, place, name),
      isRetry: place.isRetry || attempt > 1,
      isTask: true,
    };
    try {
      return await recordedCall(call, () => runBody(active, attempt, () => func(...args)));
    } catch (error) {
      throw whatLeaves(error, active);
    }
  };
}

function keyAt(active: RecordedNode, place: StepPlace, name: string): StepKey | Promise<StepKey> {
  const { store, visit } = active;
  const keyOf = (lgTaskId: string): StepKey => ({ threadId: visit.threadId, lgTaskId, name });
  const found = recordedPlace(active, place, (id) => store.steps.timesOf(keyOf(id)) !== null);
  return found instanceof Promise ? found.then(({ id }) => keyOf(id)) : keyOf(found.id);
}

/** A fresh answer is held back until the task asks its question. */
async function runBody(active: RecordedNode, attempt: number, body: () => unknown): Promise<unknown> {
  const run = async (): Promise<unknown> => active.runTask(body);
  const held = WithheldAnswers.of(ambientConfig() ?? {}, attempt);
  return held === null ? run() : held.confirmed(run);
}

/** A fault of the engine ends the node around it. */
function whatLeaves(error: unknown, { fault, visit }: RecordedNode): unknown {
  if (isGraphBubbleUp(asThrowable(error) as Error)) return error;
  if (fault !== null) return new GraphDrained('fault');
  return visit.signal.aborted && visit.isDraining() ? new GraphDrained('aborted') : error;
}

interface RunContext {
  readonly extra?: Readonly<Record<symbol, unknown>>;
}

type ContextStorage = ReturnType<typeof AsyncLocalStorageProviderSingleton.getInstance>;

const watched = new WeakSet<ContextStorage>();

/**
 * A graph inside a visit lends its own nodes LangGraph's function again. All configs pass through LangChain's context, which
 * is watched inside visits.
 */
function watchConfigs(): void {
  const storage = AsyncLocalStorageProviderSingleton.getInstance();
  if (watched.has(storage)) return;
  watched.add(storage);
  const run = storage.run.bind(storage);
  storage.run = (context, work) => {
    if (currentNode() !== null) {
      const config = (context as RunContext | undefined)?.extra?.[CHILD_CONFIG];
      if (config !== undefined) recordTasksIn(config as LangGraphRunnableConfig);
    }
    return run(context, work);
  };
}
