import type { LangChainUsage } from '../guards/usage.ts';
import { repeatableStep } from '../node/repeatableStep.ts';

/** The step of a call of a model; the second of a node is `model 2`. */
const MODEL_STEP = 'model';

type Method = (this: object, ...given: unknown[]) => unknown;

/** Methods that return another model. */
const MAKERS: ReadonlySet<PropertyKey> = new Set(['bindTools', 'withConfig']);

/** Those made here. */
const recordedOnes = new WeakSet<object>();

/**
 * A chat model with calls that are recorded as steps, in any graph. When a node runs again, the recorded answer
 * returns and the model is not called. Tokens are streamed while a call is made, and its `usage_metadata` counts in the
 * run's budget. Everything else is the model's own. The models that `bindTools` and `withConfig` return are recorded, too.
 *
 * Only `invoke` is recorded. A node that calls `stream` or `batch` of it calls the model itself.
 *
 * @param model - A chat model of LangChain, or a runnable with one inside, as `createAgent` and `createReactAgent` take.
 * One that is recorded already is returned as it is.
 *
 * @example
 * ```ts
 * const agent = createReactAgent({ llm: recordedModel(model), tools: recordedTools(tools) });
 * const app = durable(agent, { file: 'state.sqlite' });
 * ```
 */
export function recordedModel<Model extends object>(model: Model): Model {
  if (recordedOnes.has(model)) return model;
  const recorded = new Proxy(model, { get: (target, name) => memberOf(target, name) });
  recordedOnes.add(recorded);
  return recorded;
}

function memberOf(target: object, name: PropertyKey): unknown {
  const value: unknown = Reflect.get(target, name, target);
  if (name === 'bound' && isRunnable(value)) return recordedModel(value);
  if (name === 'steps' && Array.isArray(value)) return value.map(recordedStep);
  if (typeof value !== 'function' || name === 'constructor') return value;
  const method = value as Method;
  if (name === 'invoke') return (...given: unknown[]) => recordedCall(target, method, given);
  if (MAKERS.has(name)) return (...given: unknown[]) => recordedIf(method.apply(target, given));
  if (name === '_getModelInstance')
    return async (...given: unknown[]) => recordedIf(await method.apply(target, given));
  return method.bind(target);
}

/** In a sequence of runnables, those that are models. */
function recordedStep(one: unknown): unknown {
  const isModel = isRunnable(one) && ('bindTools' in one || 'bound' in one || '_getModelInstance' in one);
  return isModel ? recordedModel(one) : one;
}

const recordedIf = (value: unknown): unknown => (isRunnable(value) ? recordedModel(value) : value);

const isRunnable = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && 'invoke' in value;

function recordedCall(model: object, invoke: Method, given: unknown[]): Promise<unknown> {
  return repeatableStep(MODEL_STEP, async ({ usage }) => {
    const answer = await invoke.apply(model, given);
    const used = usageOf(answer, model);
    if (used !== null) usage(used);
    return answer;
  });
}

interface Answer {
  readonly usage_metadata?: LangChainUsage;
  readonly response_metadata?: { readonly model_name?: unknown; readonly model?: unknown };
}

/** The usage that an answer reports; `null` without a report. */
function usageOf(answer: unknown, asked: object): LangChainUsage | null {
  const { usage_metadata: used, response_metadata: about = {} } = Object(answer) as Answer;
  if (used === undefined || used === null) return null;
  const model = [about.model_name, about.model, nameOf(asked)].find((name) => typeof name === 'string');
  return { ...used, ...(typeof model === 'string' && { model }) };
}

/** The name of a model, which may be inside of a binding. */
function nameOf(asked: object): unknown {
  const { model, modelName, bound } = asked as Readonly<Record<'model' | 'modelName' | 'bound', unknown>>;
  return model ?? modelName ?? (isRunnable(bound) ? nameOf(bound) : undefined);
}
