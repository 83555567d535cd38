import type { CodingProgram } from '../coding/CodingTool.ts';

/** What an agent is started for. */
export interface AcpMode {
  /** A sandbox confines it. */
  readonly confined: boolean;
  /** Its stage changes no file. */
  readonly readOnly: boolean;
}

/** A program that speaks the Agent Client Protocol on its standard input and output. */
export interface AcpProgram extends CodingProgram {
  /** Variables it is given besides, by what it is started for. @defaultValue none */
  readonly settings?: (mode: AcpMode) => Readonly<Record<string, string>>;
  /** False where the tokens it tells of are not those of the whole turn: they are then not known. @defaultValue true */
  readonly countsTokens?: boolean;
  /** The way to authenticate it chooses none of by itself, with the variable that has to be set for it. */
  readonly auth?: { readonly method: string; readonly variable: string };
  /** The command that logs its user in. */
  readonly login?: string;
}
