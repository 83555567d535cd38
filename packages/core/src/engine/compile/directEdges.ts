import { type RunnableConfig, RunnableLambda } from '@langchain/core/runnables';

type Config = RunnableConfig;

interface Path {
  invoke(input: unknown, config: Config): Promise<unknown>;
}

/** LangGraph's conditional edge: what decides where to go, and what it makes of it. */
interface Branch {
  readonly path: Path;
  run(writer: unknown, reader: unknown): object;
}

export type Branches = Readonly<Record<string, Readonly<Record<string, Branch>>>>;

const conditional = new WeakSet<object>();

/** Whether LangGraph made this of a conditional edge of the author's. */
export const isConditionalEdge = (writer: object | undefined): boolean =>
  writer !== undefined && conditional.has(writer);

/** The same conditional edges, whose functions are called within the context that LangGraph has just made for the edge. */
export function directEdges(branches: Branches): Branches {
  return mapped(branches, (ofNode) => mapped(ofNode, directBranch));
}

function directBranch(branch: Branch): Branch {
  const direct: Branch = Object.create(branch, {
    path: { value: directPath(branch.path), enumerable: true },
    run: {
      value: (...made: Parameters<Branch['run']>) => {
        const writer = branch.run.apply(direct, made);
        conditional.add(writer);
        return writer;
      },
    },
  });
  return direct;
}

/** LangChain would set up once more the context and the trace that the edge has. */
function directPath(path: Path): Path {
  if (!(path instanceof RunnableLambda) || path.constructor !== RunnableLambda) return path;
  const { func } = path as unknown as { func(input: unknown, config: Config): unknown };
  const invoke = async (input: unknown, config: Config): Promise<unknown> => {
    if (config.callbacks !== undefined) return await path.invoke(input, config);
    const chosen = await func.call(path, input, config);
    return isChoice(chosen) ? chosen : await RunnableLambda.from(() => chosen).invoke(input, config);
  };
  return Object.assign(Object.create(path) as Path, { invoke });
}

/** A name, what is sent, or several; LangChain goes on with a runnable and reads what is iterated. */
const isChoice = (chosen: unknown): boolean =>
  typeof chosen !== 'object' || chosen === null || Array.isArray(chosen) || 'lg_name' in chosen;

function mapped<T>(
  record: Readonly<Record<string, T>>,
  change: (value: T) => T,
): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
