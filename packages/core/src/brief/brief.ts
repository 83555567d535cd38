import { z } from 'zod';
import { lateSchema } from '../config/lateSchema.ts';
import { scrub } from '../masking/scrub.ts';
import { sha256Hex } from '../values/canonicalJson.ts';

/** What a human asked for. */
export interface Brief {
  /** The first heading, or the first line. */
  readonly title: string;
  /** Markdown, without its secrets. */
  readonly text: string;
  /** SHA-256 (hex) of `text`. */
  readonly sha256: string;
  /** Places where there was one. */
  readonly redacted: number;
}

/** Longest brief, in characters: what a person writes, not a repository. */
const MAX_BRIEF_LENGTH = 256 * 1024;

const briefText = lateSchema(() =>
  z
    .string()
    .max(MAX_BRIEF_LENGTH, `The brief is longer than ${MAX_BRIEF_LENGTH} characters.`)
    .refine((text) => text.trim() !== '', 'The brief is empty.'),
);

/** @throws TypeError if the text is empty or longer than 256 Ki characters. */
export function parseBrief(markdown: string): Brief {
  const parsed = briefText().safeParse(markdown);
  if (!parsed.success) throw new TypeError(parsed.error.issues.map(({ message }) => message).join(' '));
  const { value: text, count: redacted } = scrub(parsed.data);
  return { title: briefTitle(text), text, sha256: sha256Hex(text), redacted };
}

/** An id for a run of this brief: the same brief gives the same id. `[a-z0-9-]` only. */
export function runIdOf({ title, sha256 }: Brief): string {
  const slug = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return `${slug || 'run'}-${sha256.slice(0, 6)}`;
}

function briefTitle(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  const heading = lines.find((line) => line.startsWith('# '));
  return (heading?.slice(2) ?? lines.find((line) => line !== '') ?? '').trim();
}
