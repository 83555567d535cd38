import type { StageAgents } from '@devs/core';
import { type CodingAgentsOptions, codingAgents } from '../coding/codingAgents.ts';
import type { AcpProgram } from './AcpProgram.ts';
import { AcpTool } from './AcpTool.ts';
import { ACP_PROGRAMS, type AcpName } from './programs.ts';

const DEFAULT_MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const DEFAULT_GRACE_MS = 10_000;

/** The name of a known coding CLI, or your own program that speaks the protocol. */
export type AcpSource = AcpName | AcpProgram;

export interface AcpAgentsOptions extends CodingAgentsOptions<AcpSource> {
  /** The CLI of every stage not in `perStage`. */
  readonly agent: AcpSource;
  /** Largest output of one stage in bytes; more ends it. @defaultValue 256 MiB */
  readonly maxOutputBytes?: number;
  /**
   * Time to end the turn after `session/cancel`, in milliseconds; then its process group is killed. @defaultValue 10
   * 000
   */
  readonly graceMs?: number;
}

/**
 * Creates agents that use a coding CLI through the Agent Client Protocol. The CLI edits the workspace in place, and the
 * engine takes the difference. In stages with documents, a plan or a verdict it answers with JSON; an answer of the
 * wrong shape is returned once. It reports progress (`call.onActivity`), and a policy answers its permission requests.
 *
 * A process stays alive between stages as long as the folder and the kind of work (reading, editing) are the same.
 * `close` ends it, and so does the end of this process.
 *
 * @throws DevsError `CONFIG_INVALID` if a program is not installed.
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
