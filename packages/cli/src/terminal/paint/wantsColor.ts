import type { Io } from '../Io.ts';

/**
 * Whether the output has colours: on a terminal that is not `dumb`, and with `FORCE_COLOR` elsewhere, too. `--no-color` and
 * `NO_COLOR` win, as they do in the help.
 */
export function wantsColor({ stdout, env }: Pick<Io, 'stdout' | 'env'>, isAllowed: boolean): boolean {
  const { NO_COLOR: no = '', FORCE_COLOR: force = '', TERM: term } = env;
  if (!isAllowed || no !== '' || force === '0' || force === 'false') return false;
  return force !== '' || (stdout.isTTY === true && term !== 'dumb');
}
