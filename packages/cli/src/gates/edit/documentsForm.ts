import { isDeepStrictEqual } from 'node:util';
import type { DraftDocument } from '@devs/core';
import { formError, type GateForm, otherVersion } from './form.ts';

const HEADER =
  '<!-- Edit the text below the marked lines. A document that you delete here stays as it is. Saving does not approve anything. -->';

const COMMENT = /^<!--.*-->$/;

const MARKER = /^<!-- devs ([0-9a-f]+) ("(?:[^"\\]|\\.)*"|[^:"]+): (.*) -->$/;

/** Markdown, one document after the other, each below a marked line with its type and title. */
export function documentsForm(documents: readonly DraftDocument[], mark: string): GateForm {
  const sections = documents.map(
    ({ type, title, content }) =>
      `<!-- devs ${mark} ${spelled(type, /^[^:"\s]+$/)}: ${spelled(title, /^(?!["\s]).*\S$/)} -->\n\n${content}\n`,
  );
  const shown = new Map(documents.map((document) => [document.type, document]));
  return {
    text: [HEADER, ...sections].join('\n'),
    extension: '.md',
    comment: ['<!--', ' -->'],
    parse: (text) => {
      const read = sectionsIn(text, mark).map((document) =>
        withShownBlanks(document, shown.get(document.type)),
      );
      const changed = read.filter((document) => !isDeepStrictEqual(document, shown.get(document.type)));
      return changed.length === 0 ? null : { documents: changed };
    },
  };
}

function sectionsIn(text: string, mark: string): readonly DraftDocument[] {
  const sections: { readonly type: string; readonly title: string; readonly lines: string[] }[] = [];
  for (const [index, line] of text.replaceAll('\r\n', '\n').split('\n').entries()) {
    const marked = MARKER.exec(line);
    if (marked === null) {
      const current = sections.at(-1);
      if (current !== undefined) current.lines.push(line);
      else if (!COMMENT.test(line) && line.trim() !== '')
        throw formError(index + 1, 'this text is above the first marked line, so it belongs to no document.');
      continue;
    }
    const [, madeFrom, type = '', title = ''] = marked;
    if (madeFrom !== mark) throw otherVersion(index + 1);
    const name = unspelled(type, index + 1);
    if (sections.some((section) => section.type === name))
      throw formError(index + 1, `document ${name} is already defined above.`);
    sections.push({ type: name, title: unspelled(title, index + 1), lines: [] });
  }
  return sections.map(({ type, title, lines }) => ({ type, title, content: lines.join('\n') }));
}

/** Blank lines around a document are the form's and the editor's, not the author's. */
function withShownBlanks(read: DraftDocument, shown: DraftDocument | undefined): DraftDocument {
  const content = read.content.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
  const same =
    shown?.content
      .replaceAll('\r\n', '\n')
      .replace(/^(?:[^\S\n]*\n)+/, '')
      .trimEnd() === content;
  return { ...read, content: same ? shown.content : `${content}\n` };
}

function spelled(name: string, plain: RegExp): string {
  return plain.test(name) ? name : JSON.stringify(name);
}

function unspelled(name: string, line: number): string {
  if (!name.startsWith('"')) return name;
  try {
    return String(JSON.parse(name));
  } catch {
    throw formError(line, `${name} is not a valid quoted name.`);
  }
}
