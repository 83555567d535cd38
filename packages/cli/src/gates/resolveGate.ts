import { type ClosedGate, DevsError, type Gate, isDevsError, type Orchestrator, type Run } from '@devs/core';
import { usageError } from '../usageError.ts';
import { GATE_WORDS } from './gateWords.ts';

/** Shortest beginning of a session id that names a gate. */
const MIN_PREFIX = 4;

interface OfRun {
  readonly run: Run;
  readonly sessionId: string;
  readonly kind: Gate['kind'];
}

/** Open, or with what became of it. */
export type NamedGate = OfRun &
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
  const run = await runNamed(name, devs);
  const named = run === null && name.length >= MIN_PREFIX ? await devs.gatesNamed(name.toLowerCase()) : [];
  const matches = run === null ? named.filter((gate) => !isClosed(gate)) : await run.gates();
  const [gate, ...others] = matches;
  if (gate !== undefined) {
    if (others.length > 0) throw ambiguous(name, matches);
    return { run: await devs.run(gate.threadId), sessionId: gate.sessionId, kind: gate.kind, gate };
  }
  if (run !== null) throw notFound(`Run "${name}" has no open gate.`);
  const closed = named.find(isClosed);
  if (closed === undefined) throw notFound(`There is no gate ${JSON.stringify(name)}.`);
  const { sessionId, kind } = closed;
  return { run: await devs.run(closed.threadId), sessionId, kind, gate: null, closed };
}

async function runNamed(name: string, devs: Orchestrator): Promise<Run | null> {
  try {
    return await devs.run(name);
  } catch (error) {
    if (isDevsError(error, 'THREAD_NOT_FOUND')) return null;
    throw error;
  }
}

const isClosed = (gate: Gate | ClosedGate): gate is ClosedGate => 'status' in gate;

function ambiguous(name: string, gates: readonly Gate[]): DevsError {
  const list = gates.map(
    ({ sessionId, threadId, kind }) => `${sessionId}  ${threadId}  ${GATE_WORDS[kind].name}`,
  );
  const message = [`"${name}" matches ${gates.length} gates:`, ...list].join('\n    ');
  return usageError(message, 'Use a longer part of the id.');
}

function notFound(message: string): DevsError {
  return new DevsError(message, {
    code: 'GATE_NOT_FOUND',
    remedy: `List the open gates with devs gates. Use the id of a gate, its first ${MIN_PREFIX} characters or more, or the id of its run.`,
  });
}
