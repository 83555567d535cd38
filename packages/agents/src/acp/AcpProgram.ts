import type { CodingProgram } from '../coding/CodingTool.ts';

/** Purpose of an agent's process. */
export interface AcpMode {
  /** Whether it runs in a sandbox. */
  readonly confined: boolean;
  /** Whether its stage only reads. */
  readonly readOnly: boolean;
}

/** A program that speaks the Agent Client Protocol on its standard input and output. */
export interface AcpProgram extends CodingProgram {
  /** More environment variables, by purpose. @defaultValue none */
  readonly settings?: (mode: AcpMode) => Readonly<Record<string, string>>;
  /** Set to false if the reported tokens are not those of the whole turn; they are then ignored. @defaultValue true */
  readonly countsTokens?: boolean;
  /** The authentication method to choose, with the variable that it needs. */
  readonly auth?: { readonly method: string; readonly variable: string };
  /** The command for a login. */
  readonly login?: string;
}
