import { join } from 'node:path';
import type { CheckRequest, CheckResult, Checks } from '@devs/core';

export interface NamedCheck {
  /** Shown when it fails. */
  readonly name: string;
  /** Folder it runs in, relative to the workspace. */
  readonly dir: string;
  readonly checks: Checks;
}

/**
 * Several checks as one: each in its own folder, in order, up to the first that is red.
 *
 * @example
 * ```ts
 * const checks = new CheckSuite([
 *   { name: 'api', dir: 'packages/api', checks: new CommandChecks({ argv: ['pnpm', 'test'] }) },
 *   { name: 'lint', dir: '.', checks: new CommandChecks({ argv: ['pnpm', 'lint'] }) },
 * ]);
 * ```
 */
export class CheckSuite implements Checks {
  readonly #first: NamedCheck;
  readonly #rest: readonly NamedCheck[];

  /** @throws TypeError without a check: nothing would judge the work. */
  constructor(checks: readonly NamedCheck[]) {
    const [first, ...rest] = checks;
    if (first === undefined) throw new TypeError('Expected at least one check, got none.');
    this.#first = first;
    this.#rest = rest;
  }

  /** The first red result, or the last, with the output of those before it. */
  async run(request: CheckRequest): Promise<CheckResult> {
    let result = await runNamed(this.#first, request);
    for (const check of this.#rest) {
      if (!result.passed) return result;
      const next = await runNamed(check, request);
      result = { ...next, output: `${result.output}\n${next.output}` };
    }
    return result;
  }

  /**
   * Another command in the top folder, with the rights and limits of the first check.
   *
   * @throws TypeError where that one cannot run another command.
   */
  async runCommand(argv: readonly string[], request: CheckRequest): Promise<CheckResult> {
    const { checks } = this.#first;
    if (checks.runCommand === undefined) throw new TypeError('The first check cannot run another command.');
    return checks.runCommand(argv, request);
  }
}

async function runNamed({ name, dir, checks }: NamedCheck, request: CheckRequest): Promise<CheckResult> {
  const { root = request.dir } = request;
  const result = await checks.run({ ...request, root, dir: join(request.dir, dir) });
  return { ...result, output: `[${name}] ${result.command}\n${result.output}` };
}
