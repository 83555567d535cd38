import {
  type ClosedGate,
  DevsError,
  type Gate,
  type HitlSessionKind,
  type LogEntry,
  type Orchestrator,
  type Run,
} from '@devs/core';
import { wholeLog } from '../project/wholeLog.ts';
import { usageError } from '../usageError.ts';
import { GATE_WORDS } from './gateWords.ts';

/** Shortest beginning of a session id that names a gate. */
const MIN_PREFIX = 4;

export interface NamedGate {
  readonly run: Run;
  readonly sessionId: string;
  readonly kind: HitlSessionKind;
  /** `null` when the gate is not open. */
  readonly gate: Gate | null;
  /** What became of it, when it was closed; absent while it cannot be answered yet. */
  readonly closed?: ClosedGate;
}

/**
 * Finds a gate by the beginning of its id, or by the id of a run that has exactly one.
 *
 * @throws DevsError `GATE_NOT_FOUND`; `CONFIG_INVALID` when it names several gates.
 */
export async function resolveGate(devs: Orchestrator, name: string): Promise<NamedGate> {
  const runs = await devs.list();
  const named = runs.find(({ id }) => id === name);
  const matches = named?.gates ?? runs.flatMap(({ gates }) => gates).filter((gate) => startsWith(gate, name));
  const [gate, ...others] = matches;
  if (gate !== undefined) {
    if (others.length > 0) throw ambiguous(name, matches);
    return { run: await devs.run(gate.threadId), sessionId: gate.sessionId, kind: gate.kind, gate };
  }
  if (named !== undefined) throw notFound(`Run "${name}" waits at no gate.`);
  const ids = runs.map(({ id }) => id);
  const closed = await closedGate(ids, name, devs);
  if (closed === null) throw notFound(`There is no gate ${JSON.stringify(name)}.`);
  return closed;
}

/** A gate that is closed, or not open yet: the engine says who decided it, or why it cannot be decided. */
async function closedGate(
  ids: readonly string[],
  name: string,
  devs: Orchestrator,
): Promise<NamedGate | null> {
  for (const id of ids) {
    const run = await devs.run(id);
    for (const { sessionId, kind } of (await wholeLog(run)).flatMap(openedGate)) {
      if (!startsWith({ sessionId }, name)) continue;
      const closed = (await run.closedGates()).find((gate) => gate.sessionId === sessionId);
      return { run, sessionId, kind, gate: null, ...(closed && { closed }) };
    }
  }
  return null;
}

function openedGate({ name, payload }: LogEntry): readonly Pick<NamedGate, 'sessionId' | 'kind'>[] {
  return name === 'HITL_SESSION_OPENED' ? [payload as Pick<NamedGate, 'sessionId' | 'kind'>] : [];
}

function startsWith({ sessionId }: Pick<Gate, 'sessionId'>, prefix: string): boolean {
  return prefix.length >= MIN_PREFIX && sessionId.startsWith(prefix.toLowerCase());
}

function ambiguous(name: string, gates: readonly Gate[]): DevsError {
  const list = gates.map(
    ({ sessionId, threadId, kind }) => `${sessionId}  ${threadId}  ${GATE_WORDS[kind].name}`,
  );
  const message = [`"${name}" names ${gates.length} gates:`, ...list].join('\n    ');
  return usageError(message, 'Name one of them by more of its id.');
}

function notFound(message: string): DevsError {
  return new DevsError(message, {
    code: 'GATE_NOT_FOUND',
    remedy: `List the open gates with devs gates; name one by its id, by at least ${MIN_PREFIX} characters of it, or by its run.`,
  });
}
