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
}

/** A prefix for a command: `[...prefix, program, ...args]` runs confined. */
export interface Sandbox {
  /** Name, shown with the run. */
  readonly name: string;
  prefix(confinement: Confinement): readonly string[];
}
