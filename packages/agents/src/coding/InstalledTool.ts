import { cp, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { DevsError } from '@devs/core';
import { commandEnvironment } from '../process/commandEnvironment.ts';
import { findProgram, type Program } from '../process/findProgram.ts';
import { withNetworkWay } from '../process/networkSettings.ts';
import type { Scratch } from '../process/scratch.ts';
import type { CodingLimits, CodingProgram } from './CodingTool.ts';

/** How a program is started, once its folders are there. */
export interface Launch {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A coding CLI that is on this machine. */
export class InstalledTool<Tool extends CodingProgram> {
  readonly tool: Tool;
  readonly limits: CodingLimits;
  readonly #program: Program;

  private constructor(tool: Tool, limits: CodingLimits, program: Program) {
    this.tool = tool;
    this.limits = limits;
    this.#program = program;
  }

  /** @throws DevsError `CONFIG_INVALID` with what installs it, when it is not there. */
  static async find<Tool extends CodingProgram>(
    tool: Tool,
    limits: CodingLimits,
  ): Promise<InstalledTool<Tool>> {
    const [name] = tool.argv;
    if (name === undefined || name === '') throw new TypeError('argv must name a command.');
    const program = await findProgram(name);
    if (program !== null) return new InstalledTool(tool, limits, program);
    const how = tool.install === undefined ? '' : ` with \`${tool.install}\``;
    throw new DevsError(`The command ${JSON.stringify(name)} of ${tool.name} was not found.`, {
      code: 'CONFIG_INVALID',
      remedy: `Install it${how}, or put its folder on the PATH.`,
    });
  }

  get isConfined(): boolean {
    return this.limits.sandbox !== null;
  }

  /**
   * An environment and a home of its own, with the copied login.
   *
   * @param dir - Where it works; `null` makes it an empty folder.
   */
  async launch(dir: string | null, args: readonly string[], scratch: Scratch): Promise<Launch> {
    const { env: names = [], variables, home = [], network = true } = this.tool;
    const { file, folder } = this.#program;
    const cwd = dir ?? join(scratch.dir, 'work');
    await Promise.all([mkdir(cwd, { recursive: true }), copyLogin(scratch.home, home)]);
    const place = { workspace: cwd, dir: cwd, scratch: scratch.dir, network, readable: [folder, file] };
    const way = network ? await withNetworkWay(scratch) : {};
    return {
      argv: [...(this.limits.sandbox?.prefix(place) ?? []), file, ...args],
      cwd,
      env: commandEnvironment(scratch, { names, variables: { ...way, ...variables } }),
    };
  }
}

/**
 * Brings how a tool is logged in into a home of its own. Copies: it may write to them, and yours stay as they are.
 *
 * @param paths - Below your home; a missing one is none.
 */
async function copyLogin(home: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const target = join(home, path);
    await mkdir(dirname(target), { recursive: true });
    await cp(join(homedir(), path), target, { recursive: true }).catch(ignoreMissing);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
