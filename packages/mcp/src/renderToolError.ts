import { isDevsError, maskSensitiveData } from '@devs/core';
import { maskStart, visibleJson, visibleText } from '@devs/core/internal';
import { z } from 'zod';

/** An error for a client: code, message and remedy, without a stack. */
export interface ToolErrorView {
  /** A code of the engine, or `UNKNOWN_TOOL`, `INVALID_ARGUMENTS`, `INTERNAL` of this server. */
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

/** Arguments that fit the schema and name something there is none of. Its message says what there is. */
export class WrongArguments extends Error {
  override readonly name = 'WrongArguments';
}

/** Names that a client may try because other servers have them. None of them exists here. */
const CHANGES_SOMETHING =
  /approv|reject|decid|decision|resum|driv|start|creat|stop|paus|cancel|abort|skip|retry|rewind|rever|undo|grant|rais|polic|set|updat|writ|delet|prun/i;

/** Renders whatever was thrown, masked and with what cannot be seen spelled out. */
export function renderToolError(error: unknown): ToolErrorView {
  const { code, message, remedy } = viewOf(error);
  return { code, message: maskedVisible(message), remedy: maskedVisible(remedy) };
}

const maskedVisible = (text: string): string => visibleText(maskSensitiveData(text));

function viewOf(error: unknown): ToolErrorView {
  if (isDevsError(error)) return error;
  if (error instanceof z.ZodError) {
    const remedy = 'Read the input schema of the tool in tools/list, then call it again.';
    return { code: 'INVALID_ARGUMENTS', message: z.prettifyError(error), remedy };
  }
  if (error instanceof WrongArguments) {
    return {
      code: 'INVALID_ARGUMENTS',
      message: error.message,
      remedy: 'Call the tool again with a valid value.',
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: 'INTERNAL',
    message,
    remedy: 'Call the tool again. If the error stays, report it with this message.',
  };
}

/** Why a tool that is not in the list is not called. */
export function unknownTool(name: string): ToolErrorView {
  const message = `There is no tool ${visibleJson(JSON.stringify(maskStart(name, 100)))}.`;
  if (!CHANGES_SOMETHING.test(name)) {
    return { code: 'UNKNOWN_TOOL', message, remedy: 'Use one of the tools in tools/list.' };
  }
  return {
    code: 'AGENT_MAY_NOT_DECIDE',
    message: `${message} This server is read-only.`,
    remedy: 'Ask a person to do it in a terminal with the devs command.',
  };
}
