import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { processIo } from '../runProcess.ts';

/** The part of a process that is looked at. */
class ProcessDouble extends EventEmitter {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly env = { NO_COLOR: '1' };
  readonly exits: number[] = [];
  readonly cwd = (): string => '/project';
  readonly exit = (code: number): void => {
    this.exits.push(code);
  };
}

const started = () => {
  const process = new ProcessDouble();
  return { process, io: processIo(process as unknown as NodeJS.Process) };
};

describe('processIo', () => {
  it('asks to stop on the first signal, ends what is in flight on the second and leaves on the third', () => {
    const { process, io } = started();
    expect(io).toMatchObject({ cwd: '/project', env: { NO_COLOR: '1' } });
    expect(io.signal.aborted).toBe(false);
    process.emit('SIGTERM');
    expect(io.signal.aborted).toBe(true);
    expect(process.exits).toEqual([]);
    expect(io.abort.aborted).toBe(false);
    process.emit('SIGINT');
    expect(io.abort.aborted).toBe(true);
    expect(process.exits).toEqual([]);
    process.emit('SIGTERM');
    expect(process.exits).toEqual([130]);
  });

  it('does not mind a reader that goes away, but any other fault of a stream', () => {
    const { process } = started();
    const fault = (code: string) => Object.assign(new Error(code), { code });
    expect(() => process.stdout.emit('error', fault('EPIPE'))).not.toThrow();
    expect(() => process.stderr.emit('error', fault('EIO'))).toThrow('EIO');
  });
});
