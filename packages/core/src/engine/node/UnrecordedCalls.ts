import { type NewEvent, newEventsOf } from '../../events/events.ts';
import type { NodeExecution } from '../execution/nodeExecution.ts';

interface AskedCall {
  readonly id?: string | undefined;
  readonly name: string;
}

/** The calls of models and tools that one execution of a node has made outside of steps. */
export class UnrecordedCalls {
  /** Ids of all tool calls that were begun. */
  readonly begun = new Set<string>();
  readonly #models = new Set<string>();
  /** Names by the ids of the calls. */
  readonly #tools = new Map<string, string>();
  readonly #isInStep: () => boolean;

  /** @param isInStep - Whether this code runs inside of a step. */
  constructor(isInStep: () => boolean) {
    this.#isInStep = isInStep;
  }

  callsModel(name: string): void {
    if (!this.#isInStep()) this.#models.add(name);
  }

  callsTool(id: string, name: string): void {
    this.begun.add(id);
    if (!this.#isInStep()) this.#tools.set(id, name);
  }

  /**
   * Their events, once per run, node and name.
   *
   * @param asked - The calls that the node received. LangChain reports a tool call without the name of the tool.
   * @param claims - Places and names of the steps of the execution: a tool with a step inside is recorded by itself.
   */
  facts(
    { node, threadId, epoch }: NodeExecution,
    claims: ReadonlySet<string>,
    asked: () => readonly AskedCall[],
  ): readonly NewEvent[] {
    if (epoch === null || this.#models.size + this.#tools.size === 0) return [];
    const unrecorded = [...this.#tools].filter(([id]) => !hasStep(encodeURIComponent(id), claims));
    const names = new Map(unrecorded.length === 0 ? [] : asked().map(({ id, name }) => [id, name]));
    const tools = new Set(unrecorded.map(([id, name]) => names.get(id) ?? name));
    const told = newEventsOf((emit) => {
      for (const name of this.#models) emit('CALL_NOT_RECORDED', { node, what: 'model', name }, { threadId });
      for (const name of tools) emit('CALL_NOT_RECORDED', { node, what: 'tool', name }, { threadId });
    });
    return told.map((fact) => ({ ...fact, once: `CALL_NOT_RECORDED/${JSON.stringify(fact.payload)}` }));
  }
}

const hasStep = (id: string, claims: ReadonlySet<string>): boolean =>
  [...claims].some((claim) => claim.includes(`/${id}/`) || claim.includes(`/${id}#`));
