import { type StepCall, step } from '../../engine/node/step.ts';
import type { Instructions, ResearchRequest, RunWorkspace } from '../ports.ts';
import type { GraphState } from '../types.ts';
import { instructionsFor } from './instructions.ts';
import { openWorkspace } from './openWorkspace.ts';
import type { PipelineDeps } from './pipelineDeps.ts';
import { RecordedTree } from './RecordedTree.ts';

/** Names listed of what changed, before it says how many more there are. */
const MAX_NAMED = 20;

/** The repository as a stage sees it that proposes and edits nothing: opened and set up before its first call. */
export class StageView {
  readonly #workspace: RunWorkspace;
  readonly #tree: RecordedTree;
  readonly #instructions: readonly Instructions[];

  private constructor(workspace: RunWorkspace, tree: RecordedTree, instructions: readonly Instructions[]) {
    this.#workspace = workspace;
    this.#tree = tree;
    this.#instructions = instructions;
  }

  /** @param touched - Paths whose instructions count, besides the root's. */
  static async open(
    state: GraphState,
    deps: PipelineDeps,
    touched: readonly string[] = [],
  ): Promise<StageView> {
    const workspace = await openWorkspace(state, deps);
    const tree = await RecordedTree.at(workspace, 'look');
    return new StageView(workspace, tree, await instructionsFor(workspace, touched));
  }

  /** Id of the git tree that is looked at. */
  get tree(): string {
    return this.#tree.id;
  }

  /** What a request says of the repository. */
  get seen(): Required<Pick<ResearchRequest, 'workspace' | 'instructions'>> {
    return { workspace: this.#workspace, instructions: this.#instructions };
  }

  /** A durable call of an agent; what it leaves in the folder is put back. */
  ask<T>(name: string, call: (call: StepCall) => Promise<T>): Promise<T> {
    return this.#tree.ask(name, call);
  }

  /** Which of the files something names, as `find` tells from the list of those there are. Recorded. */
  lookUp(name: string, find: (files: readonly string[]) => readonly string[]): Promise<readonly string[]> {
    return step(name, async () => find(await this.#workspace.list()), { kind: 'work' });
  }

  /** What differs from an earlier tree, in one line; `null` for nothing, or where it is not known. */
  async changesSince(earlier: string | undefined): Promise<string | null> {
    if (earlier === undefined || earlier === this.tree || this.#workspace.compare === undefined) return null;
    const { files } = await this.#workspace.compare(earlier, this.tree, 0);
    const more = files.length - MAX_NAMED;
    const names = files.slice(0, MAX_NAMED).map(({ path }) => path);
    return `Changed in the repository: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
  }
}
