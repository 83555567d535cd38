import type { Principal } from '@devs/core';
import type { RunInfo } from '@devs/core/langgraph';
import { ApiError, notFound } from '../http/ApiError.ts';

/** The action of a request, in the words of LangGraph's auth events. */
export type Action =
  | ('assistants:read' | 'assistants:search')
  | ('threads:create' | 'threads:read' | 'threads:search' | 'threads:update' | 'threads:delete')
  /** Gives a thread an input. */
  | 'threads:create_run'
  /** Answers a question. */
  | 'threads:decide'
  | ('store:get' | 'store:put' | 'store:delete' | 'store:search' | 'store:list_namespaces');

/** Fields of a run that only the server writes. `by` is its author, such as `human:ada`. */
export type OwnerFields = NonNullable<RunInfo['owner']>;

/** A run with its owner, which is empty for a run that a program started. */
export type OwnedRun = RunInfo & { readonly owner: OwnerFields };

/**
 * Whether a principal may do something. `{ owner }` allows it for runs with these fields; a new run gets them.
 */
export type Verdict = boolean | { readonly owner: OwnerFields };

/** The subject of an action. */
export interface ActedOn {
  /** The namespace of a store, or its prefix. */
  readonly namespace?: readonly string[];
  readonly assistant?: string;
}

/**
 * Decides about an action of a principal. Called for every request, and for every run in a list.
 *
 * @param run - `null` for a new thread, a list as a whole, assistants, and the store.
 */
export type Authorize = (
  principal: Principal,
  action: Action,
  run: OwnedRun | null,
  on: ActedOn,
) => Verdict | Promise<Verdict>;

/** One principal, and its rights. */
export class Access {
  readonly principal: Principal;
  readonly #authorize: Authorize;

  constructor(principal: Principal, authorize: Authorize) {
    this.principal = principal;
    this.#authorize = authorize;
  }

  /** Such as `human:ada`. */
  get name(): string {
    return `${this.principal.kind}:${this.principal.id}`;
  }

  async may(action: Action, run: RunInfo, on: ActedOn = {}): Promise<boolean> {
    const owner = run.owner ?? {};
    const verdict = await this.#authorize(this.principal, action, { ...run, owner }, on);
    return typeof verdict === 'boolean' ? verdict : hasFields(owner, verdict.owner);
  }

  /**
   * For an action that is not about one run.
   *
   * @returns The fields that a new run gets, or that those of a list must have.
   * @throws ApiError
   */
  async demand(action: Action, on: ActedOn = {}): Promise<OwnerFields> {
    const verdict = await this.#authorize(this.principal, action, null, on);
    if (verdict === false)
      throw new ApiError(403, 'NOT_ALLOWED', `${this.name} may not do this (${action}).`);
    return verdict === true ? {} : verdict.owner;
  }

  /** A run that the principal may not read is not found. @throws ApiError */
  async demandRun(action: Action, run: RunInfo): Promise<void> {
    if (await this.may(action, run)) return;
    if (action === 'threads:read' || !(await this.may('threads:read', run)))
      throw notFound(`Thread "${run.id}"`);
    throw new ApiError(403, 'NOT_ALLOWED', `${this.name} may not do this (${action}).`);
  }

  /** The fields of a run that this principal starts. */
  owning(fields: OwnerFields): OwnerFields {
    return { by: this.name, ...fields };
  }
}

const hasFields = (owner: OwnerFields, wanted: OwnerFields): boolean =>
  Object.entries(wanted).every(([name, value]) => Object.hasOwn(owner, name) && owner[name] === value);
