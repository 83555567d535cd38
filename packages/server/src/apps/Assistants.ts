import type { RunInfo } from '@devs/core/langgraph';
import { notFound } from '../http/ApiError.ts';
import type { Assistant, ServedApp } from './ServedApp.ts';

/** Where a thread is, and of which assistant. */
export interface Located {
  readonly assistant: Assistant;
  readonly run: RunInfo;
}

/** The member of `metadata` that names the assistant of a thread, as LangGraph writes it. */
const GRAPH = 'graph_id';

/** The registered apps, by name, and the threads in them. */
export class Assistants {
  readonly all: readonly Assistant[];
  /** One app of each file, and of each storage with a file per run: it finds the runs of all apps that are there. */
  readonly finders: readonly ServedApp[];
  /** Since when the server runs: ISO 8601, UTC. */
  readonly since: string;

  /** @throws TypeError without an app. */
  constructor(apps: Readonly<Record<string, ServedApp>>, since: Date = new Date()) {
    this.all = Object.entries(apps).map(([name, app]) => ({ name, app }));
    const inOrder = this.all.map(({ app }) => app);
    this.finders = inOrder.filter((app, at) => inOrder.findIndex((other) => isSamePlace(app, other)) === at);
    this.since = since.toISOString();
    if (this.all.length === 0) throw new TypeError('createServer: `apps` must have at least one app.');
    const shared = this.all.find(
      ({ app }) => app.queue.graph === '' && this.all.some((other) => sharesFile(app, other.app)),
    );
    if (shared !== undefined)
      throw new TypeError(
        `createServer: app "${shared.name}" shares its file, so it must have a \`name\` of durable().`,
      );
  }

  /** @throws ApiError for an unknown name. */
  named(name: string): Assistant {
    const known = this.all.find((assistant) => assistant.name === name);
    if (known === undefined) throw notFound(`Assistant "${name.slice(0, 80)}"`);
    return known;
  }

  /** The one of a name; with one app, also without a name. */
  find(name: unknown): Assistant | undefined {
    const [first] = this.all;
    if (typeof name === 'string') return this.all.find((assistant) => assistant.name === name);
    return this.all.length === 1 ? first : undefined;
  }

  /** The one that a new thread is of: the named one, or the first until its first run names another. */
  ofThread(name: unknown): Assistant {
    return this.find(name) ?? (this.all[0] as Assistant);
  }

  /** The thread of an id, wherever it is. */
  async locate(id: string): Promise<Located | null> {
    for (const app of this.finders) {
      const run = await app.get(id);
      if (run !== null) return { run, assistant: this.ownerOf(run, app) };
    }
    return null;
  }

  /** The assistant of a run that an app has found: one file can have runs of several. */
  ownerOf(run: RunInfo, finder: ServedApp): Assistant {
    return (
      this.find(run.metadata[GRAPH]) ??
      this.all.find(({ app }) => app.fingerprint === run.graph) ??
      (this.all.find(({ app }) => app === finder) as Assistant)
    );
  }
}

/** Whether two apps find the same runs. An app over a file in memory finds its own. */
export const isSamePlace = (a: ServedApp, b: ServedApp): boolean =>
  a === b || (a.runs !== null && a.runs === b.runs) || sharesFile(a, b);

const sharesFile = (a: ServedApp, b: ServedApp): boolean => a !== b && a.file !== null && a.file === b.file;
