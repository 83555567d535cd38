import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a way out is told, and what may not change outside. */
export interface Facts {
  readonly project: string;
  readonly home: string;
  readonly marker: string;
  readonly secret: string;
  readonly secretFile: string;
  readonly victim: string;
  readonly victimPid: number;
  readonly port: number;
  readonly socket: string;
  readonly abstract: string;
  readonly daemon: string;
  /** Name of folders outside of everything, where this user can make them: root can. */
  readonly elsewhere: string;
}

/** Where machines keep what is nobody's home. */
const PLACES = ['/srv', '/var/lib', '/opt'] as const;

/** A project, a home and other programs around a sandbox: what a command in it may not reach. */
export class Stage {
  readonly facts: Facts;
  readonly workspace: string;
  readonly #base: string;
  readonly #victim: ChildProcess;
  readonly #servers: readonly Server[];

  private constructor(facts: Facts, base: string, victim: ChildProcess, servers: readonly Server[]) {
    this.facts = facts;
    this.workspace = join(facts.project, '.devs-work', 'victim');
    this.#base = base;
    this.#victim = victim;
    this.#servers = servers;
  }

  static async build(): Promise<Stage> {
    const base = mkdtempSync(join(tmpdir(), 'devs-rig-'));
    const unique = base.slice(-6);
    const [project, home] = [join(base, 'project'), join(base, 'home')];
    write(join(project, '.devs', 'state.sqlite'), 'state');
    write(join(project, '.devs', 'git', 'victim.git', 'HEAD'), 'ref: refs/heads/main');
    write(join(project, '.devs-work', 'other', 'a.txt'), 'other');
    mkdirSync(join(project, '.devs-work', 'victim'));
    write(join(project, '.env'), 'KEY=1');
    write(join(home, '.ssh', 'id_rsa'), 'key');
    const secretFile = join(tmpdir(), `devs-rig-secret-${unique}`);
    write(secretFile, 'secret');
    const victim = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', `victim-${unique}`], {
      stdio: 'ignore',
    });
    const [tcp, unix, abstract, service] = [createServer(), createServer(), createServer(), createServer()];
    const elsewhere = `devs-rig-${unique}`;
    for (const folder of PLACES) tryToWrite(join(folder, elsewhere, 'data'));
    tryToWrite(join('/srv', elsewhere, '.devs', 'state.sqlite'));
    await listen(service, join('/run', `${elsewhere}.sock`)).catch(() => undefined);
    const socket = join(base, 'socket');
    await Promise.all([listen(tcp, 0), listen(unix, socket), listen(abstract, `\0devs-rig-${unique}`)]);
    const facts: Facts = {
      ...{ project, home, socket, secretFile, marker: `devs-left-${unique}`, secret: `rig-secret-${unique}` },
      ...{ victim: `victim-${unique}`, victimPid: victim.pid ?? 0, daemon: `daemon-${unique}` },
      ...{ port: portOf(tcp), abstract: `devs-rig-${unique}`, elsewhere },
    };
    return new Stage(facts, base, victim, [tcp, unix, abstract, service]);
  }

  /** What changed outside; empty when nothing did. */
  async damage(): Promise<readonly string[]> {
    const { project, home, marker, daemon } = this.facts;
    const places = [project, join(project, '.devs'), home, '/etc', '/usr/bin', '/tmp', '/dev/shm'];
    const files = places.map((place) => join(place, marker)).filter((file) => existsSync(file));
    await sleep(50);
    return [
      ...files,
      ...(this.#victim.exitCode === null && this.#victim.signalCode === null ? [] : ['a process outside']),
      ...(running(daemon) ? ['a process that was left'] : []),
    ];
  }

  tearDown(): void {
    this.#victim.kill('SIGKILL');
    for (const server of this.#servers) server.close();
    for (const folder of PLACES) {
      rmSync(join(folder, this.facts.elsewhere), { recursive: true, force: true });
    }
    rmSync(this.facts.secretFile, { force: true });
    rmSync(this.#base, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Whether a process with this word in its command line runs; a zombie has none. */
export function running(word: string): boolean {
  return readdirSync('/proc').some((id) => {
    try {
      return /^\d+$/.test(id) && readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(word);
    } catch {
      return false;
    }
  });
}

function write(file: string, content: string): void {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, content);
}

function tryToWrite(file: string): void {
  try {
    write(file, 'data');
  } catch {
    // Not root: that this cannot be reached is then not shown here.
  }
}

const listen = (server: Server, where: number | string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    if (typeof where === 'number') server.listen(where, '127.0.0.1', resolve);
    else server.listen(where, resolve);
  });

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
