import { activeVisit } from '../../engine/node/activeVisit.ts';
import { type StepCall, step } from '../../engine/node/step.ts';
import type { CheckResult, Checks, Rescue, RunWorkspace, WorkResult } from '../ports.ts';

/** What a step that edits leaves in the state file: the tree's id, never the files. */
interface Edited {
  readonly tree: string;
  readonly summary: string;
}

/** Costs time on this machine, and no money. */
const WORK = { kind: 'work' } as const;

/**
 * The workspace as a chain of recorded git trees. Every step first puts the folder back to the tree the last one
 * recorded, so a process that dies in the middle of an edit leaves nothing behind for the next.
 */
export class RecordedTree {
  readonly #workspace: RunWorkspace;
  readonly #base: string;
  #tree: string;

  private constructor(workspace: RunWorkspace, tree: string) {
    this.#workspace = workspace;
    this.#base = tree;
    this.#tree = tree;
  }

  /**
   * The folder as this visit of the node found it: a person may have worked in it.
   *
   * @param name - Of the step that records it.
   */
  static async at(workspace: RunWorkspace, name = 'base'): Promise<RecordedTree> {
    return new RecordedTree(workspace, await step(name, () => workspace.snapshot(), WORK));
  }

  /** What the step before recorded, and nothing that came into the folder since. */
  static async left(workspace: RunWorkspace): Promise<RecordedTree> {
    const left = async (): Promise<string> => (await workspace.left?.()) ?? workspace.snapshot();
    return new RecordedTree(workspace, await step('base', left, WORK));
  }

  get id(): string {
    return this.#tree;
  }

  /** Applies what an agent proposes; returns its summary. */
  async change(name: string, propose: (call: StepCall) => Promise<WorkResult>): Promise<string> {
    const { tree, summary } = await step(name, async (call): Promise<Edited> => {
      await this.#restore();
      const { files, summary } = await propose(call);
      call.signal.throwIfAborted(); // an agent may not care; then the folder is another drive's by now
      await this.#workspace.apply(files);
      return { tree: await this.#workspace.snapshot(), summary };
    });
    this.#tree = tree;
    return summary;
  }

  /**
   * Asks an agent that looks and leaves no edits: what it changed in the folder is put back.
   *
   * @param ask - Begins with the folder as the recorded tree has it.
   */
  ask<T>(name: string, ask: (call: StepCall) => Promise<T>): Promise<T> {
    return step(name, async (call) => {
      await this.#restore();
      try {
        return await ask(call);
      } finally {
        // After a stop the folder may be another drive's, which begins with its own restore.
        if (!call.signal.aborted) await this.#restore();
      }
    });
  }

  /** Whether this visit began with what a person made, untouched by agents. */
  async beganAdopted(): Promise<boolean> {
    const ask = async (): Promise<boolean> => (await this.#workspace.isAdopted?.(this.#base)) ?? false;
    return step('adopted', ask, WORK);
  }

  /** Runs the project's checks on the recorded tree. */
  check(name: string, checks: Checks): Promise<CheckResult> {
    const run = async ({ signal }: StepCall): Promise<CheckResult> => {
      await this.#restore();
      const { dir } = this.#workspace;
      const failure = (await this.#workspace.ready?.(this.#tree, signal)) ?? null;
      const result = failure ?? (await checks.run({ dir, signal }));
      await this.#workspace.discard?.(this.#tree);
      return result;
    };
    return step(name, run, WORK);
  }

  async #restore(): Promise<void> {
    const rescue = await this.#workspace.restore(this.#tree);
    if (rescue !== null) tellRescue(rescue);
  }
}

function tellRescue({ ref, commit, files }: Rescue): void {
  const { store, events, visit, taskId } = activeVisit('a task');
  const scope = { threadId: visit.threadId, taskId };
  const payload = { ref, commit, files };
  if (store === null) events.emit('WORKSPACE_RESCUED', payload, scope);
  else store.transact(events, (emit) => emit('WORKSPACE_RESCUED', payload, scope));
}
