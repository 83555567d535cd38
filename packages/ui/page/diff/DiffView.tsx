import { useMemo } from 'preact/hooks';
import { type DiffFile, parseDiff } from './diffLines.ts';
import { FileDiff } from './FileDiff.tsx';
import { isSplit } from './isSplit.ts';
import { linesAtOnce } from './linesAtOnce.ts';

/** A diff as git prints it, file by file. */
export function DiffView({ diff }: { readonly diff: string }) {
  const files = useMemo(() => parseDiff(diff), [diff]);
  return <DiffFiles files={files} />;
}

export function DiffFiles({ files }: { readonly files: readonly DiffFile[] }) {
  const atOnce = useMemo(() => linesAtOnce(files), [files]);
  return (
    <div class="diffs">
      <p class="dtools">
        <span class="grow" />
        <LayoutButton />
      </p>
      {files.map((file, at) => (
        <FileDiff key={file.path} file={file} atOnce={atOnce[at] ?? 'head'} />
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
