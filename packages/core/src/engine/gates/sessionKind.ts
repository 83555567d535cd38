import type { HitlSessionKind } from '../../state/hitlSession.ts';

const KINDS: Readonly<Record<HitlSessionKind, true>> = {
  design_approval: true,
  dag_approval: true,
  task_failure: true,
  recursion_limit: true,
  budget: true,
  review: true,
  node_gate: true,
};

export function isHitlSessionKind(value: unknown): value is HitlSessionKind {
  return typeof value === 'string' && Object.hasOwn(KINDS, value);
}
