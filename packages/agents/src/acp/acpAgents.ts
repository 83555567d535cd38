import type { StageAgents } from '@devs/core';
import { type CodingAgentsOptions, codingAgents } from '../coding/codingAgents.ts';
import type { AcpProgram } from './AcpProgram.ts';
import { AcpTool } from './AcpTool.ts';
import { ACP_PROGRAMS, type AcpName } from './programs.ts';

const DEFAULT_MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const DEFAULT_GRACE_MS = 10_000;

/** A coding CLI known by name, or a program of your own that speaks the protocol. */
export type AcpSource = AcpName | AcpProgram;

export interface AcpAgentsOptions extends CodingAgentsOptions<AcpSource> {
  /** Of every stage that `perStage` does not name. */
  readonly agent: AcpSource;
  /** Bytes an agent may print within one stage; more ends it. @defaultValue 256 MiB */
  readonly maxOutputBytes?: number;
  /** Time it has to end its turn after `session/cancel`, ms; then it is ended, with its group. @defaultValue 10 000 */
  readonly graceMs?: number;
}

/**
 * Agents that drive a coding CLI through the Agent Client Protocol. It edits the workspace in place, and the engine takes
 * the difference; where a stage is about documents, a plan or a verdict it answers with JSON, and an answer of the wrong
 * shape is sent back once. What it does is told as it happens (`call.onActivity`); what it asks for, a policy answers.
 *
 * A process stays warm from one stage to the next as long as the folder and the kind of work (reading, editing) are the
 * same; `close` ends it, and so does the end of this process.
 *
 * @throws DevsError `CONFIG_INVALID` when a program is not installed.
 *
 * @example
 * ```ts
 * const sandbox = await findSandbox('bwrap', { project: process.cwd() });
 * const agents = await acpAgents({ agent: 'claude', sandbox });
 * ```
 */
export function acpAgents(options: AcpAgentsOptions): Promise<StageAgents> {
  const { agent, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES, graceMs = DEFAULT_GRACE_MS } = options;
  return codingAgents(agent, { ...options, maxOutputBytes, graceMs }, (source, limits) =>
    AcpTool.find(typeof source === 'string' ? ACP_PROGRAMS[source] : source, limits),
  );
}
