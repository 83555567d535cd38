import { join } from 'node:path';
import type { CheckRequest, CheckResult, Checks } from '@devs/core';

export interface NamedCheck {
  /** Shown when it fails; the names of its cases begin with it. */
  readonly name: string;
  /** Folder it runs in, relative to the workspace. */
  readonly dir: string;
  readonly checks: Checks;
  /** What it judges. @defaultValue 'test' */
  readonly kind?: NonNullable<CheckResult['parts']>[number]['kind'];
}

/**
 * Several checks as one, each in its own folder. All run in order, so that every failure is reported.
 *
 * @example
 * ```ts
 * const checks = new CheckSuite([
 *   { name: 'api', dir: 'packages/api', checks: new CommandChecks({ argv: ['pnpm', 'test'] }) },
 *   { name: 'lint', dir: '.', kind: 'lint', checks: new CommandChecks({ argv: ['pnpm', 'lint'] }) },
 * ]);
 * ```
 */
export class CheckSuite implements Checks {
  readonly #checks: readonly NamedCheck[];

  /** @throws TypeError without a check. */
  constructor(checks: readonly NamedCheck[]) {
    if (checks.length === 0) throw new TypeError('At least one check is required.');
    this.#checks = checks;
  }

  /** Returns the first failed result, or the last one, with the output and the cases of all. */
  async run(request: CheckRequest): Promise<CheckResult> {
    const ran: Ran[] = [];
    for (const check of this.#checks) ran.push({ check, result: await runCheck(check, request) });
    const decisive = (ran.find(({ result }) => !result.passed) ?? ran.at(-1)) as Ran;
    const cases = ran.flatMap(casesThatRan);
    const flaky = ran.flatMap(flakyOf);
    const missing = ran.find(({ result }) => result.missing !== undefined)?.result.missing;
    const { passed, exitCode, timedOut, command } = decisive.result;
    return {
      passed,
      exitCode,
      timedOut,
      command,
      output: ran
        .map(({ check, result }) => `[${check.name}] ${result.command}\n${result.output}`)
        .join('\n'),
      parts: ran.map(({ check, result }) => ({
        name: check.name,
        kind: check.kind ?? 'test',
        passed: result.passed,
      })),
      ...(cases.length > 0 && { cases }),
      ...(flaky.length > 0 && { flaky }),
      ...(missing !== undefined && { missing }),
    };
  }

  /**
   * Runs another command in the top folder, with the rights and limits of the first check.
   *
   * @throws TypeError if the first check cannot run another command.
   */
  async runCommand(argv: readonly string[], request: CheckRequest): Promise<CheckResult> {
    const { checks } = this.#checks[0] as NamedCheck;
    if (checks.runCommand === undefined) throw new TypeError('The first check cannot run another command.');
    return checks.runCommand(argv, request);
  }
}

interface Ran {
  readonly check: NamedCheck;
  readonly result: CheckResult;
}

const casesThatRan = ({ check, result: { cases = [] } }: Ran) =>
  cases.map((found) => ({ ...found, name: `${check.name}: ${found.name}` }));

/** A flaky command is known by the name of its check. */
const flakyOf = ({ check, result: { flaky = [], command } }: Ran) =>
  flaky.map((name) => (name === command ? check.name : `${check.name}: ${name}`));

function runCheck({ dir, checks }: NamedCheck, request: CheckRequest): Promise<CheckResult> {
  const { root = request.dir } = request;
  return checks.run({ ...request, root, dir: join(request.dir, dir) });
}
