import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientConnection } from '@agentclientprotocol/sdk';
import { DevsError, isDevsError } from '@devs/core';
import { z } from 'zod';
import {
  agentFault,
  type CodingPlace,
  type CodingStage,
  formatExit,
  maskedExcerpt,
} from '../coding/CodingTool.ts';
import type { InstalledTool, Launch } from '../coding/InstalledTool.ts';
import { TASK_STAGES } from '../models/loadPrompts.ts';
import { MaskedTail } from '../process/MaskedTail.ts';
import { assertProcessGroups, endWithUs, killGroup } from '../process/runProcess.ts';
import { withScratch } from '../process/scratch.ts';
import type { AcpProgram } from './AcpProgram.ts';
import type { AcpTurn } from './AcpTurn.ts';
import { byteLimit, guardedStream } from './guardedStream.ts';
import { endShape, notificationShape, type PromptEnd } from './updates.ts';

/** Bytes of what it printed that are shown in an error. */
const SHOWN_BYTES = 2_000;

/** A process of an agent. */
interface RunningAgent {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly errors: MaskedTail;
  /** How it ended, in words. */
  readonly exited: Promise<string>;
  /** Once its group and its folders are gone. */
  readonly ended: Promise<void>;
}

/** Starts the program in folders that live as long as it. */
function runAgent(
  installed: InstalledTool<AcpProgram>,
  { dir, readOnly }: CodingPlace,
): Promise<RunningAgent> {
  const { tool, isConfined: confined } = installed;
  return new Promise((resolve, reject) => {
    const ended = withScratch('devs-agent-', async (scratch) => {
      const launch = await installed.launch(dir, tool.argv.slice(1), scratch);
      const child = startAgent({
        ...launch,
        env: { ...launch.env, ...tool.settings?.({ confined, readOnly }) },
      });
      const errors = new MaskedTail(SHOWN_BYTES);
      child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk));
      // It may end without reading: what became of it says more than EPIPE.
      child.stdin?.on('error', () => undefined);
      const exited = new Promise<string>((done) => {
        child.once('error', (error) => done(`could not be started (${error.message})`));
        child.once('exit', (code) => done(formatExit(code)));
      });
      resolve({ child, folder: launch.cwd, errors, exited, ended });
      await exited;
      killGroup(child, 'SIGKILL');
    });
    ended.catch(reject);
  });
}

function startAgent({ argv: [program = '', ...args], cwd, env }: Launch): ChildProcess {
  assertProcessGroups();
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  endWithUs(child);
  return child;
}

/** Of JSON-RPC: the agent wants its user to log in first. */
const AUTH_REQUIRED = -32_000;

/** An error that came back over the connection. */
interface AcpRefusal extends Error {
  readonly code: number;
  readonly data?: unknown;
}

const isAcpRefusal = (error: unknown): error is AcpRefusal =>
  error instanceof Error && 'code' in error && typeof error.code === 'number';

const isAuthRequired = (error: unknown): boolean => isAcpRefusal(error) && error.code === AUTH_REQUIRED;

/** What a refused request says. */
function refusedRequest({ name, login, env = [] }: AcpProgram, refusal: AcpRefusal): DevsError {
  const words = maskedExcerpt(refusalMessage(refusal));
  if (refusal.code !== AUTH_REQUIRED) return agentFault(name, `failed: ${words}`, refusal);
  const key = env[0] === undefined ? '' : ` or set ${env[0]}`;
  return new DevsError(`${name} is not logged in: ${words}`, {
    code: 'AGENT_FAILED',
    remedy: `Run \`${login ?? name}\`${key}, then resume the run.`,
    context: { agent: name },
    cause: refusal,
  });
}

/** Most agents put the reason beside the message. */
function refusalMessage({ message, data }: AcpRefusal): string {
  const more = typeof data === 'string' ? data : detailsOf(data);
  return more === '' || message.includes(more) ? message : `${message}: ${more}`;
}

function detailsOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return '';
  const { details, message } = data as { readonly details?: unknown; readonly message?: unknown };
  return [details, message].find((text) => typeof text === 'string') ?? JSON.stringify(data);
}

/** Time it has at most to go by itself once its input is closed, and again once it was told to, ms. */
const END_GRACE_MS = 2_000;

/** Bytes of one message. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Of the protocol. */
const VERSION = 1;

const initializedShape = z.looseObject({
  protocolVersion: z.number(),
  agentCapabilities: z
    .looseObject({ sessionCapabilities: z.looseObject({ close: z.unknown() }).nullish().catch(undefined) })
    .nullish()
    .catch(undefined),
});

const sessionShape = z.looseObject({ sessionId: z.string().min(1) });

/** A session that stays open for the next stage. */
interface KeptSession {
  readonly session: string;
  /** Its last stage. */
  readonly stage: CodingStage['stage'];
  readonly talk: string;
  /** Reported dollars. */
  readonly cost: number;
}

