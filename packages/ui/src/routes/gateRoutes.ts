import type { Gate, GateAnswer, Run } from '@devs/core';
import {
  eachMeasure,
  type GateComment,
  maskAtGate,
  type QuotableSection,
  visibleText,
  withPlaceholders,
} from '@devs/core/internal';
import { z } from 'zod';
import { DRAFT } from '../drafts/Draft.ts';
import type { DraftKey } from '../drafts/DraftFolder.ts';
import { UiError } from '../http/errors.ts';
import { MOST_OF_A_TEXT, readJson } from '../http/readRequest.ts';
import { jsonResponse } from '../http/responses.ts';
import { type AskingOf, askingFor, type ReadableRun } from '../state/RunsPlace.ts';
import { changedPaths, type GateCode, newestCommit } from '../views/gateCode.ts';
import { gateNamed, gateView, type ShownGateView } from '../views/gateView.ts';
import { revealedView, viewAtGate } from '../views/shownView.ts';
import type { Route, RouteContext, RouteContextFor, RouteRequest } from './Route.ts';

const optionalString = z.exactOptional(z.string());
const amount = z.exactOptional(z.number());
const optionalStrings = z.exactOptional(z.array(z.string()));
const artifactHash = z.string().regex(/^[0-9a-f]{64}$/);
const commentBody = z.strictObject({
  in: z.string(),
  quote: z.string(),
  line: z.exactOptional(z.int()),
  text: z.string(),
});

/** Which kind of gate takes which of it, the engine knows. Who decides is never part of what is sent. */
const DECISION = z.strictObject({
  artifactHash,
  /** Hidden places that are said yes to unread. */
  withHidden: z.exactOptional(z.int().min(0)),
  answer: z.strictObject({
    approved: z.exactOptional(z.boolean()),
    action: z.exactOptional(z.string().max(40)),
    feedback: optionalString,
    guidance: optionalString,
    reason: optionalString,
    comments: z.exactOptional(z.array(commentBody)),
    tasks: optionalStrings,
    failures: optionalStrings,
    ...eachMeasure(() => amount),
    value: z.exactOptional(z.json()),
    edit: z.exactOptional(z.json()),
    documents: z.exactOptional(z.json()),
    plan: z.exactOptional(z.json()),
  }),
});
const SHOWN = z.strictObject({ artifactHash });
const KEPT = z.strictObject({ artifactHash, draft: DRAFT.nullable() });
const QUESTION = z.strictObject({ artifactHash, question: z.string() });

const AT = '/api/runs/:run/gates/:gate';

const gateParams = ({ params: { run = '', gate = '' } }: RouteRequest) => ({ run, sessionId: gate });

const showRoute: Route = {
  method: 'GET',
  path: AT,
  access: 'read',
  handle: async (asked, { place, by, asking }) => {
    const { run, sessionId } = gateParams(asked);
    const view = await place.read((reader) => reader.view(run, (of) => gateView(of, sessionId, by)));
    const canAsk = asking !== undefined && view.isOpen && (await canAskAt({ run, sessionId }, asking, place));
    return jsonResponse(viewAtGate<ShownGateView>({ ...view, canAsk }, sessionId));
  },
};

/** Reading works without keys: agents that cannot be made are not asked. */
async function canAskAt(
  { run, sessionId }: { readonly run: string; readonly sessionId: string },
  asking: AskingOf,
  place: RouteContext['place'],
): Promise<boolean> {
  const agents = await askingFor(asking, run).catch(() => null);
  return agents !== null && place.canAsk(agents, run, { sessionId });
}

/** A diff may be long and never changes: it is no part of what is read again with every change. */
const code: Route = {
  method: 'GET',
  path: `${AT}/code`,
  access: 'read',
  handle: async (asked, { place, readCode }) => {
    const { run, sessionId } = gateParams(asked);
    const gate = await place.read((reader) => reader.view(run, (of) => gateNamed(of, sessionId)));
    return jsonResponse(visibleCode(await readCode(gate), sessionId));
  },
};

const codeSince: Route = {
  method: 'GET',
  path: `${AT}/code/:since`,
  access: 'read',
  handle: async (asked, { place, readCode }) => {
    const { run, sessionId } = gateParams(asked);
    const gates = async (of: ReadableRun) =>
      [await gateNamed(of, sessionId), await gateNamed(of, asked.params['since'] ?? '')] as const;
    const [gate, before] = await place.read((reader) => reader.view(run, gates));
    return jsonResponse(visibleCode(await readCode(gate, newestCommit(before)), sessionId));
  },
};

