import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession } from '../../state/hitlSession.ts';

type RaisedMeasure = 'usd' | 'tokens' | 'calls' | 'ms';

const MEASURES: readonly RaisedMeasure[] = ['usd', 'tokens', 'calls', 'ms'];

/**
 * Refuses a raise of what was not passed, before it is recorded: the call would stay refused, and the gate be asked again.
 * What was passed need not be raised all at once.
 *
 * @throws DevsError `INVALID_ANSWER`
 */
export function assertRaisesPassed(answer: object, { id, question }: HitlSession): void {
  const passed = passedMeasures(question);
  const given = MEASURES.filter((measure) => measure in answer);
  const [wrong] = passed.size === 0 ? [] : given.filter((measure) => !passed.has(measure));
  if (wrong === undefined) return;
  const names = [...passed].join(', ');
  throw new DevsError(`Gate "${id}" asks about ${names}, but the answer raises ${wrong}.`, {
    code: 'INVALID_ANSWER',
    remedy: `Raise ${names}, which the next call would exceed.`,
    context: { sessionId: id, passed: names },
  });
}

/** Empty for a question that a release before recorded in another form: it takes what it took. */
function passedMeasures(question: unknown): ReadonlySet<string> {
  const { artifact } = (question ?? {}) as {
    readonly artifact?: { readonly limits?: readonly { readonly measure: string }[] };
  };
  return new Set(Array.isArray(artifact?.limits) ? artifact.limits.map(({ measure }) => measure) : []);
}
