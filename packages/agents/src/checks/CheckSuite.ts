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
  /** Whether it only reads, so that it may run beside the others. @defaultValue false */
  readonly parallel?: boolean;
}

/**
 * Several checks as one, each in its own folder. All run, so that every failure is reported: one after the other, and
 * beside them those that may. Results are in the order of the checks.
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
    const ran = await this.#runAll(request);
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
        command: result.command,
        ...(result.durationMs !== undefined && { durationMs: result.durationMs }),
        ...(result.limitMs !== undefined && { limitMs: result.limitMs }),
      })),
      ...(cases.length > 0 && { cases }),
      ...(flaky.length > 0 && { flaky }),
      ...(missing !== undefined && { missing }),
    };
  }

  async #runAll(request: CheckRequest): Promise<readonly Ran[]> {
    const beside = new Map(
      this.#checks
        .filter(({ parallel }) => parallel === true)
        .map((check) => [check, heldBack(check, request)] as const),
    );
    const ran: Ran[] = [];
    try {
      for (const check of this.#checks) {
        if (!beside.has(check)) ran.push({ check, result: await runCheck(check, request) });
      }
    } finally {
      // All of them end before the folder is used again.
      await Promise.allSettled(beside.values());
    }
    for (const [check, result] of beside) ran.push({ check, result: await result });
    return ran.sort((a, b) => this.#checks.indexOf(a.check) - this.#checks.indexOf(b.check));
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

/** Holds the activity of a parallel check back until its end: two outputs at once cannot be read. */
async function heldBack(check: NamedCheck, { onActivity, ...request }: CheckRequest): Promise<CheckResult> {
  const told: Parameters<NonNullable<CheckRequest['onActivity']>>[0][] = [];
  try {
    return await runCheck(check, { ...request, onActivity: (activity) => told.push(activity) });
  } finally {
    for (const activity of told) onActivity?.(activity);
  }
}

function runCheck({ dir, checks }: NamedCheck, request: CheckRequest): Promise<CheckResult> {
  const { root = request.dir } = request;
  return checks.run({ ...request, root, dir: join(request.dir, dir) });
}
