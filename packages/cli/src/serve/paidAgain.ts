// Calls of a graph that are made, and paid, again after a crash.

import type { EventBus } from '@devs/core';

/** The name of the middleware that `recordCalls()` is. */
const RECORDING = 'RecordCalls';

/** An agent of `createAgent`, known by its parts: its package may be another copy than the command's. */
interface Agent {
  readonly options: { readonly middleware?: readonly { readonly name?: unknown }[] };
  readonly graph: object;
}

/** Whether a graph is an agent without `recordCalls()`. */
export function isUnrecordedAgent(source: unknown): boolean {
  const { options, graph } = Object(source) as Partial<Agent>;
  if (typeof options !== 'object' || typeof graph !== 'object') return false;
  return !(options.middleware ?? []).some(({ name }) => name === RECORDING);
}

export interface PaidCall {
  readonly graph: string;
  readonly node: string;
  readonly what: 'model' | 'tool';
  readonly name: string;
}

/** Reports each call that a node makes outside of a step, once. */
export function watchPaidCalls(graph: string, events: EventBus, tell: (call: PaidCall) => void): void {
  const told = new Set<string>();
  events.on('CALL_NOT_RECORDED', ({ node, what, name }) => {
    const call = { graph, node, what, name };
    const key = JSON.stringify(call);
    if (told.has(key)) return;
    told.add(key);
    tell(call);
  });
}
