/** Paths that one command can reach besides the system, which it can only read. Paths are absolute. */
export interface Confinement {
  /** The folder of the run; the command may change it. */
  readonly workspace: string;
  /** Working folder of the command: the workspace or a folder in it. */
  readonly dir: string;
  /** Folder of its home and its temporary files; removed afterwards. */
  readonly scratch: string;
  /** False for checks, true for agents. */
  readonly network: boolean;
  /** More readable paths: a program and its installation folder, unless that is a home. @defaultValue none */
  readonly readable?: readonly string[];
  /** More writable paths. @defaultValue `[]` */
  readonly writable?: readonly string[];
}

/** A prefix for a command: `[...prefix, program, ...args]` runs confined. */
export interface Sandbox {
  /** Name, shown with the run. */
  readonly name: string;
  /** Whether it lets a command write to `writable` of its confinement. @defaultValue false */
  readonly hasWritable?: boolean;
  prefix(confinement: Confinement): readonly string[];
}

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
