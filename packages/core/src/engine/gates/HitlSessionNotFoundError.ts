import { DevsError } from '../../errors/DevsError.ts';

/** `resume` was given an id this state file does not have. Code `GATE_NOT_FOUND`. */
export class HitlSessionNotFoundError extends DevsError {
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(`There is no gate "${sessionId}" in this state file.`, {
      code: 'GATE_NOT_FOUND',
      remedy: 'List the open gates to find the right id.',
      context: { sessionId },
    });
    this.sessionId = sessionId;
  }
}
