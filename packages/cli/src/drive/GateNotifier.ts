import { spawn } from 'node:child_process';
import { type Gate, shownGate } from '@devs/core';
import { splitCommand } from '../flags/commandWords.ts';
import type { Session } from '../project/Session.ts';
import { maskedJson } from '../terminal/Output.ts';

/** A command that takes longer is stopped, so that it cannot hold up the end of a run. */
const TIME_LIMIT_MS = 10_000;

export const NOTIFY_HELP =
  'command to run for every gate that opens, with the gate as JSON on stdin; no shell';

/** Runs a command of the user's for every gate that opens. What goes wrong there is a note, never the run's concern. */
export class GateNotifier {
  readonly #argv: readonly string[];
  readonly #session: Session;
  readonly #timeLimitMs: number;
  readonly #running = new Set<Promise<void>>();

  /** @throws DevsError `CONFIG_INVALID` when `command` is none. */
  constructor(command: string, session: Session, timeLimitMs: number = TIME_LIMIT_MS) {
    this.#argv = splitCommand(command, 'notification');
    this.#session = session;
    this.#timeLimitMs = timeLimitMs;
  }

  /** Runs the command with the gate as JSON on its stdin, as gates are shown, and how to read it. */
  readonly onGate = (gate: Gate): void => {
    const show = this.#session.devs('show', gate.sessionId.slice(0, 8));
    const running = this.#run(
      `${maskedJson({ threadId: gate.threadId, run: gate.threadId, gate: shownGate(gate), show })}\n`,
    ).then((problem) => {
      if (problem !== null) this.#session.out.note(`the --notify command ${problem}`);
      this.#running.delete(running);
    });
    this.#running.add(running);
  };

  /** Resolves when no command runs any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** What went wrong, or `null`. */
  #run(input: string): Promise<string | null> {
    const { env, cwd } = this.#session.io;
    const [program = '', ...args] = this.#argv;
    return new Promise((resolve) => {
      const child = spawn(program, args, {
        cwd,
        env: { ...env },
        stdio: ['pipe', 'ignore', 'ignore'],
        timeout: this.#timeLimitMs,
        killSignal: 'SIGKILL',
      });
      child.on('error', (error) => resolve(`failed to start: ${error.message}`));
      child.on('close', (code, signal) => resolve(code === 0 ? null : `ended with ${code ?? signal}`));
      // A command that does not read its input has not failed.
      child.stdin.on('error', () => {});
      child.stdin.end(input);
    });
  }
}
