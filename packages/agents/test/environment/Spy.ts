import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What one command was started with. */
export interface Start {
  readonly program: string;
  readonly argv: readonly string[];
  /** `NAME=value`. */
  readonly env: readonly string[];
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
    const copy = (part: string): string => `cat /proc/$$/${part} > '${this.#log}/${program}-'$$.${part}`;
    const lines = ['#!/bin/sh', copy('cmdline'), copy('environ'), `exec ${command} "$@"`];
    writeFileSync(file, `${lines.join('\n')}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  get starts(): readonly Start[] {
    return readdirSync(this.#log)
      .filter((name) => name.endsWith('.environ'))
      .map((name) => ({
        program: name.slice(0, name.lastIndexOf('-')),
        argv: this.#parts(name.replace('.environ', '.cmdline')),
        env: this.#parts(name),
      }));
  }

  #parts(name: string): readonly string[] {
    return readFileSync(join(this.#log, name), 'utf8').split('\0').filter(Boolean);
  }
}
