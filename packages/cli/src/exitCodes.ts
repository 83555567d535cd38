/** Exit codes of `devs`. Documented in docs/reference/commands.md; scripts depend on them. */
export const EXIT = {
  ok: 0,
  runFailed: 1,
  usage: 2,
  busy: 3,
  notFound: 4,
  stateFile: 5,
  gateRefused: 6,
  internal: 70,
  /** The run waits for a human or was asked to stop: go on with `devs resume`. */
  resumable: 75,
  /** A second signal: stopped at once. The run can be resumed all the same. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
