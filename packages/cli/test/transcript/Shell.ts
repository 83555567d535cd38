import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Stabiliser } from './Stabiliser.ts';

/** A text in the editor: what is searched, what takes its place. */
export type Change = readonly [from: string, to: string];

export interface Typed {
  readonly exitCode: number | null;
  readonly text: string;
}

/**
 * The shell of a user: each command is a process of its own, with the real `devs` in its `PATH`. What was typed and
 * what came back is kept, scene by scene.
 */
export class Shell {
  /** The text of each scene, as its block in the documentation. */
  readonly scenes: string[] = [];
  readonly #cwd: string;
  readonly #bin: string;
  readonly #stabiliser: Stabiliser;
  #day = '';

  /**
   * @param home - A fresh folder, `~` in the scenes.
   * @param cwd - Where commands are typed.
   * @param devs - The bundled command.
   */
  constructor(home: string, cwd: string, devs: string) {
    this.#cwd = cwd;
    this.#bin = join(home, '.bin');
    this.#stabiliser = new Stabiliser(home);
    mkdirSync(this.#bin);
    this.#program('devs', `exec '${execPath}' \${TERMINAL:+--import "$TERMINAL"} '${devs}' "$@"`);
    this.#program('node', gatedNode(this.#bin));
    writeFileSync(join(this.#bin, 'terminal.mjs'), TERMINAL);
  }

  /** What follows happens on another day. */
  scene(day: string): void {
    this.#day = day;
    this.scenes.push('');
  }

  /** Types a command and waits for its end. */
  async type(command: string, more: NodeJS.ProcessEnv = {}): Promise<Typed> {
    const { output, exitCode } = await this.#start(command, more).ended;
    return { text: this.record(command, output), exitCode };
  }

  /** Types a command that asks a question at the terminal, and then the answer. */
  async answer(command: string, question: string, answer: string): Promise<Typed> {
    const { child, ended } = this.#start(command, { TERMINAL: join(this.#bin, 'terminal.mjs') }, 'pipe');
    child.stdin?.end(`${answer}\n`);
    const { output, exitCode } = await ended;
    // A terminal shows what is typed.
    return { text: this.record(command, output.replace(question, `${question}${answer}\n`)), exitCode };
  }

  /** Types a command that opens an editor, which finds each of the texts and changes it. */
  async edit(command: string, ...changes: readonly Change[]): Promise<Typed> {
    this.#program('editor', editor(changes), '/usr/bin/env node');
    const EDITOR = join(this.#bin, 'editor');
    return this.type(command, { EDITOR, TERMINAL: join(this.#bin, 'terminal.mjs') });
  }

  /** Types a command and kills it with -9 while the checks run on a folder that holds a file of this name. */
  async killDuringChecksOf(file: string, command: string): Promise<Typed> {
    const hold = join(this.#bin, 'hold');
    writeFileSync(hold, file);
    const { child, ended } = this.#start(command, {});
    while (!existsSync(`${hold}.reached`)) {
      if (child.exitCode !== null) throw new Error(`ended before its checks: ${(await ended).output}`);
      await sleep(10);
    }
    child.kill('SIGKILL');
    const { output, exitCode } = await ended;
    rmSync(hold);
    return { text: this.record(command, `${output}Killed\n`), exitCode };
  }

  /** Keeps a command and what it printed. */
  record(command: string, output: string): string {
    const text = this.#stabiliser.stable(output, this.#day);
    const before = this.scenes.pop() ?? '';
    this.scenes.push(`${before}${before === '' ? '' : '\n'}$ ${command}\n${text}`);
    return text;
  }

  /** `exec`: the process that is killed is the command, not a shell around it. */
  #start(command: string, more: NodeJS.ProcessEnv, stdin: 'ignore' | 'pipe' = 'ignore') {
    const path = [this.#bin, dirname(execPath), env['PATH']].join(delimiter);
    const child = spawn('sh', ['-c', `exec ${command}`], {
      cwd: this.#cwd,
      env: { PATH: path, HOME: this.#bin, LC_ALL: 'C', NO_COLOR: '1', ...more },
      stdio: [stdin, 'pipe', 'pipe'],
    });
    return { child, ended: outputOf(child) };
  }

  #program(name: string, body: string, interpreter = '/bin/sh'): void {
    writeFileSync(join(this.#bin, name), `#!${interpreter}\n${body}\n`, { mode: 0o755 });
  }
}

/** Both streams in the order they were written, as a terminal shows them. */
function outputOf(
  child: ChildProcess,
): Promise<{ readonly output: string; readonly exitCode: number | null }> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ output, exitCode }));
  });
}

/** `node`; where `hold` names a file of its folder it says so and does nothing until the file is gone. */
const gatedNode = (bin: string): string => `hold='${bin}/hold'
if [ -e "$hold" ] && [ -e "$(cat "$hold")" ]; then
  : > "$hold.reached"
  while [ -e "$hold" ]; do sleep 0.05; done
  exit 1
fi
PATH="\${PATH#*:}" exec node "$@"`;

const editor = (changes: readonly Change[]): string => `
const { readFileSync, writeFileSync } = require('node:fs');
const file = process.argv.at(-1);
let text = readFileSync(file, 'utf8');
for (const [from, to] of ${JSON.stringify(changes)}) {
  if (!text.includes(from)) throw new Error('not in ' + file + ': ' + from);
  text = text.replaceAll(from, to);
}
writeFileSync(file, text);`;

/** Standard input and output are pipes; the command is told that a person sits there. */
const TERMINAL = `for (const stream of [process.stdin, process.stdout]) Object.defineProperty(stream, 'isTTY', { value: true });
`;
