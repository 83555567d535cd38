/** Drawings of 16 by 16, each a single path. */
const PATHS = {
  ask: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0M6.2 6.4a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.8.6-.8 1.2M8 11.2v.1',
  back: 'M6.5 3 3 6.5 6.500 10M3 6.500h6a4 4 0 0 1 0 8H7',
  budget:
    'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0M8 4.200v7.600M9.800 6c-.3-.7-1-1-1.800-1-1 0-1.800.5-1.800 1.400 0 2.200 3.700 1 3.700 3.200 0 .9-.8 1.400-1.900 1.400-.9 0-1.600-.3-2-1',
  check: 'm3 8.500 3.200 3.200L13 4.800',
  clock: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0M8 4.500V8l2.300 1.500',
  code: 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5',
  comment: 'M2.500 3h11v8H8l-3.500 2.700V11h-2z',
  commit: 'M10.500 8a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0M8 1.500v4M8 10.500v4',
  copy: 'M7 5.500h5A1.500 1.500 0 0 1 13.500 7v5a1.500 1.500 0 0 1-1.500 1.500H7A1.500 1.500 0 0 1 5.500 12V7A1.500 1.500 0 0 1 7 5.500M10.500 3.500v-1h-8v8h1',
  cross: 'm4 4 8 8M12 4l-8 8',
  document: 'M4 1.800h5.200L12.500 5v9.200H4zM9 2v3.200h3.300M6.200 8.300h4M6.200 11h4',
  down: 'm4 6 4 4 4-4',
  edit: 'M3 13h2.200l7.300-7.300-2.200-2.200L3 10.800zM9 4.800 11.200 7',
  folder: 'M2 3.500h4l1.500 2H14v7.500H2z',
  gap: 'M8 6V1.500M5.700 3.500 8 1.300l2.300 2.200M8 10v4.500M5.700 12.500 8 14.700l2.300-2.200M2 8h1.500M7 8h2M12.500 8H14',
  inbox: 'M2 9.500 4 3h8l2 6.500V13H2zM2 9.500h3.500l1 2h3l1-2H14',
  lock: 'M5 7h6a1.500 1.500 0 0 1 1.500 1.500V12a1.500 1.500 0 0 1-1.500 1.500H5A1.500 1.500 0 0 1 3.500 12V8.500A1.500 1.500 0 0 1 5 7M5.500 7V5a2.500 2.500 0 0 1 5 0v2',
  next: 'M2.500 8h9M8 4l4 4-4 4M14 3v10',
  left: 'm10 4-4 4 4 4',
  pause: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0M6.200 6v4M9.800 6v4',
  plan: 'M5.200 8a1.700 1.700 0 1 1-3.400 0 1.700 1.700 0 0 1 3.400 0M14.200 4a1.700 1.700 0 1 1-3.400 0 1.700 1.700 0 0 1 3.400 0M14.200 12a1.700 1.700 0 1 1-3.400 0 1.700 1.700 0 0 1 3.400 0M5.100 7.300l5.800-2.600M5.100 8.700l5.800 2.600',
  play: 'M5 3.200v9.600L12.500 8z',
  right: 'm6 4 4 4-4 4',
  search: 'M11.300 7a4.300 4.300 0 1 1-8.600 0 4.300 4.300 0 0 1 8.600 0M10.300 10.300l3.500 3.500',
  stuck: 'M5.500 2h5L14 5.500v5L10.500 14h-5L2 10.500v-5zM8 5v3.500M8 11v.1',
  warning: 'M8 2.200 14.300 13H1.700zM8 6.500v3M8 11.300v.1',
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration beside words. */
export const Icon = ({ name, tone = '' }: { readonly name: IconName; readonly tone?: string }) => (
  <svg class={`i ${tone}`} aria-hidden="true" viewBox="0 0 16 16">
    <path d={PATHS[name]} />
  </svg>
);

const KINDS: Readonly<Record<string, IconName>> = {
  design_approval: 'document',
  dag_approval: 'plan',
  review: 'code',
  node_gate: 'next',
  interrupt: 'ask',
  baseline: 'warning',
  task_failure: 'stuck',
  recursion_limit: 'stuck',
  budget: 'budget',
  step: 'back',
};

/** Of a kind of gate. */
export const kindIcon = (kind: string): IconName => KINDS[kind] ?? 'ask';

/** Kinds at which something went wrong. */
export const isTrouble = (kind: string): boolean =>
  ['baseline', 'task_failure', 'recursion_limit', 'budget', 'step'].includes(kind);
