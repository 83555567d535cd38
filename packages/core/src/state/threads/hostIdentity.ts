import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Who this process is, precisely enough for another process to prove it dead. */
export interface HostIdentity {
  /**
   * Two processes with the same boot id share a monotonic clock and can see each other's processes.
   * On Linux: the kernel's boot id and the process id namespace, so that containers do not judge each other.
   */
  readonly bootId: string;
  readonly pid: number;
  /** Start time in clock ticks since boot; `''` where the platform does not tell. */
  readonly startTime: string;
  /** Whole milliseconds on a clock that is never set and that every process of this boot shares. */
  monotonicMs(): number;
  /** False only if the process is provably gone. */
  isAlive(pid: number, startTime: string): boolean;
}

/** The identity of the running process. Reads `/proc` on Linux; elsewhere the start time is unknown. */
export function localHost(): HostIdentity {
  const stat = readStat(process.pid);
  return {
    bootId: readBootId(),
    pid: process.pid,
    startTime: stat?.startTime ?? '',
    monotonicMs: () => Number(process.hrtime.bigint() / 1_000_000n),
    isAlive: process.platform === 'linux' ? isAliveInProc : answersSignal,
  };
}

let own: HostIdentity | undefined;

/** {@link localHost}, read once: a process does not become another one. */
export function thisHost(): HostIdentity {
  own ??= localHost();
  return own;
}

/** Names a holder that there cannot be: above every limit of process ids. */
export const NOBODY = '2147483647:1';

/** The text that names a lease's holder: `pid:startTime`. */
export function ownerToken({ pid, startTime }: Pick<HostIdentity, 'pid' | 'startTime'>): string {
  return `${pid}:${startTime}`;
}

/** False only if the holder named by `token` is provably gone; an unreadable token counts as alive. */
export function isOwnerAlive(host: HostIdentity, token: string): boolean {
  const match = /^(\d+):(\d*)$/.exec(token);
  if (match === null) return true;
  return host.isAlive(Number(match[1]), match[2] ?? '');
}

interface ProcessStat {
  readonly state: string;
  readonly startTime: string;
}

const ENDED_STATES: ReadonlySet<string> = new Set(['Z', 'X', 'x']);
const FIELDS_BEFORE_STATE = 2;
const START_TIME_FIELD = 22;

function isAliveInProc(pid: number, startTime: string): boolean {
  const stat = readStat(pid);
  if (stat === null) return answersSignal(pid); // hidden by the mount options of /proc, or gone
  if (ENDED_STATES.has(stat.state)) return false;
  return startTime === '' || startTime === stat.startTime; // another start time: the pid was reused
}

function answersSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function readStat(pid: number): ProcessStat | null {
  const text = readTextOrNull(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The second field is the command in brackets and may itself hold spaces and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const startTime = fields[START_TIME_FIELD - FIELDS_BEFORE_STATE - 1];
  return state === undefined || startTime === undefined ? null : { state, startTime };
}

function readBootId(): string {
  const bootId = readTextOrNull('/proc/sys/kernel/random/boot_id')?.trim();
  if (bootId === undefined) return hostname();
  try {
    return `${bootId}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return bootId;
  }
}

function readTextOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** What names a process, and tells whether another one of this machine still runs. */
export const hosts = { local: localHost, token: ownerToken, isAlive: isOwnerAlive } as const;
