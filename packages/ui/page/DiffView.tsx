import { type DiffFile, parseDiff } from './parseDiff.ts';

/** Lines of a file from which it is folded. */
const LARGE = 400;

/** Written by programs; nobody reads them line by line. */
const LOCKFILE = /(^|\/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|[\w-]+\.lock|go\.sum)$/;

const SIGNS = { added: '+', removed: '-', same: ' ', place: '' } as const;

/** A unified diff, file by file; long ones and lockfiles are folded. */
export function DiffView({ diff }: { readonly diff: string }) {
  return (
    <div class="diff">
      {parseDiff(diff).map((file) => (
        <FileDiff key={file.path} file={file} />
      ))}
    </div>
  );
}

function FileDiff({ file: { path, added, removed, notes, lines } }: { readonly file: DiffFile }) {
  const isFolded = lines.length > LARGE || LOCKFILE.test(path);
  return (
    <details open={!isFolded}>
      <summary>
        <code>{path}</code> <span class="added">+{added}</span> <span class="removed">-{removed}</span>
        {isFolded && <span class="quiet"> {lines.length} lines, folded</span>}
      </summary>
      {notes.map((note) => (
        <p key={note} class="quiet">
          {note}
        </p>
      ))}
      <table>
        <tbody>
          {lines.map(({ kind, text, before, after }, at) => (
            <tr key={at} class={kind}>
              <td class="at">{before}</td>
              <td class="at">{after}</td>
              <td class="sign">{SIGNS[kind]}</td>
              <td class="text">{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