/** A file of a review, whole, as it is at its newest commit: lines that the diff leaves out are opened from it. */
const fileRoute: Route = {
  method: 'GET',
  path: `${AT}/files/:path`,
  access: 'read',
  handle: async (asked, { place, code: reader }) => {
    const { run, sessionId } = gateParams(asked);
    const { path = '' } = asked.params;
    const gate = await place.read((all) => all.view(run, (of) => gateNamed(of, sessionId)));
    const commit = newestCommit(gate);
    const isIn = changedPaths(gate).includes(path);
    const text = isIn && commit !== undefined ? await reader?.readAt?.(run, commit, path) : null;
    if (text == null) throw noFile();
    return jsonResponse(viewAtGate({ lines: text.split('\n') }, sessionId));
  },
};

const noFile = (): UiError =>
  new UiError(404, {
    code: 'FILE_NOT_FOUND',
    message: 'This file cannot be read here.',
    remedy: 'Read it in the folder of the run.',
  });

/** The code of a review, with the places where it hides something. */
function visibleCode(code: GateCode | null, gate: string): { readonly code: GateCode | null } {
  if (code === null) return { code };
  const hidden = code.hidden ?? maskAtGate({ code: code.diff }, { gate }).hidden;
  return viewAtGate({ code: { ...code, hidden } }, gate);
}

/** What a gate hides, for whoever asks: that they were shown it is recorded. */
const reveal: Route = {
  method: 'POST',
  path: `${AT}/reveal`,
  access: 'decide',
  handle: async (asked, { place, by }) => {
    const { run, sessionId } = gateParams(asked);
    const { artifactHash: hash } = await readJson(asked.request, SHOWN);
    const places = await place.write(async (devs) =>
      (await devs.run(run)).reveal({ sessionId, artifactHash: hash }, by),
    );
    return jsonResponse(revealedView({ places }));
  },
};

/** For the record, once for each time that a page begins to show it. */
const viewedRoute: Route = {
  method: 'POST',
  path: `${AT}/shown`,
  access: 'decide',
  handle: async (asked, { place, by }) => {
    const { run, sessionId } = gateParams(asked);
    const { artifactHash: hash } = await readJson(asked.request, SHOWN);
    await place.write(async (devs) => {
      const of = await devs.run(run);
      const gate = await gateNamed(of, sessionId);
      if (gate.artifactHash === hash) await of.recordViewed(gate, by);
    });
    return jsonResponse({});
  },
};

/** What a gate shows as it is, to be changed: with placeholders for what it hides, and not spelled out. */
const editable: Route = {
  method: 'GET',
  path: `${AT}/edit`,
  access: 'decide',
  handle: async (asked, { place }) => {
    const { run, sessionId } = gateParams(asked);
    const edit = async (of: ReadableRun) => {
      const gate = await gateNamed(of, sessionId);
      return gate.takes?.edit === undefined ? of.draft(gate) : { edit: gate.artifact };
    };
    return jsonResponse(withPlaceholders(await place.read((reader) => reader.view(run, edit))));
  },
};

const draftKey = (asked: RouteRequest, { by }: RouteContextFor<DraftKey['by']>, hash: string): DraftKey => ({
  threadId: gateParams(asked).run,
  sessionId: gateParams(asked).sessionId,
  artifactHash: hash,
  by,
});

/** @throws UiError for a gate that is not of the run in the path. */
async function assertOfRun(asked: RouteRequest, { place }: RouteContext): Promise<void> {
  const { run, sessionId } = gateParams(asked);
  await place.read((reader) => reader.view(run, (of) => gateNamed(of, sessionId)));
}

const draft: Route = {
  method: 'GET',
  path: `${AT}/drafts/:hash`,
  access: 'decide',
  handle: async (asked, deps) => {
    await assertOfRun(asked, deps);
    return jsonResponse({
      draft: (await deps.drafts?.read(draftKey(asked, deps, asked.params['hash'] ?? ''))) ?? null,
    });
  },
};

