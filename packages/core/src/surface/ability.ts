import { DevsError } from '../errors/DevsError.ts';
import type { RunWorkspace } from '../orchestration/ports.ts';

type Ability = 'adopt' | 'sync' | 'withdraw' | 'reinstate' | 'follow';

/**
 * What not every workspace can do.
 *
 * @throws DevsError `CONFIG_INVALID` when this one cannot.
 */
export function ability<Name extends Ability>(
  workspace: RunWorkspace,
  name: Name,
): NonNullable<RunWorkspace[Name]> {
  const method: RunWorkspace[Name] = workspace[name];
  if (method !== undefined) return method.bind(workspace) as NonNullable<RunWorkspace[Name]>;
  throw new DevsError(`The workspace of this run cannot ${name}.`, {
    code: 'CONFIG_INVALID',
    remedy: `Use a workspace with \`${name}\`, such as GitWorkspace of @devs/agents.`,
  });
}
