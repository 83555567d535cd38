// Changes of a graph that its program declares once, for the runs of every version before.

import { type OptionNames, withKnownNames } from '../../config/knownOptions.ts';
import { isRecord } from '../../values/isRecord.ts';
import {
  type DeclaredChanges,
  type GraphShape,
  isNameList,
  type RemovedNames,
  removedNames,
} from '../graph/graphShape.ts';
import type { GraphMapping } from './GraphMapping.ts';

const CHANGES = { renamed: true, removed: true } satisfies OptionNames<DeclaredChanges>;

const RENAMED = { nodes: true, channels: true } satisfies OptionNames<
  NonNullable<DeclaredChanges['renamed']>
>;

const REMOVED = { nodes: true, channels: true, gates: true } satisfies OptionNames<RemovedNames>;

/**
 * Checks the declaration of a program against its own graph.
 *
 * @throws TypeError for an invalid declaration, and for a new name that the graph lacks.
 */
export function assertGraphChanges(declared: unknown, now: GraphShape): void {
  assertMembers('graphChanges', declared, CHANGES);
  assertChangeNames('graphChanges', declared);
  const { renamed = {}, removed = [] } = declared as DeclaredChanges;
  const gone = removedIn(removed);
  for (const kind of ['nodes', 'channels'] as const) assertTargets(kind, renamed[kind] ?? {}, gone, now);
}

/** @throws TypeError for a member that `renamed` or `removed` lacks. */
export function assertChangeNames(what: string, { renamed = {}, removed = [] }: DeclaredChanges): void {
  assertMembers(`${what}.renamed`, renamed, RENAMED);
  if (!isNameList(removed)) assertMembers(`${what}.removed`, removed, REMOVED);
}

function removedIn(removed: unknown): readonly unknown[] {
  const lists = Array.isArray(removed) ? [removed] : Object.values(removed as object);
  if (!lists.every(isTexts)) throw new TypeError('graphChanges.removed: expected names.');
  return lists.flat();
}

function assertTargets(
  kind: 'nodes' | 'channels',
  names: unknown,
  gone: readonly unknown[],
  now: GraphShape,
): void {
  if (!isRecord(names) || !isTexts(Object.values(names)))
    throw new TypeError(`graphChanges.renamed.${kind}: expected old names with their new names.`);
  for (const old of Object.keys(names)) {
    const to = followed(old, names as Names, now[kind]);
    if (now[kind].includes(to) || gone.includes(to)) continue;
    throw new TypeError(`graphChanges.renamed.${kind}: the graph has no ${kind.slice(0, -1)} "${to}".`);
  }
}

function assertMembers(
  what: string,
  value: unknown,
  known: Readonly<Record<string, true>>,
): asserts value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new TypeError(`${what}: expected { ${Object.keys(known).join(', ')} }.`);
  withKnownNames(what, value, known);
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((name) => typeof name === 'string');

type Names = Readonly<Record<string, string>>;

/** The last of the names that one had, over several versions of its program. */
function followed(old: string, renamed: Names, now: readonly string[]): string {
  const seen = new Set([old]);
  let name = old;
  for (;;) {
    const to = Object.hasOwn(renamed, name) ? renamed[name] : undefined;
    if (to === undefined || seen.has(to) || (name !== old && now.includes(name))) return name;
    seen.add(to);
    name = to;
  }
}

/**
 * The part of a declaration that is about a run. It stays in a program for the runs of every version before, and a run of a later
 * one has the new names. Names that are gone without a declaration are removed, as LangGraph passes over them.
 */
export function changesFor(
  before: GraphShape,
  now: GraphShape,
  { renamed = {}, removed = [] }: DeclaredChanges,
): DeclaredChanges {
  const { gates = [] } = removedNames(removed, before, now);
  const given = {
    nodes: renamedFor(before.nodes, now.nodes, renamed.nodes),
    channels: renamedFor(before.channels, now.channels, renamed.channels),
  };
  const gone = (kind: 'nodes' | 'channels'): readonly string[] =>
    before[kind].filter((name) => !Object.hasOwn(given[kind], name) && !now[kind].includes(name));
  return {
    renamed: given,
    removed: {
      nodes: gone('nodes'),
      channels: gone('channels'),
      gates: gates.filter((name) => Object.hasOwn(before.gates, name)),
    },
  };
}

/** A name that was renamed and is there again is another one, where the run has the new name too. */
function renamedFor(before: readonly string[], now: readonly string[], renamed: Names = {}): Names {
  const own = before.flatMap((old) => {
    if (!Object.hasOwn(renamed, old)) return [];
    const to = followed(old, renamed, now);
    const isIts = now.includes(to) && (!before.includes(to) || !now.includes(old));
    return isIts && to !== old ? [[old, to] as const] : [];
  });
  return Object.fromEntries(own);
}

/** Gates of the graph before that are gone without a declaration. */
export function gatesGone(
  before: GraphShape,
  now: GraphShape,
  mapping: Pick<GraphMapping, 'gate'>,
  removed: readonly string[] | RemovedNames = [],
): readonly string[] {
  const named = isNameList(removed) ? removed : [...(removed.gates ?? []), ...(removed.nodes ?? [])];
  return Object.keys(before.gates).filter((gate) => {
    const to = mapping.gate(gate);
    if (to !== null && Object.hasOwn(now.gates, to)) return false;
    return !named.includes(gate) && !named.includes(gate.split(':')[0] ?? '');
  });
}
