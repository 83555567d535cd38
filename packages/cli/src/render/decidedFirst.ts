import type { ShownDocuments } from './renderArtifact.ts';

/** What a proposal rests on, and nobody decides about. */
const READ_LATER = ['RESEARCH', 'MARKET', 'COMPETITION', 'TECHNOLOGY', 'USERS', 'BASELINE', 'BRIEF'];

/** Documents as people read them at a gate: what is decided on, then reports, then their own brief. */
export function decidedFirst<Document extends ShownDocuments['documents'][number]>(
  documents: readonly Document[],
): readonly Document[] {
  const placeOf = ({ type }: Document): number => READ_LATER.indexOf(type);
  return documents.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** What the engine found about a design, in lines; none where it found nothing. */
export function findingsOn({ unknownFiles = [] }: ShownDocuments): readonly string[] {
  if (unknownFiles.length === 0) return [];
  return [
    'The design names files that are not in the repository. The agent was asked about them and kept the names:',
    ...unknownFiles.map((path) => `- ${path}`),
  ];
}
