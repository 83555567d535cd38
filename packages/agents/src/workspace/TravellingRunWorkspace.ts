import type { WorkspacePort } from '@devs/core/internal';
import { GitRunWorkspace, type GitRunWorkspaceOptions } from './GitRunWorkspace.ts';
import type { GitTravel } from './GitTravel.ts';

/** A folder and its store whose objects are in the run's record before anybody is told their ids. */
export class TravellingRunWorkspace extends GitRunWorkspace {
  readonly #travel: GitTravel;
  #left: string | null = null;

  constructor({ travel, ...options }: GitRunWorkspaceOptions & { readonly travel: GitTravel }) {
    super(options);
    this.#travel = travel;
  }

  /** Records the folder and the store as they are. */
  async depart(): Promise<void> {
    await this.#departed(await super.left(), true);
  }

  override async snapshot(): Promise<string> {
    const tree = await super.snapshot();
    await this.#departed(tree, false);
    return tree;
  }

  override async restore(tree: string): Promise<WorkspacePort.Rescue | null> {
    const rescue = await super.restore(tree);
    await this.#departed(tree, rescue !== null);
    return rescue;
  }

  override async overlay(base: string, from: string, paths: readonly string[]): Promise<string> {
    const tree = await super.overlay(base, from, paths);
    await this.#travel.depart({ ids: [tree], left: this.#left, hasMovedRefs: false });
    return tree;
  }

  override async commit(request: WorkspacePort.CommitRequest): Promise<string> {
    const commit = await super.commit(request);
    await this.#travel.depart({ left: this.#left, hasMovedRefs: true });
    return commit;
  }

  override async adopt(request: WorkspacePort.AdoptRequest): Promise<WorkspacePort.AdoptedTree | null> {
    const adopted = await super.adopt(request);
    await this.depart();
    return adopted;
  }

  override async sync(recorded?: readonly string[]): Promise<WorkspacePort.Synced | null> {
    const synced = await super.sync(recorded);
    await this.depart();
    return synced;
  }

  override async withdraw(request: WorkspacePort.WithdrawRequest): Promise<WorkspacePort.BranchMove> {
    return this.#computed(await super.withdraw(request));
  }

  override async reinstate(request: WorkspacePort.ReinstateRequest): Promise<WorkspacePort.BranchMove> {
    return this.#computed(await super.reinstate(request));
  }

  override async follow(move: WorkspacePort.BranchMove): Promise<WorkspacePort.Rescue | null> {
    const rescue = await super.follow(move);
    await this.depart();
    return rescue;
  }

  /** What is given to the user's repository can be lost no more. */
  override async deliver(): Promise<WorkspacePort.Delivery | null> {
    await this.#travel.arrived();
    const delivery = await super.deliver();
    await this.#travel.depart({ left: this.#left, hasMovedRefs: true });
    return delivery;
  }

  async #computed(move: WorkspacePort.BranchMove): Promise<WorkspacePort.BranchMove> {
    const ids = [move.from, move.to, move.folder].filter((id) => id !== null);
    await this.#travel.depart({ ids, left: this.#left, hasMovedRefs: false });
    return move;
  }

  async #departed(tree: string, hasMovedRefs: boolean): Promise<void> {
    this.#left = tree;
    await this.#travel.depart({ left: tree, hasMovedRefs });
  }
}
