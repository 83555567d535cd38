import type { StepCall } from '../../engine/node/step.ts';
import { formatBaseline } from '../checks/CheckSummary.ts';
import type { Instructions, ResearchRequest, RunWorkspace } from '../ports.ts';
import type { GraphState } from '../types.ts';
import { instructionsFor } from './instructions.ts';
import { openWorkspace, type WorkspacePorts } from './openWorkspace.ts';
import { RecordedTree } from './RecordedTree.ts';
import { scrubbedStep } from './scrubbedStep.ts';

/** Most names of changed files in one line; the rest is a number. */
const MAX_NAMED = 20;

/** The repository as a stage sees it that proposes and edits nothing: opened and set up before its first call. */
export class StageView {
  readonly #workspace: RunWorkspace;
  readonly #tree: RecordedTree;
  readonly #instructions: readonly Instructions[];

  readonly #checks: string | null;

  private constructor(
    workspace: RunWorkspace,
    tree: RecordedTree,
    told: { readonly instructions: readonly Instructions[]; readonly checks: string | null },
  ) {
    this.#workspace = workspace;
    this.#tree = tree;
    this.#instructions = told.instructions;
    this.#checks = told.checks;
  }

  /** @param touched - Paths whose instructions count, besides the root's. */
  static async open(
    state: GraphState,
    ports: WorkspacePorts,
    touched: readonly string[] = [],
  ): Promise<StageView> {
    const workspace = await openWorkspace(state, ports);
    const tree = await RecordedTree.at(workspace, 'look');
    const instructions = await instructionsFor(workspace, touched);
    const { baseline } = state.projectConfig;
    return new StageView(workspace, tree, {
      instructions,
      checks: baseline === undefined ? null : formatBaseline(baseline),
    });
  }

  /** Id of the git tree that is looked at. */
  get tree(): string {
    return this.#tree.id;
  }

  /** The members of a request about the repository, and about the checks before any work. */
  get seen(): Pick<ResearchRequest, 'workspace' | 'instructions' | 'checks'> {
    const checks = this.#checks;
    return {
      workspace: this.#workspace,
      instructions: this.#instructions,
      ...(checks !== null && { checks }),
    };
  }

  /** A durable call of an agent; what it leaves in the folder is put back. */
  ask<T>(name: string, call: (call: StepCall) => Promise<T>): Promise<T> {
    return this.#tree.ask(name, call);
  }

  /** Which of the files something names, as `find` tells from the list of those there are. Recorded. */
  lookUp(name: string, find: (files: readonly string[]) => readonly string[]): Promise<readonly string[]> {
    return scrubbedStep(name, async () => find(await this.#workspace.list()), { kind: 'work' });
  }

  /** The changes since an earlier tree, in one line; `null` without changes, or if they are unknown. */
  async changesSince(earlier: string | undefined): Promise<string | null> {
    if (earlier === undefined || earlier === this.tree || this.#workspace.compare === undefined) return null;
    const { files } = await this.#workspace.compare(earlier, this.tree, 0);
    const more = files.length - MAX_NAMED;
    const names = files.slice(0, MAX_NAMED).map(({ path }) => path);
    return `Changed in the repository: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
  }
}
