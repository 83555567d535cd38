import { invalid } from '../http/ApiError.ts';

const MOST_CHARACTERS = 200;

/** Without control characters, invisible characters and separators of a path. */
const ID = /^[^\p{C}\p{Z}/\\]+$/u;

/** @throws ApiError for an id that a person or a log could take for another one. */
export function assertId(id: string, name: string): void {
  if (id.length > 0 && id.length <= MOST_CHARACTERS && ID.test(id)) return;
  throw invalid(`${name}: expected 1 to ${MOST_CHARACTERS} visible characters without spaces and slashes.`);
}
