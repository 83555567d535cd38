// What a run of a row's tests on the mutated source shows: killed, survived, or broken, which shows nothing.

/**
 * A red test counts only where it noticed something, not where the mutation cannot run.
 *
 * @param entry a row of the ledger
 * @param modules `{ errors, tests: [{ titles, state, errors }] }` of each test file that ran; `titles` are those of the
 *   test and of the groups it is in
 */
export function verdictOf({ test, count = 1 }, modules) {
  const errors = modules.flatMap((module) => module.errors);
  if (errors.length > 0) return { outcome: 'broken', why: `the test file does not load: ${errors[0]}` };
  const ran = modules
    .flatMap(({ tests }) => tests)
    .filter(({ titles, state }) => state !== 'skipped' && (test === undefined || titles.includes(test)));
  if (ran.length === 0) return { outcome: 'broken', why: 'the named test did not run' };
  const failures = ran.filter(({ state }) => state === 'failed').flatMap((failed) => failed.errors);
  const noticed = failures.find(isNoticed);
  if (noticed !== undefined)
    return { outcome: 'killed', why: firstLine(`${noticed.name}: ${noticed.message}`) };
  if (failures.length > 0)
    return { outcome: 'broken', why: firstLine(`${failures[0].name}: ${failures[0].message}`) };
  if (ran.length < count) return { outcome: 'killed', why: `${ran.length} tests, expected ${count}` };
  return { outcome: 'survived', why: `${ran.length} passed` };
}

/** An assertion, or what the code threw into the test; not code that is none, and not a test that waited for ever. */
const isNoticed = ({ name, message }) =>
  !['SyntaxError', 'ReferenceError'].includes(name) && !/is not a function|timed out in/.test(message);

export const firstLine = (text) => text.split('\n', 1)[0].slice(0, 160);
