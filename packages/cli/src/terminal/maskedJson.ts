import { maskInTurns, maskView } from '@devs/core/internal';
import { visibleJson } from './visible.ts';

/**
 * JSON whose strings passed the broad masking rules, with the names of their fields; masking the finished text could break its
 * quotes. What gates show has passed theirs and stays as it is. What cannot be seen is escaped, which leaves it the same JSON.
 */
export const maskedJson = (value: unknown, indent = 0): string => jsonText(maskView(value), indent);

/** {@link maskedJson} of what may be long. */
export const maskedJsonInTurns = async (value: unknown, indent = 0): Promise<string> =>
  jsonText(await maskInTurns(value), indent);

const jsonText = (masked: unknown, indent: number): string =>
  visibleJson(JSON.stringify(masked, undefined, indent));
