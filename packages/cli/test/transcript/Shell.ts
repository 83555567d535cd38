import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { execPath, env as outer } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserCheckout } from '../../../core/test/support/UserCheckout.ts';
import { EXIT } from '../../src/exitCodes.ts';
import { main } from '../../src/main.ts';
import type { Hand } from './Hand.ts';

/** A command line of `devs` alone. */
const DEVS = /^devs((?: +(?:'[^']*'|[^\s'"$`|&;<>()#]+))*)$/;
const WORD = /'[^']*'|[^\s']+/g;

/** Before a line is drawn anew. */
const ERASE_LINE = '\r\u001b[2K';

interface Places {
  /** A fresh folder, `~` for the user. */
  readonly home: string;
  /** Where the first command is typed. */
  readonly cwd: string;
  /** The command as one file, for a process of its own. */
  readonly bin: string;
  /** Whether `devs` is there from the beginning. @defaultValue true */
  readonly isInstalled?: boolean;
  /** Whether git knows whose the commits are. @defaultValue true */
  readonly isKnownToGit?: boolean;
}

/**
 * The shell of a user. `devs` runs in this process, and in one of its own where it is killed; all else is typed into `sh`.
 * A folder in which commands are typed is the user's: the test fails when `devs` touches it.
 */
export class Shell {
  readonly #places: Places;
  readonly #own: string;
  readonly #env: Record<string, string>;
  #cwd: string;
  #checkout: UserCheckout | null = null;

