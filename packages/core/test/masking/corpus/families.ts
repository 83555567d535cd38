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
