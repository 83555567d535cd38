import type { WorkResult } from '@devs/core';

/** What a coding CLI says of a test that asks for something wrong, in the line its prompt asks for; nothing without one. */
export function wrongTestIn(text: string): Pick<WorkResult, 'wrongTest'> {
  const wrongTest = /^WRONG TEST: *(\S.*)$/m.exec(text)?.[1];
  return wrongTest === undefined ? {} : { wrongTest };
}
