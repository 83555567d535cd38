import type { HostIdentity } from '../threads/hostIdentity.ts';
import type { NewThread } from '../threads/threadRecords.ts';

/** A valid run; a test names only the fields it is about. */
export function aThread(overrides: Partial<NewThread> = {}): NewThread {
  return {
    threadId: 'run-1',
    projectId: 'run-1',
    workspace: null,
    briefSha256: 'b'.repeat(64),
    graphFingerprint: 'f'.repeat(64),
    policies: {},
    ...overrides,
  };
}

/** A host whose clock and processes a test controls. */
export interface FakeHost extends HostIdentity {
  /** Milliseconds on its monotonic clock. */
  clock: number;
  readonly dead: Set<number>;
}

export function aHost({ bootId = 'boot-1', pid = 100 } = {}): FakeHost {
  const host: FakeHost = {
    bootId,
    pid,
    startTime: String(pid * 10),
    clock: 0,
    dead: new Set(),
    monotonicMs: () => host.clock,
    isAlive: (other) => !host.dead.has(other),
  };
  return host;
}
