import type { StateGraph } from '@langchain/langgraph';
import { GUARD_CHANNELS } from '../channels.ts';
import type { DeclaredGate } from '../node/entry.ts';
import type { RunnerDeps } from '../node/RunnerDeps.ts';
import { guardNode } from '../node/runNode.ts';
import { callOf, type NodeRunnable } from './callOf.ts';
import { foldUpdate } from './foldUpdate.ts';
import { type ErrorHandler, guardErrorHandler } from './guardErrorHandler.ts';

type Schema = Readonly<Record<string, unknown>>;

interface NodeSpec {
  readonly runnable: NodeRunnable;
  readonly input?: Schema;
  readonly isErrorHandler?: boolean;
}

interface NodeDefaults {
  readonly errorHandler?: ErrorHandler<never>;
}

/**
 * The fields of LangGraph's builder that a copy has to own. It offers no way to wrap the nodes of an existing
 * builder; a test compares this list with the fields of the installed version.
 */
interface BuilderFields {
  nodes: Record<string, NodeSpec>;
  channels: Record<string, unknown>;
  compiled: boolean;
  _schemaDefinition: Schema;
  _schemaDefinitions: Map<Schema, Schema>;
  _nodeDefaults: NodeDefaults;
  addNode(name: string, run: unknown): unknown;
  _addSchema(schema: Schema): void;
}

/** A copy of `builder` in which every node passes through the runner; `builder` itself stays as it is. */
export function guardBuilder<State extends object, Update, Name extends string>(
  builder: StateGraph<unknown, State, Update, Name>,
  gates: ReadonlyMap<string, DeclaredGate<State>>,
  deps: RunnerDeps<State>,
): StateGraph<unknown, State, Update, Name> {
  const original = builder as unknown as BuilderFields;
  const copy = ownCopy(original);
  copy._nodeDefaults = guardDefaults(original._nodeDefaults, deps);
  const schema = withGuardChannels(copy, original);
  for (const [name, spec] of Object.entries(original.nodes)) {
    if (spec.isErrorHandler === true) {
      copy.nodes[name] = spec;
      continue;
    }
    const run = callOf(spec.runnable);
    const fold = (state: State, update: Schema): State => foldUpdate(copy.channels, state, update);
    copy.addNode(name, guardNode<State>({ name, run, gate: gates.get(name) ?? null, fold }, deps));
    const input = spec.input === original._schemaDefinition ? schema : { ...GUARD_CHANNELS, ...spec.input };
    copy._addSchema(input);
    copy.nodes[name] = { ...spec, input, runnable: (copy.nodes[name] as NodeSpec).runnable };
  }
  return copy as unknown as StateGraph<unknown, State, Update, Name>;
}

function ownCopy(original: BuilderFields): BuilderFields {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(original)), original) as BuilderFields;
  copy.nodes = {};
  copy.compiled = false;
  copy.channels = { ...original.channels };
  copy._schemaDefinitions = new Map(original._schemaDefinitions);
  return copy;
}

function guardDefaults<State extends object>(
  { errorHandler, ...others }: NodeDefaults,
  deps: RunnerDeps<State>,
): NodeDefaults {
  if (errorHandler === undefined) return others;
  return { ...others, errorHandler: guardErrorHandler(errorHandler as ErrorHandler<State>, deps) };
}

/** Adds the missing channels to what nodes read and write; input and output of the graph stay the author's. */
function withGuardChannels(copy: BuilderFields, original: BuilderFields): Schema {
  const schema = { ...GUARD_CHANNELS, ...original._schemaDefinition };
  copy._schemaDefinition = schema;
  copy._addSchema(schema);
  return schema;
}
