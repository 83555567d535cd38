import type { Dialect } from './dialects.ts';

/** Contents by path; `null` removes the file. */
export type Files = Readonly<Record<string, string | null>>;

/** A file as it was before the work. */
export type Read = (path: string) => string;

/** One example of what a function does, as source text. */
export interface Case {
  /** Between the parentheses of the call. */
  readonly args: string;
  /** What of the result is compared: `.label`. @defaultValue all of it */
  readonly of?: string;
  readonly expected: string;
}

/** A function that a repository does not have yet, and what becomes of it in several hands. */
export interface Feature {
  readonly title: string;
  /** Half a page for people, without its heading. */
  readonly brief: string;
  /** The file that gets it. */
  readonly code: string;
  /** The new test. */
  readonly test: string;
  /** How a caller names it: `stringify.same`, `slug`. */
  readonly call: string;
  /** What the test and the judge see: no more is needed to write the right code. */
  readonly cases: readonly Case[];
  /** What only the judge sees. */
  readonly hidden: readonly Case[];
  /** The work in three hands, from the files as they are. */
  readonly right: (read: Read) => Files;
  /** Does not do what the brief says: the new test fails on it. */
  readonly wrong: (read: Read) => Files;
  /** Does it for the inputs of the test alone. */
  readonly special: (read: Read) => Files;
}

/** A package from the registry, with the tests its authors wrote in its tarball. */
export interface Tarball {
  readonly name: string;
  readonly version: string;
  /** SHA-512 as the registry says it. */
  readonly integrity: string;
}

/** A repository as its owner has it. */
export interface Repository {
  readonly name: string;
  /** One line for people. */
  readonly what: string;
  /** What lies in it first; {@link files} lies over it. */
  readonly tarball?: Tarball;
  readonly files: Readonly<Record<string, string>>;
  /** Packages that it needs to run its tests, with exact versions. */
  readonly tools: Readonly<Record<string, string>>;
  /** The script `test` of its package.json. */
  readonly script: string;
  readonly dialect: Dialect;
  readonly feature: Feature;
  /** A file of tests that is there from the start. */
  readonly ownTest: string;
  /** Where a second file of tests is found by the script. */
  readonly moreTests: (name: string) => string;
  /** Commonly `README.md`; what a task about documentation changes. */
  readonly readme: string;
  /** Runs where nothing is installed but this workspace. */
  readonly local?: Local;
}

/** The same repository with what the workspace has installed. */
export interface Local {
  /** Packages of the workspace that its `node_modules` gets. */
  readonly links: readonly string[];
  /** The command that tests it; starts faster than a script of package.json. */
  readonly check: readonly string[];
}
