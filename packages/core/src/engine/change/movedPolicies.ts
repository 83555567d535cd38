import type { Policies } from '../../state/ThreadStore.ts';
import type { GraphMapping } from './GraphMapping.ts';

/** What a run was started with for its gates, by their names. */
const OF_GATES = ['approvals', 'deadlines'] as const;

/** What a run was started with, under the names that its gates have now. */
export function movedPolicies(policies: Policies, mapping: GraphMapping): Policies {
  const moved = OF_GATES.flatMap((name) => {
    const rules = Object.entries((policies[name] ?? {}) as object);
    return rules.length === 0
      ? []
      : [[name, Object.fromEntries(rules.map(([gate, rule]) => [nameNow(gate, mapping), rule]))] as const];
  });
  return { ...policies, ...Object.fromEntries(moved) };
}

/** A gate inside a subgraph has the name of the node that it was added as, and its own behind a colon. */
function nameNow(gate: string, mapping: GraphMapping): string {
  const [node = '', ...inner] = gate.split(':');
  return [mapping.node(node) ?? node, ...inner].join(':');
}
