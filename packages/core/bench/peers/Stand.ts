import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { count, type Entry, parseAccount } from './counting.ts';
import { type Installed, STACKS } from './installing.ts';
import { type Service, startService } from './services.ts';

const LIMIT_MS = 60_000;

export interface ClientOptions {
  /** @defaultValue the flow's name */
  readonly run?: string;
  /** The point at which it kills itself. @defaultValue none */
  readonly dieAt?: string;
  readonly life?: number;
  /** Answers are tied to what was read, where the stack's flow has a form for it. */
  readonly bound?: boolean;
  /** Milliseconds until a paid call is answered. @defaultValue 20 */
  readonly callMs?: number;
}

export interface Client {
  readonly child: ChildProcess;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

export type Scenario<T> = (stand: Stand) => Promise<T>;

/** One scenario's folder, server and processes, and the account of what happened in it. */
export class Stand {
  readonly folder: string;
  readonly service: Service;
  readonly #installed: Installed;
  readonly #clients = new Set<ChildProcess>();

  private constructor(installed: Installed, folder: string, service: Service) {
    this.#installed = installed;
    this.folder = folder;
    this.service = service;
  }

  /** Sets a stand up, plays the scenario on it, and takes everything down again, also if it fails. */
  static async play<T>(installed: Installed, scenario: Scenario<T>): Promise<T> {
    const folder = mkdtempSync(join(tmpdir(), 'devs-peers-'));
    // The database server runs as another user.
    chmodSync(folder, 0o711);
    try {
      const service = await startService(STACKS[installed.name].service, folder, installed.folder);
      return await new Stand(installed, folder, service).#play(scenario);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async #play<T>(scenario: Scenario<T>): Promise<T> {
    try {
      return await scenario(this);
    } finally {
      await this.#end();
    }
  }

  client(act: string, flow: string, options: ClientOptions = {}): Client {
    const { run = flow, dieAt = '', life = 0, bound = false, callMs = 20 } = options;
    const env = {
      ...process.env,
      ...this.service.env,
      NODE_NO_WARNINGS: '1',
      PEERS_FOLDER: this.folder,
      PEERS_DIE_AT: dieAt,
      PEERS_LIFE: `${life}`,
      PEERS_BOUND: bound ? '1' : '0',
      PEERS_CALL_MS: `${callMs}`,
    };
    const { folder: cwd, node, program } = this.#installed;
    const child = spawn(node, [program, act, flow, run], {
      cwd,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.#clients.add(child);
    const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => {
        this.#clients.delete(child);
        resolve(signal ?? code);
      });
    });
    return { child, ended };
  }

  /** @throws Error if the process ends otherwise, or not within a minute. */
  async expectEnd({ ended }: Client, expected: number | NodeJS.Signals): Promise<void> {
    const end = await Promise.race([ended, sleep(LIMIT_MS, 'no end', { ref: false })]);
    if (end !== expected) throw this.#failure(`a client ended with ${end} instead of ${expected}`);
  }

  entries(): readonly Entry[] {
    const file = join(this.folder, 'account.txt');
    return existsSync(file) ? parseAccount(readFileSync(file, 'utf8')) : [];
  }

  /** @throws Error if the account does not have `times` such entries within a minute. */
  async waitFor(what: string, times = 1): Promise<void> {
    for (const end = Date.now() + LIMIT_MS; Date.now() < end; await sleep(5)) {
      if (count(this.entries(), what) >= times) return;
    }
    throw this.#failure(`waited for ${times} × "${what}"`);
  }

  /** Ids of the processes that are there now: servers, workers, and what they started. */
  processes(): readonly number[] {
    const roots = [this.service.pid ?? undefined, ...[...this.#clients].map(({ pid }) => pid)];
    return roots.filter((pid) => pid !== undefined).flatMap(withChildren);
  }

  #failure(what: string): Error {
    const seen = this.entries().map((entry) => entry.what);
    return new Error(`${this.#installed.name}: ${what}; the account has: ${seen.join(' · ')}`);
  }

  async #end(): Promise<void> {
    for (const child of this.#clients) child.kill('SIGKILL');
    while (this.#clients.size > 0) await sleep(5);
    await this.service.stop();
  }
}

function withChildren(pid: number): readonly number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(file)) return [];
  const children = readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(withChildren)];
}
