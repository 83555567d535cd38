import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoggedCall, ModelServerOptions } from './modelProtocol.ts';

/** The harness's handle on a model server process. It ends with the harness. */
export class ModelServer {
  readonly #process: ChildProcess;
  readonly #port: number;
  readonly #logs: string;

  private constructor(process: ChildProcess, port: number, logs: string) {
    this.#process = process;
    this.#port = port;
    this.#logs = logs;
  }

  static async start(program: string, options: ModelServerOptions): Promise<ModelServer> {
    const child = fork(program, [JSON.stringify(options)], { execArgv: [] });
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return new ModelServer(child, port, options.logs);
  }

  urlOf(run: number): string {
    return `http://127.0.0.1:${this.#port}/${run}`;
  }

  /** Returns when everything that dead processes had sent is in the log. */
  async settled(): Promise<void> {
    const idle = once(this.#process, 'message');
    this.#process.send('idle?');
    await idle;
  }

  /** The keys of a run's calls, in the order they were asked. */
  keysOf(run: number): readonly string[] {
    const log = join(this.#logs, `${run}.log`);
    if (!existsSync(log)) return [];
    const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => (JSON.parse(line) as LoggedCall).key);
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill();
    await ended;
  }
}
