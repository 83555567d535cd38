import { type ClosedGate, DevsError, type Gate, isDevsError, type Orchestrator, type Run } from '@devs/core';
import { usageError } from '../usageError.ts';
import { GATE_LABELS } from './gateLabels.ts';

/** Shortest beginning of a session id that names a gate. */
const MIN_PREFIX = 4;

interface GateOfRun {
  readonly run: Run;
  readonly sessionId: string;
  readonly kind: Gate['kind'];
}

/** Open, or with what became of it. */
export type NamedGate = GateOfRun &
  (
    | { readonly gate: Gate; readonly closed?: undefined }
    | { readonly gate: null; readonly closed: ClosedGate }
  );

/**
 * Finds a gate by the beginning of its id, or by the id of a run that has exactly one.
 *
 * @throws DevsError `GATE_NOT_FOUND`; `CONFIG_INVALID` when it names several gates.
 */
export async function resolveGate(devs: Orchestrator, name: string): Promise<NamedGate> {
  const run = await findRunNamed(name, devs);
  const named = run === null && name.length >= MIN_PREFIX ? await devs.gatesNamed(name.toLowerCase()) : [];
  const matches = run === null ? named.filter((gate) => !isClosed(gate)) : await run.gates();
  const [gate, ...others] = matches;
  if (gate !== undefined) {
    if (others.length > 0) throw ambiguousGate(name, matches);
    return { run: await devs.run(gate.threadId), sessionId: gate.sessionId, kind: gate.kind, gate };
  }
  if (run !== null) throw gateNotFound(`Run "${name}" has no open gate.`);
  const closed = named.find(isClosed);
  if (closed === undefined) throw gateNotFound(`There is no gate ${JSON.stringify(name)}.`);
  const { sessionId, kind } = closed;
  return { run: await devs.run(closed.threadId), sessionId, kind, gate: null, closed };
}

/** `null` for an unknown id. */
export async function findRunNamed(name: string, devs: Orchestrator): Promise<Run | null> {
  try {
    return await devs.run(name);
  } catch (error) {
    if (isDevsError(error, 'THREAD_NOT_FOUND')) return null;
    throw error;
  }
}

const isClosed = (gate: Gate | ClosedGate): gate is ClosedGate => 'status' in gate;

function ambiguousGate(name: string, gates: readonly Gate[]): DevsError {
  const list = gates.map(
    ({ sessionId, threadId, kind }) => `${sessionId}  ${threadId}  ${GATE_LABELS[kind].name}`,
  );
  const message = [`"${name}" matches ${gates.length} gates:`, ...list].join('\n    ');
  return usageError(message, 'Use a longer part of the id.');
}

function gateNotFound(message: string): DevsError {
  return new DevsError(message, {
    code: 'GATE_NOT_FOUND',
    remedy: `List the open gates with devs gates. Use the id of a gate, its first ${MIN_PREFIX} characters or more, or the id of its run.`,
  });
}

/** For verbs that need what a gate shows: it is closed, or not open yet. */
export const gateNotOpen = (sessionId: string): DevsError =>
  new DevsError(`Gate ${sessionId.slice(0, 8)} is not open.`, {
    code: 'GATE_NOT_FOUND',
    remedy: 'List the open gates with devs gates, or read the decision with devs log.',
    context: { sessionId },
  });
