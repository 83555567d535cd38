import { type Gate, gateInterrupt } from '@devs/core';
import type { RunInfo } from '@devs/core/langgraph';
import type { ServedApp } from '../apps/ServedApp.ts';
import { threadStatusOf } from '../runs/standing.ts';
import { taskInterrupts } from './stateView.ts';

/** Members of a thread; a client can select some of them. */
const MEMBERS = [
  ...(['thread_id', 'created_at', 'updated_at', 'metadata', 'status'] as const),
  ...(['config', 'values', 'interrupts'] as const),
] as const;

type Member = (typeof MEMBERS)[number];

/** A thread as LangGraph's clients read it. */
export async function threadView(
  app: ServedApp,
  run: RunInfo,
  select: readonly string[] = MEMBERS,
): Promise<Partial<Record<Member, unknown>>> {
  const gates = run.status === 'waiting' ? await app.gates(run.id) : [];
  const members: Readonly<Record<Member, () => unknown>> = {
    thread_id: () => run.id,
    created_at: () => run.createdAt,
    updated_at: () => run.updatedAt,
    metadata: () => run.metadata,
    status: () => threadStatusOf({ status: run.status, gates }),
    config: () => ({}),
    values: () => app.values(run.id),
    interrupts: () => interruptsOf(app, run.id, gates),
  };
  const asked = MEMBERS.filter((member) => select.includes(member));
  const pairs = asked.map(async (member) => [member, await members[member]()] as const);
  return Object.fromEntries(await Promise.all(pairs));
}

/** By the ids of the tasks that ask. */
async function interruptsOf(app: ServedApp, id: string, gates: readonly Gate[]): Promise<object> {
  if (gates.length === 0) return {};
  const found = taskInterrupts(await app.getState(id, { subgraphs: true }), gates);
  const missing = gates
    .map(gateInterrupt)
    .filter((gate) => !found.some(([, all]) => all.some(({ id: known }) => known === gate.id)));
  return Object.fromEntries(missing.length === 0 ? found : [...found, [id, missing]]);
}