/** A running agent: many sessions, one after the other. */
export class AgentProcess {
  readonly place: CodingPlace;
  readonly #installed: InstalledTool<AcpProgram>;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #ended: Promise<void>;
  readonly #errors: MaskedTail;
  readonly #exited: Promise<string>;
  #connection: ClientConnection | undefined;
  #renew: () => void = () => undefined;
  #canClose = false;
  #kept: KeptSession | null = null;
  #listening: { readonly session: string; readonly turn: AcpTurn } | null = null;

  private constructor(installed: InstalledTool<AcpProgram>, place: CodingPlace, running: RunningAgent) {
    this.#installed = installed;
    this.place = place;
    this.#child = running.child;
    this.#folder = running.folder;
    this.#ended = running.ended;
    this.#errors = running.errors;
    this.#exited = running.exited;
  }

  /**
   * Starts it and makes its acquaintance.
   *
   * @throws DevsError `AGENT_FAILED`; then nothing is left of it.
   */
  static async start(
    installed: InstalledTool<AcpProgram>,
    place: CodingPlace,
    stop: AbortSignal,
  ): Promise<AgentProcess> {
    const process = new AgentProcess(installed, place, await runAgent(installed, place));
    try {
      await process.#connect(stop);
      return process;
    } catch (error) {
      await process.end();
      throw error;
    }
  }

  get folder(): string {
    return this.#folder;
  }

  get isUsable(): boolean {
    return this.#child.exitCode === null && this.#connection?.signal.aborted === false;
  }

