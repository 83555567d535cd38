import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { env } from 'node:process';

/**
 * A GitHub CLI that records the arguments of each call and what it was given on stdin, and answers from files.
 */
const SCRIPT = `#!/bin/sh
at="$(dirname "$0")/../answers"
verb="$1-$2"
case "$1" in api) verb=api ;; auth) verb=auth ;; esac
{ printf '%s\\037' "$@"; printf '\\n'; } >> "$at/calls"
cat > "$at/stdin-$verb"
if [ -e "$at/kills-$verb" ]; then rm "$at/kills-$verb"; kill -9 "$PPID"; exit 1; fi
if [ -e "$at/$verb.then" ]; then cp "$at/$verb.then" "$at/pr-list.json"; fi
if [ -e "$at/$verb.err" ]; then cat "$at/$verb.err" >&2; exit "$(cat "$at/$verb.exit")"; fi
about="$at/$verb-$(printf %s "$3" | tr / -).json"
if [ -e "$about" ]; then cat "$about"; else cat "$at/$verb.json"; fi
`;

/** What `gh` prints of an issue. */
export const ISSUE = {
  title: 'Add two numbers',
  body: 'sum(2, 3) is 5.\r\n\r\n```\nexample\n```',
  url: 'https://github.com/acme/app/issues/12',
  state: 'OPEN',
  author: { login: 'mona' },
  comments: [] as readonly object[],
};

/** A GitHub of a test: `gh` on `PATH`, with answers that the test writes. */
export class FakeGitHub {
  readonly #answers: string;
  readonly #bin: string;

  /** @param dir - An empty folder that is not the project. */
  constructor(dir: string) {
    this.#answers = join(dir, 'answers');
    this.#bin = join(dir, 'bin');
    for (const folder of [this.#answers, this.#bin]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(this.#bin, 'gh'), SCRIPT, { mode: 0o755 });
    this.answers('issue-view', ISSUE);
  }

  /** The environment of a user who has it. */
  get env(): { readonly PATH: string } {
    return { PATH: `${this.#bin}${delimiter}${env['PATH']}` };
  }

  /** @param verb - Such as `repo-view`, or `repo-view-acme-app` for one of them alone. */
  answers(verb: string, document: unknown): void {
    writeFileSync(join(this.#answers, `${verb}.json`), JSON.stringify(document));
  }

  /** What `gh auth git-credential` gives to git. */
  loggedInWith(token: string): void {
    writeFileSync(join(this.#answers, 'auth.json'), `username=x-access-token\npassword=${token}\n`);
  }

  /** These pull requests are listed once somebody called a verb. */
  listsAfter(verb: string, requests: readonly object[]): void {
    writeFileSync(join(this.#answers, `${verb}.then`), JSON.stringify(requests));
  }

  fails(verb: string, stderr: string, exitCode = 1): void {
    writeFileSync(join(this.#answers, `${verb}.exit`), String(exitCode));
    writeFileSync(join(this.#answers, `${verb}.err`), stderr);
  }

  /** The next call of this verb ends the process that made it, as a power cut would, and does nothing else. */
  kills(verb: string): void {
    writeFileSync(join(this.#answers, `kills-${verb}`), '');
  }

  /** Also records the arguments of `git`, as `gitCalls`. */
  recordGit(): void {
    const [git = ''] = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).split('\n');
    const record = `{ printf '%s\\037' "$@"; printf '\\n'; } >> "$(dirname "$0")/../answers/git-calls"`;
    writeFileSync(join(this.#bin, 'git'), `#!/bin/sh\n${record}\nexec ${git} "$@"\n`, { mode: 0o755 });
  }

  /** Arguments of every call, oldest first. */
  get calls(): readonly (readonly string[])[] {
    return this.#recorded('calls');
  }

  get gitCalls(): readonly (readonly string[])[] {
    return this.#recorded('git-calls');
  }

  #recorded(name: string): readonly (readonly string[])[] {
    const file = join(this.#answers, name);
    if (!existsSync(file)) return [];
    return readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split('\u001f').slice(0, -1));
  }

  /** What the last call of a verb was given. */
  stdin(verb: string): string {
    return readFileSync(join(this.#answers, `stdin-${verb}`), 'utf8');
  }
}
