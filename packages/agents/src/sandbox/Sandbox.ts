/** What one command may reach beside the system, which it can only read. Paths are absolute. */
export interface Confinement {
  /** The folder of the run; the command may change it. */
  readonly workspace: string;
  /** Where the command begins: the workspace or a folder in it. */
  readonly dir: string;
  /** Holds its home and its temporary folder; removed afterwards. */
  readonly scratch: string;
  /** Checks get none, agents need it. */
  readonly network: boolean;
  /** What else it has to see, read-only: a program and the folder it is installed in, unless that is a home. @defaultValue none */
  readonly readable?: readonly string[];
}

/** A sandbox is what stands in front of a command: `[...prefix, program, ...args]` runs confined. */
export interface Sandbox {
  /** Shown wherever a run is shown. */
  readonly name: string;
  prefix(confinement: Confinement): readonly string[];
}
