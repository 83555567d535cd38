import Database from 'better-sqlite3';

export class Plan {
  readonly steps = 3;
}

export const looped: Record<string, unknown> = { name: 'loop' };
looped['self'] = looped;

export function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

/** 30 KB. */
export const LARGE = 'a line of text\n'.repeat(2000);

/** An error of which a field cannot be read. */
export const unreadable = (field: string): Error =>
  Object.defineProperty(new Error('hidden'), field, {
    get: () => {
      throw new Error(`no ${field}`);
    },
  });

/** The driver's own error, of a database that is the author's. */
export function ofOwnDatabase(): unknown {
  const db = new Database(':memory:');
  try {
    db.pragma('max_page_count = 1');
    return db.exec('CREATE TABLE a (b); CREATE TABLE c (d)');
  } catch (error) {
    return error;
  } finally {
    db.close();
  }
}