  /** Whether it keeps this process from ending. */
  hold(isHeld: boolean): void {
    const { stdin, stdout, stderr } = this.#child;
    for (const each of [this.#child, stdin as Socket, stdout as Socket, stderr as Socket]) {
      if (isHeld) each.ref();
      else each.unref();
    }
  }

  /** Whether it has the session of a task with a stage to come. */
  get isAwaited(): boolean {
    return this.#kept !== null && this.#kept.stage !== TASK_STAGES.at(-1);
  }

  /** The open session of the stage before; `null` without one. */
  keptFor(talk: CodingStage['talk']): KeptSession | null {
    const kept = this.#kept;
    const isNext = talk?.after != null && kept?.talk === talk.id && kept.stage === talk.after;
    return isNext ? kept : null;
  }

  /**
   * Runs `work` in a session: the one that was kept for it, or a new one. It is kept for the next stage of its talk, else
   * closed where the agent can.
   */
  async inSession<Result>(
    turn: AcpTurn,
    { stage, talk }: Pick<CodingStage, 'stage' | 'talk'>,
    stop: AbortSignal,
    work: (prompt: (text: string) => Promise<PromptEnd>) => Promise<Result>,
  ): Promise<Result> {
    this.#renew();
    const kept = this.keptFor(talk);
    if (kept === null) await this.#dropKept();
    const session = kept?.session ?? (await this.#newSession(stop));
    this.#kept = null;
    this.#listening = { session, turn };
    let isDone = false;
    try {
      const result = await work((text) => {
        turn.begin();
        return this.#prompt(session, text, stop);
      });
      isDone = true;
      return result;
    } finally {
      this.#listening = null;
      if (isDone && talk !== undefined)
        this.#kept = { session, stage, talk: talk.id, cost: turn.sessionCost };
      else await this.#closed(session);
    }
  }

  async #dropKept(): Promise<void> {
    const kept = this.#kept;
    this.#kept = null;
    if (kept !== null) await this.#closed(kept.session);
  }

  /** Leaves nothing of it behind; may be called again. */
  async end(): Promise<void> {
    this.hold(true);
    this.#child.stdin?.end();
    const graceMs = Math.min(END_GRACE_MS, this.#installed.limits.graceMs);
    if (!(await this.#exitsWithin(graceMs))) killGroup(this.#child, 'SIGTERM');
    if (!(await this.#exitsWithin(graceMs))) killGroup(this.#child, 'SIGKILL');
    await this.#ended;
    this.#connection?.close();
  }

  async #connect(stop: AbortSignal): Promise<void> {
    const acp = await import('@agentclientprotocol/sdk');
    const { stdin, stdout } = this.#child;
    const { stream, renew } = byteLimit(this.#installed.limits.maxOutputBytes);
    this.#renew = renew;
    const input = (Readable.toWeb(stdout as Readable) as ReadableStream<Uint8Array>).pipeThrough(stream);
    const output = Writable.toWeb(stdin as Writable) as WritableStream<Uint8Array>;
    const lines = acp.ndJsonStream(output, input, { maxMessageBytes: MAX_MESSAGE_BYTES });
    const raw = (params: unknown): unknown => params;
    this.#connection = acp
      .client({ name: 'devs' })
      .onRequest('session/request_permission', raw, ({ params }) => this.#permit(params))
      .connect(guardedStream(lines, (params) => this.#hear(params)));
    const said = await this.#ask(stop, 'initialize', {
      protocolVersion: VERSION,
      clientInfo: { name: 'devs', version: '0' },
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    const initialized = initializedShape.safeParse(said).data;
    if (initialized?.protocolVersion !== VERSION)
      throw this.#fault(
        `speaks version ${initialized?.protocolVersion ?? 'unknown'} of the protocol, not ${VERSION}`,
      );
    this.#canClose = Boolean(initialized.agentCapabilities?.sessionCapabilities?.close);
  }

  async #newSession(stop: AbortSignal): Promise<string> {
    const request = { cwd: this.#folder, mcpServers: [] };
    const said = await this.#asked(stop, 'session/new', request)
      .catch(async (error: unknown) => {
        const { auth } = this.#installed.tool;
        if (!isAuthRequired(error) || auth === undefined || !process.env[auth.variable]) throw error;
        await this.#asked(stop, 'authenticate', { methodId: auth.method });
        return this.#asked(stop, 'session/new', request);
      })
      .catch((error: unknown) => this.#failed(error));
    const session = sessionShape.safeParse(said).data;
    if (session === undefined) throw this.#fault('opened a session without an id');
    return session.sessionId;
  }

  async #prompt(session: string, text: string, stop: AbortSignal): Promise<PromptEnd> {
    const request = { sessionId: session, prompt: [{ type: 'text', text }] };
    const answer = this.#connected.agent.request<unknown>('session/prompt' as string, request);
    const cancelled = new AbortController();
    const cancel = (): void => void this.#cancel(session, answer, cancelled);
    stop.addEventListener('abort', cancel, { once: true });
    if (stop.aborted) cancel();
    try {
      const said = await beforeAbort(answer, cancelled.signal);
      stop.throwIfAborted();
      const end = endShape.safeParse(said).data;
      if (end === undefined) throw this.#fault('ended its turn without a reason');
      return end;
    } catch (error) {
      stop.throwIfAborted();
      return await this.#failed(error);
    } finally {
      stop.removeEventListener('abort', cancel);
    }
  }

  /** It is told, and waited for; `over` is aborted once it had its time. */
  async #cancel(session: string, answer: Promise<unknown>, over: AbortController): Promise<void> {
    const told = this.#connected.agent.notify('session/cancel' as string, { sessionId: session });
    await Promise.race([
      Promise.allSettled([told, answer]),
      sleep(this.#installed.limits.graceMs, undefined, { ref: false }),
      this.#exited,
    ]);
    over.abort();
  }

  async #closed(session: string): Promise<void> {
    if (!this.#canClose || !this.isUsable) return;
    const answer = this.#connected.agent.request('session/close' as string, { sessionId: session });
    await Promise.race([answer, sleep(END_GRACE_MS, undefined, { ref: false })]).catch(() => undefined);
  }

  #asked(stop: AbortSignal, method: string, params: unknown): Promise<unknown> {
    return beforeAbort(this.#connected.agent.request<unknown>(method, params), stop);
  }

  #ask(stop: AbortSignal, method: string, params: unknown): Promise<unknown> {
    return this.#asked(stop, method, params).catch((error: unknown) => {
      stop.throwIfAborted();
      return this.#failed(error);
    });
  }

  get #connected(): ClientConnection {
    if (this.#connection === undefined) throw new TypeError('Expected a connected agent.');
    return this.#connection;
  }

  #hear(params: unknown): void {
    const told = notificationShape.safeParse(params).data;
    if (told === undefined || told.sessionId !== this.#listening?.session) return;
    this.#listening.turn.hear(told.update);
  }

  #permit(params: unknown): unknown {
    const { sessionId } = notificationShape.safeParse(params).data ?? {};
    if (this.#listening === null || sessionId !== this.#listening.session)
      return { outcome: { outcome: 'cancelled' } };
    return this.#listening.turn.permit(params);
  }

  /** @throws what became of it, in words. */
  async #failed(error: unknown): Promise<never> {
    if (isDevsError(error)) throw error;
    if (isAcpRefusal(error)) throw refusedRequest(this.#installed.tool, error);
    if (isTooMuch(error)) throw this.#fault(`was stopped: it ${error.message}`, error);
    const how = (await this.#exitsWithin(END_GRACE_MS)) ? await this.#exited : null;
    if (how !== null) throw this.#fault(`${how}: ${this.#errors}`, error);
    throw this.#fault(`could not be understood: ${maskedExcerpt((error as Error).message)}`, error);
  }

  #fault(what: string, cause?: unknown): DevsError {
    return agentFault(this.#installed.tool.name, what, cause);
  }

  async #exitsWithin(limitMs: number): Promise<boolean> {
    return Promise.race([this.#exited.then(() => true), sleep(limitMs, false)]);
  }
}

/** It said more than a limit lets through; by the name, since the library is loaded late. */
const isTooMuch = (error: unknown): error is Error =>
  error instanceof RangeError || (error instanceof Error && error.name === 'MessageTooLargeError');

/** What `work` comes to, unless the signal is aborted first. */
async function beforeAbort<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
