import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Gate } from '@devs/core';
import { STATE_FILE } from '@devs/core/internal';
import { clusterKey } from '../cluster/ClusterAt.ts';
import { userStateFolder } from '../config/userStateFolder.ts';
import type { Session } from '../project/Session.ts';

type ViewedGate = Pick<Gate, 'sessionId' | 'artifactHash'>;

/**
 * Which version of a gate this user was shown last, per state file or cluster: a hash in a file that only they can read, in
 * `$XDG_STATE_HOME/devs/shown`. Beside nothing that a run can write.
 */
export class ShownGates {
  /** `null` where the user has no folder for such things: then nothing is remembered. */
  readonly #prefix: string | null;

  constructor({ dir, cluster, io: { env } }: Pick<Session, 'dir' | 'cluster' | 'io'>) {
    const folder = userStateFolder(env);
    const place = cluster === null ? realStateFile(path.join(dir, '.devs', STATE_FILE)) : clusterKey(cluster);
    this.#prefix = folder && path.join(folder, 'shown', placeDigest(place));
  }

  /** A folder that cannot be written is no error: approving then takes `--hash`. */
  remember(gates: readonly ViewedGate[]): void {
    for (const { sessionId, artifactHash } of gates) {
      const file = this.#fileOf(sessionId);
      if (file !== null) quietly(() => writeAtomically(file, artifactHash));
    }
  }

  /** SHA-256 (hex) of the version that was shown last; `null` for none. */
  hashOf({ sessionId }: Pick<ViewedGate, 'sessionId'>): string | null {
    const file = this.#fileOf(sessionId);
    return file === null ? null : quietly(() => readFileSync(file, 'utf8'));
  }

  forget({ sessionId }: Pick<ViewedGate, 'sessionId'>): void {
    const file = this.#fileOf(sessionId);
    if (file !== null) quietly(() => rmSync(file, { force: true }));
  }

  #fileOf(sessionId: string): string | null {
    return this.#prefix && `${this.#prefix}.${encodeURIComponent(sessionId)}`;
  }
}

/** The state file, also where its folder is reached by another path. */
const realStateFile = (stateFile: string): string => quietly(() => realpathSync(stateFile)) ?? stateFile;

const placeDigest = (place: string): string => createHash('sha256').update(place).digest('hex').slice(0, 16);

function writeAtomically(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const whole = `${file}.${process.pid}`;
  writeFileSync(whole, text, { mode: 0o600 });
  renameSync(whole, file);
}

function quietly<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
