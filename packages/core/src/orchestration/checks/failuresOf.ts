import type { CheckPart, CheckResult } from '../ports.ts';

/**
 * What fails in a check, by the most exact name there is: its failing cases; a part that fails without one of its cases
 * failing, by the part's name; the command, where nothing else is told. A case that also passed on this tree is none.
 */
export function failuresOf(result: CheckResult): readonly string[] {
  const { passed, cases = [], parts = [], flaky = [], command } = result;
  const failed = cases.filter(({ state }) => state === 'failed').map(({ name }) => name);
  const unexplained = parts.filter((part) => !part.passed && !failed.some((name) => isOf(part, name)));
  const explained = passed || failed.length > 0 || unexplained.length > 0;
  const names = [...failed, ...unexplained.map(({ name }) => name), ...(explained ? [] : [command])];
  return [...new Set(names)].filter((name) => !flaky.includes(name));
}

/** Where a check has several parts, the names of its cases begin with the part they ran in. */
const isOf = ({ name }: CheckPart, caseName: string): boolean => caseName.startsWith(`${name}: `);
