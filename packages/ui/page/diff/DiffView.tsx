import { useMemo } from 'preact/hooks';
import { type DiffFile, parseDiff } from './diffLines.ts';
import { FileDiff } from './FileDiff.tsx';
import { isSplit } from './isSplit.ts';

/** Lines of a diff up to which all of it is there at once, to be searched. */
const SMALL = 1_000;

/** A diff as git prints it, file by file. */
export function DiffView({ diff }: { readonly diff: string }) {
  const files = useMemo(() => parseDiff(diff), [diff]);
  return <DiffFiles files={files} />;
}

export function DiffFiles({ files }: { readonly files: readonly DiffFile[] }) {
  const isSmall = files.reduce((sum, { lines }) => sum + lines.length, 0) <= SMALL;
  return (
    <div class="diffs">
      <p class="dtools">
        <span class="grow" />
        <LayoutButton />
      </p>
      {files.map((file) => (
        <FileDiff key={file.path} file={file} isAtOnce={isSmall} />
      ))}
    </div>
  );
}

/** One column, or two. */
export const LayoutButton = () => (
  <button
    id="split"
    type="button"
    class="btn sm hide-t"
    aria-pressed={isSplit.value}
    onClick={() => {
      isSplit.value = !isSplit.value;
    }}
  >
    Side by side
  </button>
);