  constructor(places: Places) {
    this.#places = places;
    this.#own = join(places.home, '.own');
    this.#cwd = places.cwd;
    mkdirSync(this.#own);
    this.#env = {
      PATH: [this.#own, dirname(execPath), outer['PATH']].join(delimiter),
      HOME: this.#own,
      XDG_STATE_HOME: join(this.#own, 'state'),
      TMPDIR: tmpdir(),
      LC_ALL: 'C',
      NO_COLOR: '1',
      PAGER: 'cat',
    };
    if (places.isKnownToGit ?? true)
      writeFileSync(join(this.#own, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.org\n');
    this.program('node', gatedNode(this.#own));
    this.program('npm', installs(this.#own));
    if (places.isInstalled ?? true) this.program('devs', startsDevs(places.bin));
    else this.program('devs.package', startsDevs(places.bin));
    this.#noteCheckout();
  }

  /** Puts a program in front of the `PATH`. */
  program(name: string, body: string, interpreter = '/bin/sh'): void {
    writeFileSync(join(this.#own, name), `#!${interpreter}\n${body}\n`, { mode: 0o755 });
  }

  /**
   * Types a command and waits for its end.
   *
   * @returns Both streams, as a terminal shows them.
   * @throws Error for an exit code of something that went wrong.
   */
  async type(command: string, hand: Hand | null): Promise<string> {
    if (hand?.kind === 'edits') this.program('editor', editor(hand.changes), '/usr/bin/env node');
    const words = this.#words(command);
    if (words === null) return this.#elsewhere(command);
    return hand?.kind === 'kills' ? this.#killed(words, hand.during) : this.#here(words, hand);
  }

  /** @throws AssertionError when the user's folder is not as the user left it. */
  end(): void {
    this.#checkout?.assertUntouched();
  }

  /** `null` for what is more than one call of `devs`, or before it is installed. */
  #words(command: string): readonly string[] | null {
    const words = DEVS.exec(command)?.[1];
    if (words === undefined || !existsSync(join(this.#own, 'devs'))) return null;
    return (words.match(WORD) ?? []).map((word) => word.replace(/^'(.*)'$/, '$1'));
  }

  async #here(words: readonly string[], hand: Hand | null): Promise<string> {
    const isTTY = hand?.kind === 'says' || hand?.kind === 'edits';
    const person = new Typist(hand?.kind === 'says' ? hand.lines : []);
    const stop = new AbortController();
    let output = '';
    const sink = {
      isTTY,
      write: (text: string) => {
        output += text;
        if (isTTY && /: $/.test(text)) output += person.answer();
        if (hand?.kind === 'stops' && output.includes(hand.after)) stop.abort();
      },
    };
    const exitCode = await main(words, {
      stdin: Object.assign(person.typed(), { isTTY }),
      stdout: sink,
      stderr: sink,
      cwd: this.#cwd,
      env: { ...this.#env, EDITOR: join(this.#own, 'editor') },
      signal: stop.signal,
    });
    return wentWell(words.join(' '), { output: leftOnScreen(output), exitCode });
  }

  /** Killed with -9 while the checks run on a folder that holds a file of this name. */
  async #killed(words: readonly string[], during: string): Promise<string> {
    const hold = join(this.#own, 'hold');
    writeFileSync(hold, during);
    const child = spawn(execPath, [this.#places.bin, ...words], { cwd: this.#cwd, env: this.#env });
    const ended = outputOf(child);
    while (!existsSync(`${hold}.reached`)) {
      if (child.exitCode !== null) throw new Error(`ended before its checks: ${await ended}`);
      await sleep(10);
    }
    child.kill('SIGKILL');
    const output = await ended;
    rmSync(hold);
    return `${output}Killed\n`;
  }

  #elsewhere(command: string): string {
    const cwd = join(this.#own, 'cwd');
    const script = `exec 2>&1; trap 'pwd > "${cwd}"' EXIT\n${command}`;
    const env = { ...this.#env, EDITOR: join(this.#own, 'editor') };
    const run = () => spawnSync('sh', ['-c', script], { cwd: this.#cwd, env, encoding: 'utf8' });
    const { stdout, status } = this.#checkout === null ? run() : this.#checkout.change(run);
    this.#cwd = readFileSync(cwd, 'utf8').trimEnd();
    this.#noteCheckout();
    return wentWell(command, { output: stdout, exitCode: status });
  }

  #noteCheckout(): void {
    if (this.#cwd === this.#places.home || this.#cwd === this.#checkout?.root) return;
    this.#checkout?.assertUntouched();
    this.#checkout = UserCheckout.at(this.#cwd);
  }
}

const leftOnScreen = (output: string): string =>
  output
    .split('\n')
    .map((line) => line.split(ERASE_LINE).at(-1))
    .join('\n');

function wentWell(
  command: string,
  { output, exitCode }: { readonly output: string; readonly exitCode: number | null },
): string {
  if (exitCode === EXIT.ok || exitCode === EXIT.resumable) return output;
  throw new Error(`${command} ended with ${exitCode}:\n${output}`);
}

/** Types a line at each prompt. */
class Typist {
  readonly #left: string[];
  readonly #lines: string[] = [];

  constructor(lines: readonly string[]) {
    this.#left = [...lines];
  }

  /** What a terminal shows of it. */
  answer(): string {
    const line = this.#left.shift();
    if (line === undefined) return '';
    this.#lines.push(`${line}\n`);
    return `${line}\n`;
  }

  async *typed(): AsyncGenerator<string> {
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) yield line;
  }
}

/** Both streams in the order they were written. */
function outputOf(child: ChildProcess): Promise<string> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(output));
  });
}

const startsDevs = (bin: string): string => `exec '${execPath}' '${bin}' "$@"`;

/** `npm`, but that what it installs globally is in the sources already. */
const installs = (own: string): string => `case "$*" in
  'install --global @devs/cli') mv '${own}/devs.package' '${own}/devs' ;;
  'install --global langchain '*) ;;
  *) PATH="\${PATH#*:}" exec npm "$@" ;;
esac`;

/** `node`; where `hold` names a file of its folder it says so and does nothing until the file is gone. */
const gatedNode = (own: string): string => `hold='${own}/hold'
if [ -e "$hold" ] && [ -e "$(cat "$hold")" ]; then
  : > "$hold.reached"
  while [ -e "$hold" ]; do sleep 0.05; done
  exit 1
fi
PATH="\${PATH#*:}" exec node "$@"`;

const editor = (changes: readonly (readonly [string, string])[]): string => `
const { readFileSync, writeFileSync } = require('node:fs');
const file = process.argv.at(-1);
let text = readFileSync(file, 'utf8');
for (const [from, to] of ${JSON.stringify(changes)}) {
  if (!text.includes(from)) throw new Error('not in ' + file + ': ' + from);
  text = text.replaceAll(from, to);
}
writeFileSync(file, text);`;
