import { createDatabase } from '../../src/db/createDatabase.ts';
import { aHost, type FakeHost } from '../../src/state/__tests__/aThread.ts';
import { LEASE_TTL_MS, ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import { type StoreUnderTest, threadStoreConformance } from './threadStoreConformance.ts';

function inMemory(): StoreUnderTest {
  const db = createDatabase({ dbPath: ':memory:' });
  const dead = new Set<number>();
  const hosts = new Map<string, FakeHost>();
  const stores = new Map<string, ThreadStore>();
  let clock = 0;
  const start = (process: string): ThreadStore => {
    const host: FakeHost = {
      ...aHost({ pid: hosts.size + 1 }),
      monotonicMs: () => clock,
      isAlive: (pid) => !dead.has(pid),
    };
    hosts.set(process, host);
    const store = new ThreadStore(db, { host });
    stores.set(process, store);
    return store;
  };
  return {
    as: (process) => stores.get(process) ?? start(process),
    end: (process) => dead.add(hosts.get(process)?.pid ?? 0),
    leaseTtlMs: LEASE_TTL_MS,
    pass: (ms) => {
      clock += ms;
    },
    close: () => db.close(),
  };
}

threadStoreConformance('ThreadStore', inMemory);
