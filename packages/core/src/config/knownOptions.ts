/**
 * Every name of an options type: `{ … } satisfies OptionNames<Options>`. The compiler asks for the name of a new option.
 */
export type OptionNames<Options> = { readonly [Name in keyof Required<Options>]: true };

/**
 * Checks the names of options, and returns the options unchanged. JavaScript alone ignores a mistyped one.
 *
 * @param what - Name of the function in the message.
 * @throws TypeError naming an unknown option and the nearest known one.
 */
export function withKnownNames<Options extends object>(
  what: string,
  given: Options,
  known: Readonly<Record<string, true>>,
): Options {
  if (typeof given !== 'object' || given === null) {
    throw new TypeError(`${what}: expected an object with options, got ${String(given)}.`);
  }
  for (const name of Object.keys(given))
    if (!Object.hasOwn(known, name)) throw unknownOption(what, name, known);
  return given;
}

function unknownOption(what: string, name: string, known: Readonly<Record<string, true>>): TypeError {
  const names = Object.keys(known);
  const distances = names.map((one) => ({
    one,
    distance: editDistance(name.toLowerCase(), one.toLowerCase()),
  }));
  const [nearest] = distances.sort((left, right) => left.distance - right.distance);
  const isNear = nearest !== undefined && nearest.distance <= Math.max(1, Math.floor(name.length / 2));
  const hint = isNear ? `Did you mean \`${nearest.one}\`?` : `It has these: ${names.join(', ')}.`;
  return new TypeError(`${what}: there is no option \`${name}\`. ${hint}`);
}

/** Insertions, deletions, replacements, and two neighbours that changed places. */
function editDistance(from: string, to: string): number {
  let before: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row += 1) {
    const next: number[] = [row];
    for (let at = 1; at <= to.length; at += 1) {
      const isSame = from[row - 1] === to[at - 1];
      const [one = 0, other = 0, both = 0] = [last[at], next[at - 1], last[at - 1]];
      const swapped = isSwapped(from, to, [row, at]) ? (before[at - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(one + 1, other + 1, both + (isSame ? 0 : 1), swapped));
    }
    before = last;
    last = next;
  }
  return last[to.length] ?? 0;
}

const isSwapped = (from: string, to: string, [row, at]: readonly [number, number]): boolean =>
  row > 1 && at > 1 && from[row - 1] === to[at - 2] && from[row - 2] === to[at - 1];
