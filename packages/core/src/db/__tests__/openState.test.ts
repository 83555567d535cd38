import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { EventBus } from '../../events/events.ts';
import { aThread } from '../../state/__tests__/aThread.ts';
import { StateFile } from '../../state/StateFile.ts';
import { ThreadStore } from '../../state/threads/ThreadStore.ts';
import { openState } from '../createDatabase.ts';

const refused = (code: string) => expect.objectContaining({ code });

describe('the image of a state file', () => {
  test('is read as the file was when it was taken, and is not written to', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread({ threadId: 'run-1' }));
    const image = db.serialize();
    const before = Buffer.from(image);
    threads.create(aThread({ threadId: 'run-2' }));
    const opened = openState(image);
    const file = new StateFile(opened, { events: new EventBus() });
    expect(file.threads.list().map(({ threadId }) => threadId)).toEqual(['run-1']);
    expect(() => file.threads.create(aThread({ threadId: 'run-3' }))).toThrow();
    opened.close();
    expect(image.equals(before)).toBe(true);
  });

  test('is refused where it is none', ({ db }) => {
    expect(() => openState(new Uint8Array())).toThrow(refused('CONFIG_INVALID'));
    expect(() => openState(Buffer.from('not a database'.repeat(200)))).toThrow(refused('STATE_CORRUPT'));
    db.exec("INSERT INTO schema_migrations VALUES (900, '900_later', 'x', 'now')");
    expect(() => openState(db.serialize())).toThrow(refused('SCHEMA_TOO_NEW'));
    db.exec('PRAGMA application_id = 1');
    expect(() => openState(db.serialize())).toThrow(refused('CONFIG_INVALID'));
  });
});
