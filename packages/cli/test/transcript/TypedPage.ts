import { readFileSync } from 'node:fs';
import type { Hand, Hands } from './Hand.ts';
import { typePage } from './pageBlocks.ts';
import type { Shell } from './Shell.ts';
import { Stabiliser } from './Stabiliser.ts';

/** What happens on these days of a page's sections; anything else on the first. */
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const dayOf = (section: string): string =>
  `2026-03-0${
    2 +
    Math.max(
      0,
      DAYS.findIndex((day) => section.startsWith(day)),
    )
  }`;

export interface PageToType {
  readonly file: string;
  readonly home: string;
  readonly hands?: Hands;
  /** The section with which typing begins. @defaultValue the page's beginning */
  readonly from?: string;
  /** What stands in the place of another text when it is typed: what costs money, or is not the same on every machine. */
  readonly instead?: Readonly<Record<string, string>>;
  /** Gives what came back the form of another machine. */
  readonly shown?: (output: string) => string;
}

/**
 * Types all commands of a page, in its order.
 *
 * @returns The page with what came back, in one form every time.
 * @throws Error when a hand had nothing to do: the page lacks its command.
 */
export async function typed(
  { file, home, hands = {}, from = '', instead = {}, shown = (output) => output }: PageToType,
  shell: Shell,
): Promise<string> {
  const stabiliser = new Stabiliser(home);
  const left = new Map<string, (Hand | null)[]>(Object.entries(hands).map(([key, list]) => [key, [...list]]));
  const page = readFileSync(file, 'utf8');
  const begin = page.indexOf(from);
  if (begin < 0) throw new RangeError(`${file} has no ${from}.`);
  const again = await typePage(page.slice(begin), async (command, { section }) => {
    const real = Object.entries(instead).reduce(
      (text, [shown, meant]) => text.replaceAll(shown, meant),
      command,
    );
    const output = await shell.type(real, left.get(command)?.shift() ?? null);
    return stabiliser.stable(shown(output), dayOf(section));
  });
  shell.end();
  const idle = [...left].filter(([, list]) => list.length > 0).map(([command]) => command);
  if (idle.length > 0) throw new RangeError(`${file} lacks ${idle.join(', ')}.`);
  return page.slice(0, begin) + again;
}
