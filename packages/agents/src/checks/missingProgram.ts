/** What a shell exits with for a command it cannot find. */
const NOT_FOUND = 127;

const SAID = [
  /^(?:\/bin\/)?(?:sh|bash|dash|zsh|ash)(?:: (?:line )?\d+)?: ([^\s:]+): (?:command )?not found$/m,
  /^(?:zsh|sh): command not found: (\S+)$/m,
  /^(?:\/usr\/bin\/)?env: ['‘]?([^\s'’:]+)['’]?: No such file or directory$/m,
];
const BUBBLEWRAP = /^bwrap: execvp (\S+): No such file or directory$/m;

/** The program that a command did not find; `null` where it says nothing of the kind. */
export function missingProgram(exitCode: number | null, output: string): string | null {
  const sandboxed = BUBBLEWRAP.exec(output)?.[1];
  if (sandboxed !== undefined && exitCode !== 0) return sandboxed;
  if (exitCode !== NOT_FOUND) return null;
  return SAID.map((pattern) => pattern.exec(output)?.[1]).find((name) => name !== undefined) ?? null;
}
