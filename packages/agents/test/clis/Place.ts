import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { ACP_PROGRAMS } from '../../src/acp/AcpProgram.ts';
import { RECIPES } from '../../src/command/CommandRecipe.ts';
import { CliModelServer } from './CliModelServer.ts';
import type { CodingCli } from './codingClis.ts';
import { sumModel } from './sumTask.ts';

const KEY = 'local-key-0123456789';

/** A CLI with a project, a home and a server of its own; this process's environment is its user's until it is left. */
export class Place {
  readonly cli: CodingCli;
  readonly server: CliModelServer;
  readonly base: string;
  readonly #before = { ...process.env };

  private constructor(cli: CodingCli, server: CliModelServer, base: string) {
    this.cli = cli;
    this.server = server;
    this.base = base;
  }

  /** @param bin - The folder of its program. */
  static async enter(cli: CodingCli, bin: string): Promise<Place> {
    const { protocol, editor } = cli;
    const server = await CliModelServer.start({ protocol, model: sumModel(editor), key: KEY });
    const place = new Place(cli, server, mkdtempSync(join(tmpdir(), 'devs-clis-')));
    for (const dir of [place.project, place.home, place.temporary]) mkdirSync(dir);
    place.#setUp(bin);
    return place;
  }

  get project(): string {
    return join(this.base, 'project');
  }

  get home(): string {
    return join(this.base, 'home');
  }

  /** Where the folders of its processes are: a process that is left is found by it. */
  get temporary(): string {
    return join(this.base, 'tmp');
  }

  async leave(): Promise<void> {
    for (const name of Object.keys(process.env)) if (!(name in this.#before)) delete process.env[name];
    Object.assign(process.env, this.#before);
    await this.server.stop();
    rmSync(this.base, { recursive: true, force: true, maxRetries: 3 });
  }

  #setUp(bin: string): void {
    const { name, key, env, home } = this.cli;
    const { url } = this.server;
    for (const [path, content] of Object.entries(home(url))) {
      mkdirSync(dirname(join(this.home, path)), { recursive: true });
      writeFileSync(join(this.home, path), content);
    }
    // Keys of whoever runs the rig stay out of it.
    for (const own of { ...RECIPES, ...ACP_PROGRAMS }[name].env) delete process.env[own];
    Object.assign(process.env, env(url), {
      [key]: KEY,
      HOME: this.home,
      TMPDIR: this.temporary,
      PATH: `${bin}${delimiter}${process.env['PATH']}`,
      HTTPS_PROXY: url,
      HTTP_PROXY: url,
      NO_PROXY: '127.0.0.1',
    });
  }
}
