import type { Scratch } from './scratch.ts';

/** The named variables that are set, in this process unless another environment is given. */
export function pickEnvironment(
  names: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = env[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

/** All that a command sees of this process's environment unless more is named. Secrets do not reach it. */
const ALLOWED = ['PATH', 'LANG', 'LC_ALL', 'TZ'] as const;

/** A command's own additions to the environment that every command gets. */
export interface NamedEnvironment {
  /** Of this process. */
  readonly names: readonly string[];
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/** The whole environment of a command: the allowed and named variables, folders of its own, colours only if they are set. */
export function commandEnvironment(
  { home, temporary }: Scratch,
  { names, variables }: NamedEnvironment,
): Record<string, string> {
  return {
    NO_COLOR: '1',
    npm_config_update_notifier: 'false',
    ...pickEnvironment([...ALLOWED, ...names]),
    ...variables,
    HOME: home,
    TMPDIR: temporary,
  };
}