const keep: Route = {
  method: 'POST',
  path: `${AT}/draft`,
  access: 'decide',
  handle: async (asked, deps) => {
    const { drafts, place } = deps;
    const given = await readJson(asked.request, KEPT, MOST_OF_A_TEXT);
    const key = draftKey(asked, deps, given.artifactHash);
    if (drafts === undefined) return jsonResponse({ isKept: false });
    await assertOfRun(asked, deps);
    if (given.draft === null) {
      await drafts.remove(key);
      return jsonResponse({ isKept: false });
    }
    const openGates = async (): Promise<ReadonlySet<string>> =>
      place.read(async (reader) => new Set((await reader.gates()).map(({ sessionId }) => sessionId)));
    return jsonResponse({ isKept: await drafts.write(key, given.draft, openGates) });
  },
};

const askRoute: Route = {
  method: 'POST',
  path: `${AT}/question`,
  access: 'decide',
  handle: async (asked, { place, by, asking }) => {
    const { run, sessionId } = gateParams(asked);
    const { question, artifactHash: hash } = await readJson(asked.request, QUESTION);
    if (asking === undefined) throw nobodyToAsk();
    const exchange = await place.ask(await askingFor(asking, run), async (devs) =>
      (await devs.run(run)).ask({ sessionId, artifactHash: hash }, question, { by }),
    );
    return jsonResponse(viewAtGate({ exchange }, sessionId));
  },
};

const decide: Route = {
  method: 'POST',
  path: `${AT}/decision`,
  access: 'decide',
  handle: async (asked, deps) => {
    const { run, sessionId } = gateParams(asked);
    const {
      artifactHash: hash,
      withHidden,
      answer,
    } = await readJson(asked.request, DECISION, MOST_OF_A_TEXT);
    const gate = { sessionId, artifactHash: hash };
    const { by } = deps;
    const { status } = await deps.place.write(async (devs) => {
      const of = await devs.run(run);
      const { comments = [], ...rest } = answer;
      const quoted = comments.length === 0 ? {} : { comments: await commentsAsShown(comments, of, gate) };
      return of.decide(gate, { ...rest, ...quoted, withHidden, by, via: 'page' } as GateAnswer);
    });
    await deps.drafts?.remove(draftKey(asked, deps, hash));
    return jsonResponse({ status });
  },
};

/** Files are read only where the page has spelled out what it quotes. */
async function commentsAsShown(
  comments: readonly GateComment[],
  run: Run,
  { sessionId }: Pick<Gate, 'sessionId'>,
): Promise<readonly GateComment[]> {
  if (!comments.some(isSpelled)) return comments;
  return exactComments(comments, await run.quotableSections(await gateNamed(run, sessionId)), sessionId);
}

const nobodyToAsk = (): UiError =>
  new UiError(409, {
    code: 'ASK_UNSUPPORTED',
    message: 'This page has no agents to answer questions.',
    remedy: 'Ask in a terminal, with devs ask.',
  });

export const GATE_ROUTES: readonly Route[] = [
  ...[showRoute, code, codeSince, fileRoute, reveal, viewedRoute, editable, draft, keep, askRoute, decide],
];

/** Begins a character that was spelled out for the page. */
const SPELLED = '⟨U+';

/** Whether a comment quotes what the page has spelled out, and not what stands there. */
const isSpelled = ({ quote }: GateComment): boolean => quote.includes(SPELLED);

/**
 * Comments with the quotes as they stand in what is shown. A person quotes what they see, and what cannot be seen was spelled
 * out for them: then the whole lines are quoted. What is not found stays as it is, and is refused by the engine.
 */
export function exactComments(
  comments: readonly GateComment[],
  places: readonly QuotableSection[],
  gate: string,
): readonly GateComment[] {
  const { view } = maskAtGate({ places }, { gate });
  return comments.map((comment) => {
    const isPlace = ({ names }: QuotableSection): boolean => names.includes(comment.in);
    const texts = [places, view.places].flatMap((each) => each.find(isPlace)?.texts ?? []);
    const quote = isSpelled(comment) ? exactLines(comment, texts) : null;
    return quote === null ? comment : { ...comment, quote };
  });
}

function exactLines({ quote, line = 1 }: GateComment, texts: readonly string[]): string | null {
  const count = quote.split('\n').length;
  for (const text of texts) {
    const lines = text
      .split('\n')
      .slice(line - 1, line - 1 + count)
      .join('\n');
    if (visibleText(lines).includes(quote)) return lines;
  }
  return null;
}
