import type { Confinement, Sandbox } from './Sandbox.ts';

/**
 * Returns your own sandbox: program and arguments before a command. `{workspace}`, `{dir}` and `{scratch}` in an
 * argument become the paths of `Confinement`, `{network}` becomes `on` or `off`.
 *
 * @throws TypeError without a program.
 *
 * @example
 * ```ts
 * customSandbox(['sandbox-exec', '-D', 'WORKSPACE={workspace}', '-D', 'SCRATCH={scratch}', '-f', '/etc/devs.sb']);
 * ```
 */
export function customSandbox(argv: readonly string[]): Sandbox {
  const [program] = argv;
  if (program === undefined || program === '') throw new TypeError('argv must name a sandbox.');
  return { name: program, prefix: (confinement) => argv.map((argument) => filled(argument, confinement)) };
}

function filled(argument: string, { workspace, dir, scratch, network }: Confinement): string {
  const values: Readonly<Record<string, string>> = {
    workspace,
    dir,
    scratch,
    network: network ? 'on' : 'off',
  };
  return argument.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
