import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What one command was started with. */
export interface Start {
  readonly program: string;
  /** Its arguments, and `NAME=value` of its environment, with a NUL after each. */
  readonly given: string;
}

/** Programs that write down what they were started with, and then are the real ones. */
export class Spy {
  /** Holds the programs: for the `PATH`. */
  readonly bin: string;
  readonly #log: string;

  constructor(dir: string) {
    this.bin = join(dir, 'bin');
    this.#log = join(dir, 'log');
    for (const folder of [this.bin, this.#log]) mkdirSync(folder);
  }

  /**
   * Puts a program in front of one.
   *
   * @param command - What it goes on with, before its own arguments; a line of `sh`.
   * @returns its path.
   */
  on(program: string, command: string): string {
    const file = join(this.bin, program);
    // /proc holds what it was started with: a shell leaves out names that it cannot set.
    const copy = `cat /proc/$$/cmdline /proc/$$/environ > '${this.#log}/${program}-'$$`;
    const lines = ['#!/bin/sh', copy, `exec ${command} "$@"`];
    writeFileSync(file, `${lines.join('\n')}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  get starts(): readonly Start[] {
    return readdirSync(this.#log).map((name) => ({
      program: name.slice(0, name.lastIndexOf('-')),
      given: readFileSync(join(this.#log, name), 'utf8'),
    }));
  }
}
