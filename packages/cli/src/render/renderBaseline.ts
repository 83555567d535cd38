import type { Line } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';

/** Names of failures that are shown, before it says how many more there are. */
const MAX_NAMES = 40;

/** What the gate of red checks shows. */
export interface BaselineView {
  readonly command: string;
  readonly failing: readonly string[];
  /** Of these: what did not fail when somebody was asked before. */
  readonly appeared?: readonly string[];
  readonly flaky: readonly string[];
  readonly cases: number | null;
  readonly output: string;
  readonly parts?: readonly { readonly name: string; readonly kind: string; readonly passed: boolean }[];
  /** A program that is not there. */
  readonly missing?: string;
}

export function isBaseline(artifact: unknown): artifact is BaselineView {
  if (typeof artifact !== 'object' || artifact === null) return false;
  const { command, failing, flaky, output } = artifact as Partial<BaselineView>;
  return typeof command === 'string' && typeof output === 'string' && [failing, flaky].every(Array.isArray);
}

/** What fails, by name, for the one who says how it goes on. */
export function baselineLines(shown: BaselineView): readonly Line[] {
  const { command, parts = [], cases, flaky, missing, output } = shown;
  const failing = newFirst(shown);
  const ran = cases === null ? '' : `, ${cases} test cases ran`;
  return [
    { style: 'bold', text: oneLine(`${command} fails on the untouched repository${ran}`) },
    ...parts.map(
      ({ name, kind, passed }) => `  ${passed ? 'passed' : 'failed'}  ${oneLine(`${name} (${kind})`)}`,
    ),
    '',
    ...(missing === undefined ? formatNames('What fails', failing) : missingLines(missing)),
    ...wholeLines(shown),
    ...formatNames('Flaky: failed and passed on the same files', flaky),
    ...(output.trim() === ''
      ? []
      : [{ style: 'bold', text: 'End of the output' } as const, output.trimEnd(), '']),
  ];
}

/** Of a command that tells no cases, accepting its failure accepts all that it can say. */
function wholeLines({ command, parts = [], failing, missing }: BaselineView): readonly Line[] {
  const whole =
    parts.length === 0 ? [command] : parts.filter(({ kind }) => kind === 'test').map(({ name }) => name);
  const named = failing.find((name) => whole.includes(name));
  if (named === undefined || missing !== undefined) return [];
  return [
    oneLine(
      `${named} does not report which case fails. If you accept it, devs cannot see a new test fail there,`,
    ),
    'and commands after && in it do not run. Separate checks all run:',
    'devs init splits a script such as "xo && ava && tsd" into separate checks.',
    '',
  ];
}

function missingLines(program: string): readonly Line[] {
  return [
    { style: 'bold', text: oneLine(`The checks could not run: ${program} is not installed here.`) },
    'Install it, or add a setup command to .devs/config.json, which prepares the folder of every run:',
    '  "setup": ["npm", "ci"]',
    '',
  ];
}

/** What fails, marked where it did not when somebody was asked before; that first, as the list may be cut. */
function newFirst({ failing, appeared = [] }: BaselineView): readonly string[] {
  const known = failing.filter((name) => !appeared.includes(name));
  return [...appeared.map((name) => `${name}  (new)`), ...known];
}

function formatNames(title: string, names: readonly string[]): readonly Line[] {
  if (names.length === 0) return [];
  const lines = names.slice(0, MAX_NAMES).map((name) => `  - ${oneLine(name)}`);
  const more = names.length - MAX_NAMES;
  return [{ style: 'bold', text: title }, ...lines, ...(more > 0 ? [`  … and ${more} more`] : []), ''];
}
