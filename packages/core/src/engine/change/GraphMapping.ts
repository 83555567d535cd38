import { DevsError } from '../../errors/DevsError.ts';
import { type DeclaredChanges, type GraphShape, removedNames } from '../graph/graphShape.ts';

export interface ChangedShape {
  readonly threadId: string;
  readonly before: GraphShape;
  readonly now: GraphShape;
}

/** Old name → new name, or `null` where it was removed; of every name the old graph had. */
type Targets = ReadonlyMap<string, string | null>;

const BRANCH = 'branch:to:';
const JOIN = 'join:';

/** Old names to new ones, checked against both shapes: every old name has a fate, and no two share one. */
export class GraphMapping {
  readonly #nodes: Targets;
  readonly #channels: Targets;
  readonly #oldNodes: ReadonlyMap<string, string>;
  /** Whether a node or a channel has a new name. */
  readonly isRenaming: boolean;

  /** @throws DevsError `GRAPH_NOT_ACCEPTED` if the declaration does not lead from `before` to `now`. */
  constructor({ threadId, before, now }: ChangedShape, { renamed = {}, removed = {} }: DeclaredChanges) {
    const refuse: Refuse = (reason, why) => {
      throw notAccepted(threadId, reason, why);
    };
    const { nodes = [], channels = [], gates = [] } = removedNames(removed, before, now);
    const stranger = gates.find((name) => !Object.hasOwn(before.gates, name));
    if (stranger !== undefined)
      refuse('unknown_name', `its graph has no node, channel or gate "${stranger}"`);
    this.#nodes = targetsOf(
      { what: 'node', before: before.nodes, now: now.nodes },
      new Map(Object.entries(renamed.nodes ?? {})),
      nodes,
      refuse,
    );
    this.#channels = targetsOf(
      { what: 'channel', before: before.channels, now: now.channels },
      new Map(Object.entries(renamed.channels ?? {})),
      channels,
      refuse,
    );
    this.isRenaming = [...this.#nodes, ...this.#channels].some(([old, to]) => to !== null && to !== old);
    this.#oldNodes = new Map(
      [...this.#nodes].flatMap(([old, to]) => (to === null ? [] : [[to, old] as const])),
    );
  }

  /** The new name of a node; LangGraph's own keep theirs. `null`: removed. */
  node(old: string): string | null {
    return lookUp(this.#nodes, old);
  }

  /** The new name of a gate, which begins with that of its node; `null`: removed. */
  gate(old: string): string | null {
    const [node = '', ...inside] = old.split(':');
    const now = this.node(node);
    return now === null ? null : [now, ...inside].join(':');
  }

  /** The name a node had before. */
  oldNode(name: string): string {
    return this.#oldNodes.get(name) ?? name;
  }

  /** The new name of a channel, be it the author's or one of LangGraph's triggers, which are named after nodes. */
  channel(old: string): string | null {
    if (this.#channels.has(old)) return lookUp(this.#channels, old);
    return renameTrigger(old, (node) => this.node(node));
  }

  /** The name a trigger had before. */
  oldTrigger(trigger: string): string {
    return renameTrigger(trigger, (node) => this.oldNode(node)) ?? trigger;
  }

  /** `values` under the new names of its channels. */
  channelKeys<T>(values: Readonly<Record<string, T>>): Record<string, T> {
    return mapKeys(values, (name) => this.channel(name));
  }

  /** `values` under the new names of its nodes. */
  nodeKeys<T>(values: Readonly<Record<string, T>>): Record<string, T> {
    return mapKeys(values, (name) => this.node(name));
  }
}

/** True for a channel that makes a node run; the author's channels do not. */
export function isTrigger(channel: string): boolean {
  return channel.startsWith(BRANCH) || channel.startsWith(JOIN);
}

/** The triggers by which a node may be due: its own branch and the joins that end in it. */
export function triggersOf(node: string, channels: readonly string[]): readonly string[] {
  const joins = channels.filter((name) => name.startsWith(JOIN) && name.endsWith(`:${node}`));
  return [node, `${BRANCH}${node}`, ...joins];
}

/** LangGraph names a branch after its end, a join after its starts and its end. */
function renameTrigger(trigger: string, rename: (node: string) => string | null): string | null {
  if (trigger.startsWith(BRANCH)) {
    const to = rename(trigger.slice(BRANCH.length));
    return to === null ? null : BRANCH + to;
  }
  if (!trigger.startsWith(JOIN)) return trigger;
  const [starts = '', end = ''] = trigger.slice(JOIN.length).split(':');
  const to = rename(end);
  const from = starts.split('+').map(rename);
  return to === null || from.includes(null) ? null : `${JOIN}${from.join('+')}:${to}`;
}

type Refuse = (reason: NotAcceptedReason, why: string) => never;

interface NameMapping {
  readonly what: 'node' | 'channel';
  readonly before: readonly string[];
  readonly now: readonly string[];
}

function targetsOf(
  { what, before, now }: NameMapping,
  renamed: ReadonlyMap<string, string>,
  removed: readonly string[],
  refuse: Refuse,
): Targets {
  const stranger = [...renamed.keys(), ...removed].find((name) => !before.includes(name));
  if (stranger !== undefined) refuse('unknown_name', `its graph has no ${what} "${stranger}"`);
  const targets = new Map<string, string | null>();
  const taken = new Map<string, string>();
  for (const old of before) {
    const to = removed.includes(old) ? null : (renamed.get(old) ?? old);
    targets.set(old, to);
    if (to === null) continue;
    if (!now.includes(to)) {
      if (to === old) refuse('undeclared', `${what} "${old}" was removed or renamed without a declaration`);
      refuse(
        'unknown_target',
        `${what} "${old}" is declared as renamed to "${to}", but there is no ${what} "${to}"`,
      );
    }
    const other = taken.get(to);
    if (other !== undefined)
      refuse('ambiguous', `${what}s "${other}" and "${old}" are both declared as "${to}"`);
    taken.set(to, old);
  }
  return targets;
}

function lookUp(targets: Targets, name: string): string | null {
  const to = targets.get(name);
  return to === undefined ? name : to;
}

function mapKeys<T>(
  values: Readonly<Record<string, T>>,
  rename: (name: string) => string | null,
): Record<string, T> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const to = rename(name);
      return to === null ? [] : [[to, value] as const];
    }),
  );
}

