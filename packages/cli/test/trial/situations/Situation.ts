import type { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import type { ProjectConfigInput } from '../../../src/config/ProjectConfig.ts';
import type { Hosting } from '../ModelHost.ts';
import type { Typed } from '../Person.ts';
import type { TransportName } from '../Transport.ts';

type Check = NonNullable<ProjectConfigInput['checks']>[number];

export const SITUATION_NAMES = [
  'ca-registry',
  'dot-env',
  'crlf',
  'lfs',
  'bun',
  'slow-suite',
  'strict-hooks',
  'rate-limits',
  'small-context',
  'silent-cli',
] as const;

export type SituationName = (typeof SITUATION_NAMES)[number];

/** What a repository, its surroundings or a provider is like on an ordinary day. The agent has no vice. */
export interface Situation {
  readonly name: SituationName;
  /** One line for people. */
  readonly what: string;
  readonly transport: TransportName;
  /** Of the repository, over the files it has. */
  readonly files?: Readonly<Record<string, string>>;
  /** What git stores of files that a filter changes. */
  readonly stored?: Readonly<Record<string, string>>;
  /** Paths that git ignores beside `node_modules`. */
  readonly ignored?: readonly string[];
  /** Of the person's commit. @defaultValue `What there is` */
  readonly message?: string;
  /** How the person's editor saves a file of the repository. @defaultValue as it is */
  readonly save?: (content: string) => string;
  /** A file that the agent reads before it writes code. */
  readonly reads?: string;
  /** What a person types first, and what refuses it before anything is paid. */
  readonly refused?: { readonly flags: readonly string[]; readonly words: RegExp };
  /** Before the person commits. */
  readonly beforeCommit?: (user: UserCheckout, dir: string) => void;
  readonly arrange?: (place: SituationPlace) => Promise<Arranged> | Arranged;
}

export interface SituationPlace {
  /** Of the trial, outside of the repository. */
  readonly dir: string;
  readonly home: string;
  readonly user: UserCheckout;
  /** How long a suite takes that is slow, ms. */
  readonly suiteMs: number;
}

/** What stands around a repository, and what a person sets for it. */
export interface Arranged {
  readonly config?: Omit<ProjectConfigInput, 'checks'>;
  /** Settings of the check. */
  readonly check?: Partial<Check>;
  /** In the place of the trial's own checks. */
  readonly checks?: readonly Check[];
  /** Of the person's shell. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the judge needs to prepare and to check a clone. */
  readonly judged?: Readonly<Record<string, string>>;
  readonly hosting?: Hosting;
  /** What the situation asks of the work, and is not so. */
  readonly broken?: (found: Found) => readonly string[];
  readonly stop?: () => Promise<void>;
}

/** What a trial left. */
export interface Found {
  /** The branch of the run. */
  readonly branch: string;
  /** A git command in the person's repository. */
  readonly git: (...args: readonly string[]) => string;
  /** `devs status RUN`, for people. */
  readonly status: string;
  readonly typed: readonly Typed[];
  readonly root: string;
}
