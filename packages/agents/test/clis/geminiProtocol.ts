import { type Body, listOf, type Protocol, sinceStage, TOKENS, type Words } from './Turn.ts';

/** `generateContent` of Gemini, whole or streamed. */
export const geminiProtocol: Protocol = {
  asks: (path) => /:(?:streamG|g)enerateContent$/.test(path),
  keyOf: (headers) => String(headers['x-goog-api-key']),
  read: ({ contents, tools }) => {
    const parts = sinceStage(
      listOf(contents).flatMap((content) => listOf(content['parts'])),
      ({ text }) => text,
    );
    return {
      asked: parts.map(({ text }) => text ?? '').join('\n'),
      tools: listOf(tools).flatMap((tool) =>
        listOf(tool['functionDeclarations']).map(({ name }) => String(name)),
      ),
      carriedOut: parts.filter((part) => 'functionResponse' in part).length,
    };
  },
  word: (say, { path, body }) => {
    const content = { role: 'model', parts: [partOf(say, wantsJson(body))] };
    const data = {
      candidates: [{ content, finishReason: 'STOP', index: 0 }],
      usageMetadata: USAGE,
    };
    return path.endsWith(':streamGenerateContent')
      ? { kind: 'events', events: [{ data }] }
      : { kind: 'json', value: data };
  },
};

const USAGE = {
  promptTokenCount: TOKENS.input,
  cachedContentTokenCount: TOKENS.cached,
  candidatesTokenCount: TOKENS.output,
  totalTokenCount: TOKENS.input + TOKENS.output,
} as const;

const wantsJson = ({ generationConfig }: Body): boolean =>
  (generationConfig as Body | undefined)?.['responseMimeType'] === 'application/json';

/** Before its work the CLI asks which model to use, and wants a score. */
function partOf(say: Words, json: boolean): Body {
  if (json) return { text: JSON.stringify({ complexity_reasoning: 'One line.', complexity_score: 10 }) };
  return say.kind === 'text' ? { text: say.text } : { functionCall: { name: say.name, args: say.input } };
}