/** Why a changed graph cannot be accepted for a run as it was declared. */
export type NotAcceptedReason =
  /** The run is older than the record of its graph's names. */
  | 'not_recorded'
  /** The run has ended. */
  | 'ended'
  /** A declared old name was never there. */
  | 'unknown_name'
  /** An old name is gone, and nothing says what became of it. */
  | 'undeclared'
  /** The new name does not exist. */
  | 'unknown_target'
  /** Two old names became one. */
  | 'ambiguous'
  /** A gate is gone without a declaration. */
  | 'gate_removed'
  /** What the run is about to do, the new graph cannot do. */
  | 'pending_visit'
  /** A question that is open or answered would not be asked in the same place. */
  | 'gate_changed'
  /** A step was begun and has no result: its idempotency key would change. */
  | 'call_in_flight';

/** A refusal of `acceptGraph`: nothing was written. */
export function notAccepted(threadId: string, reason: NotAcceptedReason, why: string): DevsError {
  return new DevsError(`Run "${threadId}" cannot continue with this graph: ${why}.`, {
    code: 'GRAPH_NOT_ACCEPTED',
    remedy: REMEDIES[reason],
    context: { threadId, reason },
  });
}

const FINISH_WITH_OLD =
  'Finish this node with the version of the program that started the run, then accept the graph.';
const CORRECT = 'Correct the declaration, then accept the graph again.';

const REMEDIES: Readonly<Record<NotAcceptedReason, string>> = {
  not_recorded: 'Resume the run with the version of the program that started it, or start a new run.',
  ended: 'Start a new run.',
  unknown_name: CORRECT,
  undeclared: 'Declare it as renamed or as removed.',
  unknown_target: CORRECT,
  ambiguous: CORRECT,
  gate_removed: 'Declare it as removed, if the run may pass without being asked there.',
  pending_visit: FINISH_WITH_OLD,
  gate_changed: FINISH_WITH_OLD,
  call_in_flight:
    'Resume the run with the version of the program that started it until it waits or pauses, then accept the graph.',
};
