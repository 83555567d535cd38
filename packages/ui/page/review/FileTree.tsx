import type { DiffFile } from '../diff/diffLines.ts';
import { threadAt, useGate } from '../gate/gateOnPage.ts';
import { Icon } from '../icons.tsx';
import { Lines } from '../parts.tsx';
import { treeOf } from './reviewFiles.ts';

interface FileTreeOf {
  readonly files: readonly DiffFile[];
  readonly isViewed: (path: string) => boolean;
}

/** The files of a review, with ticks for viewed ones. */
export function FileTree({ files, isViewed }: FileTreeOf) {
  const viewed = files.filter(({ path }) => isViewed(path)).length;
  return (
    <nav class="tree" aria-label="Files">
      <p class="tree-h">
        <b>
          {viewed} of {files.length} viewed
        </b>
        <span class="grow" />
        <kbd class="hide-s">[</kbd>
        <kbd class="hide-s">]</kbd>
      </p>
      <progress class="meter" value={viewed} max={files.length} aria-label="Files viewed" />
      <ul>
        {treeOf(files).map(({ name, files: own }) => (
          <li key={`${name} ${own[0]?.path}`}>
            {name !== '' && (
              <span class="dir">
                <Icon name="folder" />
                {name}
              </span>
            )}
            <ul>
              {own.map((file) => (
                <TreeFile key={file.path} file={file} isViewed={isViewed(file.path)} />
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function TreeFile({ file, isViewed }: { readonly file: DiffFile; readonly isViewed: boolean }) {
  const { path, added, removed } = file;
  const gate = useGate();
  const said = gate === null ? null : threadAt(gate, path, () => true);
  const comments = said === null ? 0 : said.own.length + said.last.length;
  return (
    <li>
      <button
        type="button"
        class={`tf ${isViewed ? 'seen' : ''}`}
        title={path}
        onClick={() => showFile(path)}
      >
        <span class="tick" role="img" aria-label={isViewed ? 'viewed' : 'not viewed'}>
          {isViewed && <Icon name="check" />}
        </span>
        <span class="tn">{path.slice(path.lastIndexOf('/') + 1)}</span>
        {comments > 0 && (
          <span class="cc">
            <Icon name="comment" />
            {comments}
          </span>
        )}
        <Lines added={added} removed={removed} />
      </button>
    </li>
  );
}

/** @param line - Of the file as it is now; the file as a whole without one. */
export function showFile(path: string, line: number | null = null): void {
  const file = [...document.querySelectorAll<HTMLElement>('[data-file]')].find(
    ({ dataset }) => dataset['file'] === path,
  );
  const row =
    line === null ? null : file?.querySelector<HTMLElement>(`tr[data-line="${line}"]:not(.removed)`);
  file?.focus({ preventScroll: true });
  if (row) row.scrollIntoView({ block: 'center' });
  else file?.scrollIntoView({ block: 'start' });
}
