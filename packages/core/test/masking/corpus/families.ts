import { NAMES, PLACES } from './contexts.ts';
import { contextFamily, type Family, shapeFamily } from './Family.ts';
import { SHAPES } from './shapes.ts';

const byName = (a: Family, b: Family): number => (a.name < b.name ? -1 : 1);

/** Every family, by name. */
export const FAMILIES: readonly Family[] = [
  ...SHAPES.map(shapeFamily),
  ...PLACES.map((template) => contextFamily('place', template)),
  ...NAMES.map((template) => contextFamily('name', template)),
].sort(byName);

/** Rules may be written for these: every other family, by name. */
export const TUNING: readonly Family[] = FAMILIES.filter((_family, index) => index % 2 === 0);

/** The others show what the rules do for secrets they were not written for. No rule may be changed for one of them. */
export const HELD_OUT: readonly Family[] = FAMILIES.filter((_family, index) => index % 2 === 1);

/** Forms that were issued or told of after the two halves were made; rules may be written for them. */
export const NEWER: readonly Family[] = [
  ...(
    [
      ['datadog', 'ddpat_{w40}', 'ddsat_{w20}_{w30}'],
      ['google ai', 'AQ.Ab8RN6{u44}', 'AQ.{u48}'],
      ['logfire', 'pylf_v1_us_{w44}', 'pylf_v1_{w40}'],
      ['posthog secure', 'phs_{w43}'],
      ['render short', 'rnd_{w28}'],
      ['supabase oauth', 'sbp_oauth_{h40}'],
      ['vercel blob', 'vercel_blob_rw_{w16}_{w30}'],
    ] as const
  ).map(shapeFamily),
  ...(
    [
      [
        'slash in a password',
        'postgres://app:«{w10}/{w10}»@db',
        'DB=mysql://root:«{w9}/@{w9}»@localhost:3306/x',
      ],
      ['slash in a password without a user', 'redis://:«{w12}/{w12}/{w9}»@cache:6379 refused'],
    ] as const
  ).map((template) => contextFamily('place', template)),
];
