import { isDevsError } from '../../errors/DevsError.ts';
import type { RunError } from '../RunResult.ts';
import { asThrowable, causeOf, describeThrown, shownText } from '../thrown.ts';

/** Errors told of a chain of causes: one may lead back to itself. */
const MAX_CAUSES = 8;

/** Errors of branches side by side that a reason names. */
const MAX_BRANCHES = 3;

/** What a node threw, in words: an error may hold what must not leave the process. */
export function runError(given: unknown, causes = MAX_CAUSES): RunError {
  const thrown = asThrowable(given);
  const cause = causeOf(thrown);
  return {
    ...describeThrown(thrown),
    ...(isDevsError(thrown) && {
      code: thrown.code,
      remedy: shownText(thrown.remedy),
      context: Object.fromEntries(
        Object.entries(thrown.context).map(([name, value]) => [
          name,
          typeof value === 'string' ? shownText(value) : value,
        ]),
      ),
    }),
    ...(cause !== undefined && causes > 0 && { cause: runError(cause, causes - 1) }),
  };
}

/** Why a run has failed, in one line: with the code of an error of the engine's, and what branches side by side threw. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof AggregateError)) return errorLine(runError(thrown, 0));
  const { errors } = thrown as { readonly errors: readonly unknown[] };
  const first = errors.slice(0, MAX_BRANCHES).map((error) => errorLine(runError(error, 0)));
  return [
    ...first,
    ...(errors.length > first.length ? [`and ${errors.length - first.length} more`] : []),
  ].join('; ');
}

const errorLine = ({ code, message }: RunError): string =>
  code === undefined ? message : `${code}: ${message}`;
